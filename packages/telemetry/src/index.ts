/// <reference types="fastify" preserve="true" />

export type { TelemetryOptions } from './options.ts'
export { default, openTelemetry } from './plugin.ts'
