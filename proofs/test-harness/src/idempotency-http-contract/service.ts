import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import plugin, { type IdempotencyOptions, type IdempotencyStore } from '@concordat/idempotency'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'

/** A server, and the store for its keys. */
export interface ServiceUnderTest {
  /** A new server, with the other plugins that the routes need, such as the plugin for transactions. */
  readonly server: FastifyInstance
  readonly store: IdempotencyStore
}

/** Options of `idempotencyHttpContract`. */
export interface HttpContractOptions {
  /** Options of the plugin in addition to the store, such as `transaction`. @default {} */
  readonly options?: IdempotencyOptions | undefined
  /** The config of the routes, such as `{ transaction: true }`. @default {} */
  readonly routeConfig?: FastifyContextConfig | undefined
  /** Whether claims are made in transactions: without leases, and rolled back on failure. @default false */
  readonly isTransactional?: boolean | undefined
}

/** The settings of a service that a test creates. */
export interface ServiceInput {
  readonly options?: Omit<IdempotencyOptions, 'store'> | undefined
  readonly route?: Partial<Exclude<FastifyContextConfig['idempotency'], string | undefined>> | undefined
  /** Wraps the store before it is passed to the plugin. */
  readonly through?: ((store: IdempotencyStore) => IdempotencyStore) | undefined
  readonly handler?: RouteHandlerMethod | undefined
  /** Adds what the test needs, before the routes and after the plugin. */
  readonly prepare?: ((app: FastifyInstance) => unknown) | undefined
}

/** The part of a response that the suite checks. */
export interface ReceivedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  readonly code: unknown
}

/** The request to send. */
interface RequestInput {
  readonly key?: string | null | undefined
  readonly method?: 'POST' | 'PATCH' | 'GET' | 'PUT' | 'DELETE' | undefined
  readonly url?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined
  readonly client?: string | undefined
}

/** A running service with the routes `/orders` (keys required) and `/notes` (keys accepted). */
interface Service {
  readonly app: FastifyInstance
  /** Returns how often handlers ran. */
  readonly runs: () => number
  /** Sends a request, by default with the key of the test. */
  readonly send: (input?: RequestInput) => Promise<ReceivedResponse>
}

/** Creates services that use the store under test; by default, all services of a scene are called with the same key. */
export interface HttpScene {
  readonly key: string
  readonly serve: (input?: ServiceInput) => Promise<Service>
  readonly close: () => Promise<void>
}

export function httpSceneOf(create: () => ServiceUnderTest | Promise<ServiceUnderTest>, options: HttpContractOptions): HttpScene {
  const key = randomUUID()
  const apps: FastifyInstance[] = []
  // Injected requests do not keep the process running.
  const running = setInterval(() => {}, 1000)
  return {
    key,
    async serve({ options: own, route, through = (store: IdempotencyStore) => store, handler = createOrder, prepare } = {}) {
      const { server: app, store } = await create()
      apps.push(app)
      let runs = 0
      await app.register(plugin, {
        scope: ({ headers }) => String(headers['x-client'] ?? 'ada'),
        ...options.options,
        ...own,
        store: through(store)
      })
      const counted: RouteHandlerMethod = function (request, reply) {
        runs += 1
        return handler.call(this, request, reply)
      }
      await prepare?.(app)
      const keyed = (use: 'required' | 'accepted') => ({ config: { ...options.routeConfig, idempotency: { key: use, ...route } } })
      app.route({ method: ['POST', 'PATCH'], url: '/orders', ...keyed('required'), handler: counted })
      app.route({ method: ['POST'], url: '/notes', ...keyed('accepted'), handler: counted })
      await app.ready()
      return { app, runs: () => runs, send: (input) => send(app, key, input) }
    },
    async close() {
      clearInterval(running)
      for (const app of apps) await app.close()
    }
  }
}

/** The default handler: creates an order with 201, a Location, and an id that identifies the run. */
export async function createOrder(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const id = randomUUID()
  reply.code(201).header('location', `/orders/${id}`)
  return { id, got: request.body ?? null }
}

/** Returns a handler that waits until `letGo` is called, and a promise that resolves when the handler begins. */
export function heldHandler(): { readonly handler: RouteHandlerMethod; readonly begun: Promise<void>; readonly letGo: () => void } {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const handler: RouteHandlerMethod = async (request, reply) => {
    begun.resolve()
    await end.promise
    return createOrder(request, reply)
  }
  return { handler, begun: begun.promise, letGo: end.resolve }
}

async function send(app: FastifyInstance, ownKey: string, input: RequestInput = {}): Promise<ReceivedResponse> {
  const { key = ownKey, method = 'POST', url = '/orders', body = { item: 'tea', count: 2 }, headers = {}, client } = input
  const response = await app.inject({
    method,
    url,
    headers: { ...(key !== null && { 'idempotency-key': key }), ...(client !== undefined && { 'x-client': client }), ...headers },
    ...(method !== 'GET' && method !== 'DELETE' && { payload: body as object })
  })
  const parsed = response.headers['content-type']?.toString().includes('json') ? (JSON.parse(response.body) as { code?: unknown }) : {}
  return { status: response.statusCode, headers: response.headers, body: response.body, code: parsed.code }
}

/** Asserts that the retry got the response of the first request, marked as a replay. */
export function expectReplay(first: ReceivedResponse, retry: ReceivedResponse): void {
  strictEqual(retry.headers['idempotency-replayed'], 'true')
  strictEqual(first.headers['idempotency-replayed'], undefined)
  deepStrictEqual([retry.status, retry.body, retry.headers['location']], [first.status, first.body, first.headers['location']])
}

/** Asserts that the request was refused with this code, and that nothing was replayed. */
export function expectRefusal(received: ReceivedResponse, status: number, code: string): void {
  deepStrictEqual([received.status, received.code], [status, code])
  strictEqual(received.headers['idempotency-replayed'], undefined)
}

/** Retries while the response has this status, as a client does. */
export async function retryWhile(status: number, call: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  for (;;) {
    const received = await call()
    if (received.status !== status) return received
    await wait(10)
  }
}

/** Sends a request and disconnects before the response. */
export async function leave(app: FastifyInstance, key: string, begun: Promise<void>): Promise<void> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const closed = new Promise<void>((resolve) => {
    app.server.once('connection', (socket) => socket.once('close', () => resolve()))
  })
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const request = (await import('node:http')).request({ port, host: '127.0.0.1', path: '/orders', method: 'POST', headers, agent: false })
  request.on('error', () => {})
  request.end('{}')
  await begun
  request.destroy()
  await closed
}
