/// <reference types="fastify" preserve="true" />
export { configKeys } from './config-keys.ts'
export { linkCheck } from './link-check.ts'
export { requireKnownConfig } from './route-config.ts'
export { type RouteLint, requireWaivers, type Waivers } from './route-lints.ts'
