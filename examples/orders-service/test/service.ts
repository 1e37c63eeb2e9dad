import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { buildApp } from '../src/app.ts'
import { describedResponses } from './described-responses.ts'
import { freshDatabase, settingsOf } from './fresh-database.ts'

/** The properties of a response that tests use. The tests check their values. */
interface ReceivedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
  readonly bytes: Buffer
}

type Call = (
  method: InjectOptions['method'] & string,
  path: string,
  body?: object,
  headers?: Record<string, string>
) => Promise<ReceivedResponse>

/** Headers that most tests need: they change an order in any version, and never send the same request twice. */
function usualHeaders(method: string, path: string): Record<string, string> {
  if (method === 'POST' && /^\/v\d\/orders(\/[^/]+\/cancellations)?$/.test(path)) return { 'idempotency-key': randomUUID() }
  return (method === 'PATCH' || method === 'DELETE') && /^\/v\d\/orders\/[^/]+$/.test(path) ? { 'if-match': '*' } : {}
}

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
export const password = 'correct horse battery staple'

/** Settings that replace those of a test service. */
interface Options {
  readonly databaseUrl?: string | undefined
  readonly dataFolder?: string
  readonly redisUrl?: string | undefined
  readonly publicUrl?: string | undefined
  readonly rateLimit?: 'on' | 'off'
  readonly localWebhooks?: boolean
  readonly seedOrders?: number
}

/**
 * Starts the whole service on a separate database, and returns a function that sends a request as staff. `as` returns such a function for
 * another user. `more` adds routes for a test.
 */
export async function startService(
  t: Test,
  options: Options = {},
  more: (app: FastifyInstance) => void = () => {}
): Promise<{ app: FastifyInstance; call: Call; as: (username: string) => Promise<Call> }> {
  const { rateLimit = 'off', localWebhooks = false, seedOrders = 30, ...others } = options
  const place = { ...(await freshDatabase(t)), ...others }
  const variables = {
    RATE_LIMIT: rateLimit,
    DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: String(localWebhooks),
    SEED_ORDERS: String(seedOrders),
    CURSOR_SECRETS: secret,
    TOKEN_SECRETS: secret,
    REFRESH_SECRETS: secret
  }
  const app = await buildApp({ ...settingsOf(place, variables), publicUrl: 'https://shop.example', ...others })
  t.teardown(() => app.close())
  more(app)
  checkResponses(app)

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<ReceivedResponse> {
    // Injected requests and a database in this process never leave time for timers, so the feed of revocations would become stale.
    await setImmediate()
    const response = await app.inject({ method: method as 'GET', url: path, headers, ...(body !== undefined && { payload: body }) })
    const isJson = response.body !== '' && String(response.headers['content-type']).startsWith('application/json')
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      body: isJson ? response.json() : undefined,
      bytes: response.rawPayload
    }
  }

  async function as(username: string): Promise<Call> {
    const { status, body } = await send('POST', '/v1/tokens', { username, password })
    if (status !== 200) throw new Error(`${username} cannot sign in: ${status} ${JSON.stringify(body)}`)
    const authorization = `Bearer ${body.data.accessToken}`
    return (method, path, sent, headers) => send(method, path, sent, { authorization, ...usualHeaders(method, path), ...headers })
  }

  return { app, call: await as('ops@example.com'), as }
}

/** Checks each response of an API path against its description from now on, and rejects when they differ. */
function checkResponses(app: FastifyInstance) {
  const inject = app.inject.bind(app) as (options: InjectOptions | string) => Promise<LightMyRequestResponse>
  const check = describedResponses(async (version) => (await inject(`/${version}/openapi`)).json())

  async function checked(options: string | (InjectOptions & { url: string })) {
    const { method = 'GET', url } = typeof options === 'string' ? { url: options } : options
    const received = await inject(options)
    const { statusCode: status, headers, rawPayload: body } = received
    await check({ method, url, status, headers, body })
    return received
  }
  app.inject = checked as typeof app.inject
}
