export { rateLimitingErrors } from './errors.ts'
export type { RateLimitingOptions } from './options.ts'
export { default } from './plugin.ts'
