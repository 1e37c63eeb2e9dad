import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'

/** The route of a request, as steps see it. It is the same object for all requests of the route. */
export interface StepRoute {
  /** The config of the route, with its method and its URL; an empty object for a request without a route. */
  readonly config: FastifyContextConfig & { readonly method?: string | readonly string[] | undefined; readonly url?: string | undefined }
  /** The instance on which the route is registered. */
  readonly server: FastifyInstance
  /** Whether the request has no route. */
  readonly isUnknown: boolean
  /** The steps of each hook on this route, in the order in which the hooks were made. */
  readonly steps: (readonly unknown[] | undefined)[]
}

/** The key of the route of a request. */
export const routeKey: unique symbol = Symbol('concordat.stepRoute')
/** A request with its route. */
export type Carrier = FastifyRequest & { [routeKey]?: StepRoute }

const routes = new WeakMap<object, StepRoute>()

/** Returns the route of a request. Fastify creates `request.routeOptions` at each access, so it is read once for each request. */
export function stepRouteOf(request: FastifyRequest): StepRoute {
  const { [routeKey]: known } = request as Carrier
  // `reply.callNotFound` moves a request to another route.
  if (known !== undefined && known.isUnknown === request.is404) return known
  const route = routeOf(request)
  ;(request as Carrier)[routeKey] = route
  return route
}

function routeOf({ routeOptions: { config }, server, is404 }: FastifyRequest): StepRoute {
  const known = routes.get(config)
  if (known !== undefined) return known
  const route = { config, server, isUnknown: is404, steps: [] }
  routes.set(config, route)
  return route
}
