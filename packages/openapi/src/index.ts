export type { DescribedCollection, DescribedRoute, RouteConfig, RouteDescription, RouteSchema } from './described-route.ts'
export type { OpenapiDocument } from './document.ts'
export type { DescribedError, DescribedLimits, DescribedVersion, OpenapiOptions, OperationParts } from './options.ts'
export { default } from './plugin.ts'
