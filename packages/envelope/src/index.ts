export { envelopeErrors } from './errors.ts'
export type { EnvelopeOptions, EnvelopePart } from './options.ts'
export { default } from './plugin.ts'
