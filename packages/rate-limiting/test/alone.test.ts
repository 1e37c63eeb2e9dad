import { contributions } from '@concordat/plugin-kit/wiring'
import rateLimiting, { credentialLimit, memoryRateLimitStore } from '@concordat/rate-limiting'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import Fastify from 'fastify'
import t from 'tap'

const twoAMinute = { limit: 2, windowSeconds: 60 }

t.test('returns 429 with Retry-After and the limits for a request over the limit, also in stock Fastify [X5] [X1]', async (t) => {
  stoppedTime(t)
  const app = Fastify()
  await app.register(rateLimiting, { addressLimit: twoAMinute, store: memoryRateLimitStore() })
  app.get('/orders', async () => [])
  const first = await app.inject('/orders')
  t.match(first, { statusCode: 200, headers: { 'ratelimit-policy': '"address";q=2;w=60', ratelimit: '"address";r=1;t=60' } })
  t.equal(first.headers['retry-after'], undefined)
  t.equal((await app.inject('/orders')).headers['ratelimit'], '"address";r=0;t=60')

  const refused = await app.inject('/orders')
  t.match(refused.headers, { 'ratelimit-policy': '"address";q=2;w=60', ratelimit: '"address";r=0;t=60', 'retry-after': '60' })
  t.strictSame(refused.json(), {
    statusCode: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    error: 'Too Many Requests',
    message: 'Too many requests were sent. Wait for the number of seconds in Retry-After.'
  })
  t.strictSame(
    Object.keys(refused.headers).filter((name) => name.startsWith('x-')),
    []
  )
})

t.test('applies a default limit without options', async (t) => {
  const app = Fastify()
  await app.register(rateLimiting)
  app.get('/orders', async () => [])
  const response = await app.inject('/orders')
  t.match(response.headers, { 'ratelimit-policy': '"address";q=1200;w=60', ratelimit: '"address";r=1199;t=60' })
})

t.test('passes the code, the params and the messages to the error handler of a service', async (t) => {
  const app = Fastify()
  app.setErrorHandler(async (error: Error & { params: object; messages: object }) => ({ params: error.params, messages: error.messages }))
  await app.register(rateLimiting, { addressLimit: { limit: 1, windowSeconds: 90 } })
  await app.inject('/')
  t.match((await app.inject('/')).json(), {
    params: { limit: 1, windowSeconds: 90 },
    messages: { es: /^Se enviaron demasiadas peticiones\./ }
  })
})

t.test('returns the limits of a route for its description [X5]', async (t) => {
  const app = Fastify()
  const read: unknown[] = []
  await app.register(rateLimiting, {
    client: () => undefined,
    tiers: { gold: { limit: 6000, windowSeconds: 60 } }
  })
  app.addHook('onRoute', (route) => void read.push(contributions(app, 'operations')[0]?.(route).limits))
  app.get('/health', { exposeHeadRoute: false, config: { rateLimit: false } }, async () => 'up')
  app.post('/tokens', { config: { rateLimit: credentialLimit } }, async () => ({}))
  app.get('/reports/:id', { exposeHeadRoute: false, config: { rateLimit: { cost: 10 } } }, async () => 'report')
  const address = { name: 'address', scope: 'address', limit: 1200, windowSeconds: 60 }
  const clients = [
    { name: 'client', scope: 'client', limit: 600, windowSeconds: 60 },
    { name: 'gold', scope: 'client', tier: 'gold', limit: 6000, windowSeconds: 60 }
  ]
  const credentials = { name: 'credentials', scope: 'address', limit: 20, windowSeconds: 60 }
  t.strictSame(read, [undefined, { cost: 1, policies: [address, credentials, ...clients] }, { cost: 10, policies: [address, ...clients] }])
})
