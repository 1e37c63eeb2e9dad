/// <reference types="fastify" preserve="true" />

export { checkAtStart, onEachRoute, readEachRoute, reportBrokenRules } from './findings.ts'
export { type RouteLint, requireWaivers, type Waivers } from './waivers.ts'
