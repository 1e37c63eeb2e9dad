import { type DatabasePlace, type EndOfTest, freshDatabase, type TestClient, testClient, type WebhookReceiver } from '@concordat/testing'
import type { FastifyInstance } from 'fastify'
import tap from 'tap'
import { buildApp } from '../src/app.ts'
import { type Settings, settings } from '../src/settings.ts'

// The first test prepares the database.
tap.setTimeout(120_000)

export const password = 'correct horse battery staple'

/** Sends a request and checks the response against its description. */
export type Call = TestClient['request']

/** Settings that replace those of a test service. */
interface Options extends Partial<Pick<Settings, 'logger' | 'publicUrl' | 'redisUrl'>> {
  readonly place?: DatabasePlace
  readonly rateLimit?: 'on' | 'off'
  readonly localWebhooks?: boolean
  readonly seedOrders?: number
}

const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
const secrets = { CURSOR_SECRETS: secret, TOKEN_SECRETS: secret, REFRESH_SECRETS: secret }

/** Returns the settings of a service on a database. `variables` are those of the environment. */
export function settingsOf(place: DatabasePlace, variables: Readonly<Record<string, string>> = {}): Settings {
  return { ...settings({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...secrets, ...variables }), ...place }
}

const start = (place: DatabasePlace) => buildApp(settingsOf(place, { SEED_ORDERS: '0' }))

/** Returns the place of a database for a test, with the sample data except orders: on the server of `TEST_DATABASE_URL`, otherwise on PGlite. */
export function freshPlace(t: EndOfTest): Promise<DatabasePlace> {
  return freshDatabase(t, { start })
}

/** Returns the same on PGlite, even when there is a server. */
export function freshFolder(t: EndOfTest): Promise<DatabasePlace> {
  return freshDatabase(t, { start, serverUrl: false })
}

/** Headers that most tests need: they change an order in any version. */
function usualHeaders(method: string, path: string): Record<string, string> {
  return /^(PATCH|DELETE) \/v\d\/orders\/[^/]+$/.test(`${method} ${path}`) ? { 'if-match': '*' } : {}
}

/**
 * Starts the whole service on a separate database, and returns a function that sends a request as staff. `as` returns such a function for
 * another user, and `anyone` sends requests without a token. `more` adds routes for a test.
 */
export async function startService(
  t: EndOfTest,
  options: Options = {},
  more: (app: FastifyInstance) => void = () => {}
): Promise<{ app: FastifyInstance; anyone: TestClient; call: Call; as: (username: string) => Promise<Call> }> {
  const { place = await freshPlace(t), rateLimit = 'off', localWebhooks = false, seedOrders = 30, ...others } = options
  const variables = { RATE_LIMIT: rateLimit, DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: String(localWebhooks), SEED_ORDERS: String(seedOrders) }
  const app = await buildApp({ ...settingsOf(place, variables), publicUrl: 'https://shop.example', ...others })
  const anyone = testClient(t, app)
  more(app)

  async function as(username: string): Promise<Call> {
    const { request } = await anyone.signIn('/v1/tokens', { username, password })
    return (method, path, body, headers) => request(method, path, body, { ...usualHeaders(method, path), ...headers })
  }
  return { app, anyone, call: await as('ops@example.com'), as }
}

/** Subscribes the user of `call` to events, and returns the subscription. A receiver then trusts its secret. */
export async function subscribe(
  call: Call,
  to: string | WebhookReceiver,
  eventTypes: readonly string[]
): Promise<{ readonly id: string; readonly secret: string }> {
  const { body } = await call('POST', '/v1/webhook-subscriptions', { url: typeof to === 'string' ? to : to.url, eventTypes })
  if (typeof to !== 'string') to.trust(body.data.secret)
  return body.data
}
