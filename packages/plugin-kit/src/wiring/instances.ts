import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { rootOf } from './wiring.ts'

/** The type of the HTTP servers of a Fastify instance. */
export type HttpServer = FastifyInstance['server']

/** A route, and the context in which it was registered. */
export interface NotedRoute {
  readonly method: HTTPMethods
  readonly url: string
  readonly context: FastifyInstance
  /** Whether it is the route of its prefix itself, which Fastify registers with and without a slash. */
  readonly isOfPrefix: boolean
}

interface NotedInstance {
  /** Undefined if the instance had routes before it was noted. */
  readonly routes: NotedRoute[] | undefined
  /** The first server, those of further addresses of `localhost`, and what is called for each. */
  readonly servers: HttpServer[]
  readonly attach: ((server: HttpServer) => void)[]
  isClosing: boolean
}

// Registered, so that two copies of this module note an instance once.
const notedKey: unique symbol = Symbol.for('concordat.notedInstance') as never
const listening = new Set<HttpServer>()

// Fastify announces each instance on this channel before its first route and its first hook.
subscribe('fastify.initialization', (message) => void notedInstance((message as { readonly fastify: FastifyInstance }).fastify))

// Node.js announces each server on this channel when it begins to listen. Fastify does not tell which servers it opens for further addresses.
subscribe('tracing:net.server.listen:asyncEnd', (message) => {
  const { server } = message as { readonly server: HttpServer }
  listening.add(server)
  server.once('close', () => listening.delete(server))
})

// From now on, if the instance was created before this module was loaded.
function notedInstance(context: FastifyInstance & { readonly [notedKey]?: NotedInstance }): NotedInstance {
  if (context[notedKey] !== undefined) return context[notedKey]
  const app = rootOf(context)
  // No route has this method, so the two texts are the same if there is none at all.
  const hasRoutes = app.printRoutes() !== app.printRoutes({ method: 'NONE' as HTTPMethods })
  const routes: NotedRoute[] | undefined = hasRoutes ? undefined : []
  const noted: NotedInstance = { routes, servers: [app.server], attach: [], isClosing: false }
  app.decorate(notedKey, noted)
  app.addHook('preClose', async () => void (noted.isClosing = true))
  // Fastify runs it when all its servers listen, before the last of them has accepted a connection.
  app.addHook('onListen', (done) => {
    addFurtherServers(app, noted)
    done()
  })
  const note = function (this: FastifyInstance, { method, url, routePath }: RouteOptions & { readonly routePath?: string }) {
    for (const one of [method].flat()) routes?.push({ method: one, url, context: this, isOfPrefix: routePath === '' })
  }
  // A context has the hooks that the contexts around it had when it was created.
  for (let each = context; ; each = Object.getPrototypeOf(each)) {
    each.addHook('onRoute', note)
    if (each === app) return noted
  }
}

function addFurtherServers(app: FastifyInstance, { servers, attach }: NotedInstance) {
  const first = addressOf(app.server.address())
  const addresses = app.addresses().map(addressOf)
  for (const server of listening) {
    const address = addressOf(server.address())
    if (address === first || !addresses.includes(address) || servers.includes(server)) continue
    servers.push(server)
    for (const one of attach) one(server)
  }
}

function addressOf(address: ReturnType<HttpServer['address']>) {
  return typeof address === 'object' && address !== null ? `${address.address} ${address.port}` : address
}

/** Returns the routes that are registered on the whole server at this moment. Throws an `Error` if this module was loaded after some of them. */
export function routesUntilNow(app: FastifyInstance): readonly NotedRoute[] {
  const { routes } = notedInstance(app)
  if (routes !== undefined) return routes
  throw new Error('plugin-kit: routes were added before the plugins were imported, so they are unknown. Import the plugins first.')
}

/**
 * Calls a function for every HTTP server of a Fastify instance: immediately for `app.server`, and for each server that Fastify opens for a further
 * address of `localhost`, when it listens.
 */
export function forEachServer(app: FastifyInstance, attach: (server: HttpServer) => void): void {
  const noted = notedInstance(app)
  noted.attach.push(attach)
  for (const server of noted.servers) attach(server)
}

/** Returns whether `app.close()` was called, also while earlier `preClose` hooks delay those that were added later. */
export function isClosing(app: FastifyInstance): boolean {
  return notedInstance(app).isClosing
}
