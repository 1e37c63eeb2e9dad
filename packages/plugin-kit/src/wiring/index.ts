/// <reference types="fastify" preserve="true" />

export { configKeys } from '../route-config/config-keys.ts'
export { requireKnownConfig } from '../route-config/route-config.ts'
export { earlierRoutes, requireNoEarlierRoutes } from './earlier-routes.ts'
export { forEachServer, type HttpServer, isClosing } from './instances.ts'
export { type PreparingClient, preparedQuery } from './prepared-query.ts'
export type { BypassingRequest, Contracts, Contributions, DescribedRoute, OperationParts, Route } from './published.ts'
export { waiveForService } from './service-waivers.ts'
export { inTenant, isTenant, requireTenant, tenantSchema } from './tenant.ts'
export type { RequestKey, RequestTransaction, Transactions } from './transactions.ts'
export { coverUnknownPaths } from './unknown-paths.ts'
export { contractLater, contractOf, contribute, contributions, isOutside, isRoot, publish } from './wiring.ts'
