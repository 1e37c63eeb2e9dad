import type { ApiError } from '@concordat/plugin-kit/api-error'
import rateLimiting, { memoryRateLimitStore, type RateLimitingOptions } from '@concordat/rate-limiting'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyRequest } from 'fastify'
import t from 'tap'

stoppedTime(t)
type Client = NonNullable<ReturnType<NonNullable<RateLimitingOptions['client']>>>

const minuteOf = (limit: number) => ({ limit, windowSeconds: 60 })
const known = new WeakMap<FastifyRequest, Client>()
const clientOf = (request: FastifyRequest) => known.get(request)

// This hook represents any authentication: it is registered after the plugin, and rejects the client "nobody".
async function service(options: RateLimitingOptions, config: FastifyContextConfig = {}): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(rateLimiting, { client: clientOf, store: memoryRateLimitStore(), ...options })
  app.addHook('onRequest', async (request) => {
    const { client, tier } = request.headers
    if (client === 'nobody') throw Object.assign(new Error('Who are you?'), { statusCode: 401 })
    if (client !== undefined) known.set(request, { key: String(client), ...(tier === undefined ? {} : { tier: String(tier) }) })
  })
  app.get('/orders', { config }, async () => [])
  app.post('/orders', { config }, async () => ({}))
  return app
}

async function fields(app: FastifyInstance, client?: string, more: object = {}) {
  const { statusCode, headers } = await app.inject({ url: '/orders', ...more, headers: client === undefined ? {} : { client } })
  return [statusCode, headers['ratelimit']]
}

t.test('counts a client across addresses, in addition to each address [X5]', async (t) => {
  const app = await service({ clientLimit: minuteOf(2), addressLimit: minuteOf(100) })
  let params: object = {}
  app.addHook('onError', async (_request, _reply, error) => {
    params = (error as unknown as ApiError).params
  })
  t.strictSame(await fields(app, 'ada'), [200, '"address";r=99;t=60, "client";r=1;t=60'])
  t.strictSame(await fields(app, 'ada', { remoteAddress: '192.0.2.1' }), [200, '"address";r=99;t=60, "client";r=0;t=60'])
  t.strictSame(await fields(app, 'ada'), [429, '"address";r=98;t=60, "client";r=0;t=60'])
  t.strictSame(await fields(app, 'max'), [200, '"address";r=97;t=60, "client";r=1;t=60'])
  t.strictSame(await fields(app), [200, '"address";r=96;t=60'])
  const refused = await app.inject({ url: '/orders', headers: { client: 'ada' } })
  t.match(refused.headers, { 'retry-after': '60', 'ratelimit-policy': '"address";q=100;w=60, "client";q=2;w=60' })
  t.match(refused.json(), { code: 'RATE_LIMIT_EXCEEDED', message: /^Too many requests were sent\./ })
  t.strictSame(params, { limit: 2, windowSeconds: 60 })
})

t.test('counts rejected credentials by address only', async (t) => {
  const app = await service({ addressLimit: minuteOf(3) })
  t.strictSame(await fields(app, 'nobody'), [401, '"address";r=2;t=60'])
  t.strictSame(await fields(app, 'nobody'), [401, '"address";r=1;t=60'])
  t.strictSame(await fields(app, 'nobody'), [401, '"address";r=0;t=60'])
  t.strictSame(await fields(app, 'nobody'), [429, '"address";r=0;t=60'])
})

t.test('counts unknown URLs for a known client', async (t) => {
  const app = await service({ clientLimit: minuteOf(1) })
  t.match((await fields(app, 'ada', { url: '/nothing' }))[0], 404)
  t.match((await fields(app, 'ada', { url: '/nothing' }))[0], 429)
})

t.test('rejects a request over the client limit before its body is read', async (t) => {
  const app = await service({ clientLimit: minuteOf(1) })
  const post = {
    method: 'POST',
    url: '/orders',
    payload: '{"broken',
    headers: { client: 'ada', 'content-type': 'application/json' }
  } as const
  t.equal((await app.inject(post)).statusCode, 400)
  t.equal((await app.inject(post)).statusCode, 429)
})

t.test('applies the limit of a tier in place of the general one, and the general one for an unknown tier', async (t) => {
  const app = await service({ clientLimit: minuteOf(9), tiers: { gold: minuteOf(90) }, addressLimit: false })
  const call = async (tier: string) => (await app.inject({ url: '/orders', headers: { client: `of-${tier}`, tier } })).headers['ratelimit']
  t.equal(await call('gold'), '"gold";r=89;t=60')
  t.equal(await call('brass'), '"client";r=8;t=60')
  t.equal(await call('__proto__'), '"client";r=8;t=60')
  const without = await service({ clientLimit: false, addressLimit: false, tiers: { gold: minuteOf(90) } })
  t.equal((await without.inject({ url: '/orders', headers: { client: 'ada' } })).headers['ratelimit'], undefined)
})

t.test('counts a route limit per client, and per address for anonymous requests', async (t) => {
  const app = await service({ addressLimit: false }, { rateLimit: { ...minuteOf(2), group: 'orders' } })
  t.strictSame(await fields(app, 'ada'), [200, '"client";r=599;t=60, "orders";r=1;t=60'])
  t.strictSame(await fields(app, 'max'), [200, '"client";r=599;t=60, "orders";r=1;t=60'])
  t.strictSame(await fields(app), [200, '"orders";r=1;t=60'])
  t.strictSame(await fields(app, undefined, { remoteAddress: '192.0.2.1' }), [200, '"orders";r=1;t=60'])
  t.strictSame(await fields(app, 'address:127.0.0.1'), [200, '"client";r=599;t=60, "orders";r=1;t=60'])
})

t.test('does not call client for an exempt route', async (t) => {
  const app = Fastify()
  await app.register(rateLimiting, {
    client: () => {
      throw new Error('asked')
    }
  })
  app.get('/health', { config: { rateLimit: false } }, async () => 'up')
  app.get('/orders', async () => [])
  t.equal((await app.inject('/health')).statusCode, 200)
  t.match((await app.inject('/orders')).json(), { statusCode: 500, message: 'asked' })
})

t.test('a client with an empty key, for example from a header without a value, counts as anonymous', async (t) => {
  const app = Fastify()
  await app.register(rateLimiting, { addressLimit: false, client: ({ headers }) => ({ key: String(headers['x-account'] ?? '') }) })
  app.get('/', { config: { rateLimit: { limit: 2, windowSeconds: 60, scope: 'client' } } }, async () => 'x')
  const statuses: number[] = []
  for (const account of ['', '', '', 'ada']) statuses.push((await app.inject({ url: '/', headers: { 'x-account': account } })).statusCode)
  t.strictSame(statuses, [200, 200, 429, 200])
})

t.test('distinguishes keys of any length and rejects none', async (t) => {
  const app = await service({ addressLimit: false })
  const long = 'k'.repeat(5000)
  t.strictSame(await fields(app, `${long}1`), [200, '"client";r=599;t=60'])
  t.strictSame(await fields(app, `${long}2`), [200, '"client";r=599;t=60'])
  t.strictSame(await fields(app, `${long}2`), [200, '"client";r=598;t=60'])
  for (const response of [{}, { key: 7 }, null]) {
    const wrong = Fastify()
    await wrong.register(rateLimiting, { client: () => response as never })
    t.match((await wrong.inject('/')).json(), {
      statusCode: 500,
      message: /^rate-limiting: options\.client returned a value without a key/
    })
  }
})
