export type { BatchOptions } from './options.ts'
export { default } from './plugin.ts'
