/// <reference types="fastify" preserve="true" />

export { earlierRoutes, type RegisteredRoute, requireNoEarlierRoutes } from './earlier-routes.ts'
export { inTurn, serveInTurn } from './in-turn.ts'
export { isOutside } from './outside.ts'
export { forEachServer, furtherServers, type HttpServer, internalOf } from './servers.ts'
export type { RequestTransaction, Transactions } from './transactions.ts'
export { coverUnknownPaths } from './unknown-paths.ts'
export { type Contracts, contractOf, isRoot, publish, publishErrors, publishedErrors, type Route } from './wiring.ts'
