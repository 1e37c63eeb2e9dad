import { isRoot } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Settings } from '../options.ts'

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

/** Throws a `TypeError` for a store that is not shared, when other processes may exist. */
export function requireShared({ store, dangerouslyUnshared }: Settings): void {
  if (store.guarantees.shared || process.env['NODE_ENV'] !== 'production' || dangerouslyUnshared) return
  throw new TypeError(
    'idempotency: options.store must be shared by all processes in production, because a retry that reaches another process would be executed again. Set a shared store, or set options.dangerouslyUnshared if there is only one process.'
  )
}
