import { serverOptions } from '@concordat/conventions'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { canary } from './check-response.ts'
import { addFailingHooks } from './failing-hooks.ts'
import { addForeignHandlers } from './foreign-handlers.ts'
import { addOddReplies } from './odd-replies.ts'
import { addOrdinaryRoutes } from './ordinary-routes.ts'
import { innerError } from './things.ts'
import { addThrowingRoutes } from './throwing-routes.ts'

/** A server of the fleet: what it has in addition to the preset. */
export interface Ship {
  /** The limits set with `serverOptions`. */
  readonly limits?: Parameters<typeof serverOptions>[0]
  /** Options of Fastify that add to, or replace, those of the preset. */
  readonly options?: (preset: FastifyServerOptions) => object
  readonly transport?: 'https' | 'http2' | 'http2-with-http1'
  readonly host?: string
  /** Changes that the service makes after it listens. */
  readonly tune?: (app: FastifyInstance) => void
  readonly routes: (app: FastifyInstance) => void
}

function allRoutes(app: FastifyInstance) {
  addOrdinaryRoutes(app)
  addThrowingRoutes(app)
  addFailingHooks(app)
  addOddReplies(app)
  addForeignHandlers(app)
}

const thrower = () => {
  throw innerError()
}

/** Every server that receives the battery, by name. */
export const fleet: Readonly<Record<string, Ship>> = {
  main: { routes: allRoutes },
  plain: { routes: addOrdinaryRoutes },
  closing: { routes: addOrdinaryRoutes },
  'request-id-throws': { routes: addOrdinaryRoutes, options: () => ({ genReqId: thrower }) },
  'query-parser-throws': {
    routes: addOrdinaryRoutes,
    options: ({ routerOptions }) => ({ routerOptions: { ...routerOptions, querystringParser: thrower } })
  },
  'rewrite-throws': { routes: addOrdinaryRoutes, options: () => ({ rewriteUrl: thrower }) },
  'rewrite-to-number': { routes: addOrdinaryRoutes, options: () => ({ rewriteUrl: () => 42 }) },
  'serializer-throws': {
    routes: addOrdinaryRoutes,
    options: () => ({ logger: { level: 'info', serializers: { req: thrower } } })
  },
  'constraint-fails': {
    routes: addOrdinaryRoutes,
    options: ({ routerOptions }) => ({ routerOptions: { ...routerOptions, constraints: { lot: failingConstraint } } })
  },
  'slow-headers': { routes: addOrdinaryRoutes, limits: { requestTimeoutSeconds: 0.2 } },
  'slow-body': { routes: addOrdinaryRoutes, limits: { requestTimeoutSeconds: 0.8 } },
  'idle-connections': { routes: addOrdinaryRoutes, options: () => ({ connectionTimeout: 250 }) },
  'few-requests': { routes: addOrdinaryRoutes, options: () => ({ maxRequestsPerSocket: 1 }) },
  'no-connections': { routes: addOrdinaryRoutes, tune: (app) => void (app.server.maxConnections = 0) },
  'two-addresses': { routes: addOrdinaryRoutes, host: 'localhost' },
  https: { routes: addOrdinaryRoutes, transport: 'https' },
  http2: { routes: allRoutes, transport: 'http2' },
  'http2-with-http1': { routes: addOrdinaryRoutes, transport: 'http2-with-http1' }
}

const failingConstraint = {
  name: 'lot',
  storage: () => {
    const handlers = new Map<unknown, unknown>()
    return { get: (key: unknown) => handlers.get(key) ?? null, set: (key: unknown, handler: unknown) => void handlers.set(key, handler) }
  },
  deriveConstraint: (_request: unknown, _context: unknown, done: (error: Error) => void) =>
    done(innerError({ statusCode: 404, code: canary })),
  validate: () => {},
  mustMatchWhenDerived: true
}

/** Returns the options of Fastify's constructor for one of these servers. */
export function constructorOptions({ limits, options, transport }: Ship, tls: object): object {
  const preset = serverOptions(limits)
  return {
    ...preset,
    logger: { level: 'info' },
    ...options?.(preset),
    ...(transport && { https: { ...preset.http, ...tls, allowHTTP1: transport === 'http2-with-http1' } }),
    ...(transport?.startsWith('http2') && { http2: true })
  }
}
