export type { DescribedRoute } from './described-route.ts'
export { lintIds } from './lints.ts'
export type { OpenapiOptions, OperationParts } from './options.ts'
export { default } from './plugin.ts'
