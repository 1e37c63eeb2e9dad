export { errorCatalogueErrors } from './errors.ts'
export type { ErrorCatalogueOptions } from './options.ts'
export { default } from './plugin.ts'
export { type ErrorCatalogueServerPart, errorCatalogueServerOptions, hasServerOptions } from './server-options.ts'
