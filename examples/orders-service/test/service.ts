import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { buildApp } from '../src/app.ts'
import type { Configuration } from '../src/configuration.ts'
import { describedAnswers } from './described-answers.ts'
import { freshDatabase } from './fresh-database.ts'

/** The members of an answer that tests look at; what they say is for the test to prove. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
  readonly bytes: Buffer
}

type Ask = (method: InjectOptions['method'] & string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>

/** Most tests change an order in whatever version it is, and never send the same request twice. */
function usualHeaders(method: string, path: string): Record<string, string> {
  if (method === 'POST' && /^\/v\d\/orders(\/[^/]+\/cancellations)?$/.test(path)) return { 'idempotency-key': randomUUID() }
  return (method === 'PATCH' || method === 'DELETE') && /^\/v\d\/orders\/[^/]+$/.test(path) ? { 'if-match': '*' } : {}
}

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
export const password = 'correct horse battery staple'

/**
 * The whole service on a database of its own, and a function that sends it a request of the staff; `as` makes the one of another user.
 * `more` adds routes for a test.
 */
export async function startService(
  t: Test,
  options: Partial<Configuration> = {},
  more: (app: FastifyInstance) => void = () => {}
): Promise<{ app: FastifyInstance; ask: Ask; as: (username: string) => Promise<Ask> }> {
  const app = await buildApp({
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'https://shop.example',
    environment: 'test',
    logLevel: 'silent',
    cursorSecrets: [secret],
    tokenSecrets: [secret],
    refreshSecrets: [secret],
    rateLimit: 'off',
    localWebhooks: false,
    seedOrders: 30,
    ...(await freshDatabase(t)),
    ...options
  })
  t.teardown(() => app.close())
  more(app)
  checkAnswers(app)

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    // Requests that are injected, and a database in this process, leave no moment to a timer: the feed of revocations would grow stale.
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

  async function as(username: string): Promise<Ask> {
    const { body } = await send('POST', '/v1/tokens', { username, password })
    const authorization = `Bearer ${body.data.accessToken}`
    return (method, path, sent, headers) => send(method, path, sent, { authorization, ...usualHeaders(method, path), ...headers })
  }

  return { app, ask: await as('ops@example.com'), as }
}

/** From now on every answer of an API path is compared with its description; one that differs rejects. */
function checkAnswers(app: FastifyInstance) {
  const inject = app.inject.bind(app) as (options: InjectOptions | string) => Promise<LightMyRequestResponse>
  const check = describedAnswers(async (version) => (await inject(`/${version}/openapi`)).json())

  async function checked(options: string | (InjectOptions & { url: string })) {
    const { method = 'GET', url } = typeof options === 'string' ? { url: options } : options
    const answer = await inject(options)
    const { statusCode: status, headers, rawPayload: body } = answer
    await check({ method, url, status, headers, body })
    return answer
  }
  app.inject = checked as typeof app.inject
}
