import type { RouteOptions } from 'fastify'

/** Throws a `TypeError` for a route that has no request body and declares one. */
export function requireNoBody(route: RouteOptions): void {
  const method = [route.method].flat().find((one) => one === 'GET' || one === 'HEAD')
  if (method === undefined || !route.schema?.body) return
  throw new TypeError(
    `http-methods: ${method} ${route.url} must not declare a body schema, because ${method} requests have no body. Use querystring instead, or POST.`
  )
}

/** Throws a `TypeError` for a route with a constraint whose value cannot be derived from a request. */
export function requireConstraints(route: RouteOptions, derives: (constraint: string) => boolean): void {
  const unknown = Object.keys(route.constraints ?? {}).find((constraint) => !derives(constraint))
  if (unknown === undefined) return
  throw new TypeError(
    `http-methods: ${[route.method].flat().join(', ')} ${route.url} has the constraint "${unknown}", whose value cannot be derived from a request. Set options.constraints to a function that returns it.`
  )
}
