export type { ConventionsOptions } from './options.ts'
export { default } from './plugin.ts'
export type { ServerOptions, ServerPart } from './server-options.ts'
export { serverOptions } from './server-options.ts'
