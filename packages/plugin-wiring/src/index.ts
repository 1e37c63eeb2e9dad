/// <reference types="fastify" preserve="true" />

export { earlierRoutes, requireNoEarlierRoutes } from './earlier-routes.ts'
export { inTurn, serveInTurn } from './in-turn.ts'
export { isOutside } from './outside.ts'
export type { BypassingRequest, Contracts, Contributions, DescribedRoute, OperationParts, Route } from './published.ts'
export { forEachServer, furtherServers, internalOf } from './servers.ts'
export type { RequestKey, RequestTransaction, Transactions } from './transactions.ts'
export { coverUnknownPaths } from './unknown-paths.ts'
export { contractLater, contractOf, contribute, contributions, isRoot, publish } from './wiring.ts'
