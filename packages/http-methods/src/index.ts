export { removeBodyLast } from './head-response.ts'
export type { HttpMethodsOptions } from './options.ts'
export { default } from './plugin.ts'
