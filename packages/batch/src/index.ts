export { batchErrors } from './errors.ts'
export type { BatchKey, BatchOptions, BatchRoute } from './options.ts'
export { defaultForwardedHeaders, defaultOperationHeaders, defaultOutcomeHeaders } from './options.ts'
export { default, isBatch } from './plugin.ts'
