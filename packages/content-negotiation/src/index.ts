export { negotiationErrors, notAcceptable } from './errors.ts'
export type { ContentNegotiationOptions } from './options.ts'
export { default } from './plugin.ts'
export { mergeVary } from './vary.ts'
