import { isRoot } from '@concordat/plugin-wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** Throws a `TypeError` where the plugin cannot work: registered twice, or after the compression of the whole service. */
export function requirePlace(app: FastifyInstance): void {
  if (app.hasRequestDecorator('idempotency')) throw new TypeError('idempotency: the plugin is already registered. Register it only once.')
  if (!app.hasPlugin('@fastify/compress') || !isRoot(app)) return
  throw new TypeError(
    'idempotency: @fastify/compress is already registered and would compress responses before they are stored. Register it after idempotency.'
  )
}

/** Throws a `TypeError` for a route whose responses are compressed before they are stored. */
export function requireUncompressed(route: RouteOptions & { readonly compress?: unknown }, name: string): void {
  if (route.compress === false) return
  throw new TypeError(
    `idempotency: @fastify/compress is registered before idempotency and would compress the responses of ${name} before they are stored. Set compress: false on the route.`
  )
}
