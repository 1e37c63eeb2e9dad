export { batchErrors } from './errors.ts'
export type { BatchOptions, BatchRoute } from './options.ts'
export { default, isBatch } from './plugin.ts'
