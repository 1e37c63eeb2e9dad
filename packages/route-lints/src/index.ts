/// <reference types="fastify" preserve="true" />
export { type RouteLint, requireWaivers, type Waivers } from './route-lints.ts'
