import type { FastifyInstance } from 'fastify'
import { rootOf } from './wiring.ts'

/** The type of the HTTP servers of a Fastify instance. */
export type HttpServer = FastifyInstance['server']

/**
 * Calls a function for every HTTP server of a Fastify instance: immediately for `app.server`, and, when the instance begins to listen, for
 * each server that Fastify opens for a further address of `localhost`.
 */
export function forEachServer(app: FastifyInstance, attach: (server: HttpServer) => void): void {
  attach(app.server)
  app.addHook('onListen', async () => {
    for (const server of furtherServers(app)) attach(server)
  })
}

/**
 * Returns the servers that Fastify has opened for the further addresses of `localhost`. Their addresses are in `app.addresses()`; without the
 * internal list of the servers, the array is empty.
 */
export function furtherServers(app: FastifyInstance): readonly HttpServer[] {
  return (internalOf(app, 'fastify.serverBindings') as readonly HttpServer[] | undefined) ?? []
}

/**
 * Returns what Fastify stores on the root instance under the symbol with this description, or undefined. Fastify does not export its symbols and
 * does not guarantee their names, so a caller must work without the value.
 */
export function internalOf(app: FastifyInstance, description: string): unknown {
  const root = rootOf(app)
  const symbol = Object.getOwnPropertySymbols(root).find((key) => key.description === description)
  return symbol === undefined ? undefined : Reflect.get(root, symbol)
}
