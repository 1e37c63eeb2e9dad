export type { EnvelopeOptions } from './options.ts'
export { default } from './plugin.ts'
