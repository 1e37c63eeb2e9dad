/// <reference types="fastify" preserve="true" />
export {
  type Contracts,
  contractOf,
  type EnvelopeContract,
  isRoot,
  type PagesContract,
  publish,
  publishErrors,
  publishedErrors,
  type Route
} from './contracts.ts'
export { earlierRoutes, type RegisteredRoute, requireNoEarlierRoutes } from './earlier-routes.ts'
export { isOutside } from './outside.ts'
export { addReplaceableParser } from './replaceable-parser.ts'
