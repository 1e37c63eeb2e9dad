import batch from '@concordat/batch'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import type { Test } from 'tap'

type BatchRoute = Parameters<FastifyInstance['batch']>[1]

/** Outcome of an operation, as a client receives it. */
export interface ReadOutcome {
  readonly id: string
  readonly status: number
  readonly headers?: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body?: any
}

export interface Input {
  /** What other plugins publish. */
  readonly published?: Partial<Contracts>
  readonly route?: Partial<BatchRoute>
  readonly server?: FastifyServerOptions
}

/** Starts plain Fastify with a batch at `/batches` for operations on `/things`, and the routes of the test. */
export async function serviceWith(
  t: Test,
  routes: (app: FastifyInstance) => void,
  { published = {}, route = {}, server = {} }: Input = {}
) {
  const app = Fastify({ handlerTimeout: 10_000, ...server })
  t.teardown(() => app.close())
  await app.register(batch)
  publish(app, published)
  routes(app)
  app.batch('/batches', { paths: ['/things'], ...route })
  await app.ready()

  async function send(body: unknown, more: Omit<InjectOptions, 'method' | 'url' | 'payload'> = {}) {
    const payload = JSON.stringify(body)
    const headers = { 'content-type': 'application/json', ...more.headers }
    const response = await app.inject({ method: 'POST', url: '/batches', ...more, headers, payload })
    return { status: response.statusCode, text: response.body, json: JSON.parse(response.body) as unknown }
  }

  async function outcomesOf(operations: readonly object[], more: object = {}) {
    const named = operations.map((operation, index) => ({ id: String(index), method: 'GET', ...operation }))
    return (await send({ operations: named, ...more })).json as ReadOutcome[]
  }

  return { app, send, outcomesOf }
}
