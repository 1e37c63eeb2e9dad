/// <reference types="fastify" preserve="true" />

export { checkAtStart, onEachRoute, readEachRoute, reportBrokenRules, serviceWaiversOf, waiveAtStart } from './findings.ts'
export {
  hasEnded,
  isServiceWaiver,
  type RouteLint,
  reasonsOf,
  requireWaivers,
  type ServiceWaiver,
  type ServiceWaivers,
  serviceWaivers,
  type Waivers
} from './waivers.ts'
