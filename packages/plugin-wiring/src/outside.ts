import type { FastifyInstance } from 'fastify'
import type { Route } from './published.ts'
import { contractOf } from './wiring.ts'

/** Returns whether a route, which is registered on `app`, is an ordinary Fastify route that does not belong to the API. */
export function isOutside(app: FastifyInstance, route: Route): boolean {
  return contractOf(app, 'belongsToApi')?.(app, route) === false
}
