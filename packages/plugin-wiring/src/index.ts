/// <reference types="fastify" preserve="true" />

export type { BypassingRequest, Contracts, Contributions, DescribedRoute, OperationParts, Route } from './contracts.ts'
export { earlierRoutes, requireNoEarlierRoutes } from './earlier-routes.ts'
export { inTurn, serveInTurn } from './in-turn.ts'
export { isOutside } from './outside.ts'
export { forEachServer, furtherServers, internalOf } from './servers.ts'
export type { RequestKey, RequestTransaction, Transactions } from './transactions.ts'
export { coverUnknownPaths } from './unknown-paths.ts'
export { contractLater, contractOf, contribute, contributions, isRoot, publish } from './wiring.ts'
