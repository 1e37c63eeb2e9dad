import rateLimiting, { type OverloadOptions } from '@concordat/rate-limiting'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

async function service(overload: OverloadOptions) {
  const app = Fastify()
  t.teardown(async () => app.close())
  await app.register(rateLimiting, { overload })
  app.get('/health', { config: { rateLimit: false } }, async () => 'up')
  app.get('/orders', async () => [])
  await app.ready()
  return app
}

/** The load is measured once a second. */
function overloaded(app: FastifyInstance) {
  return until(async () => (await app.inject('/orders')).statusCode === 503)
}

t.test('returns 503 with Retry-After above a threshold, also for unknown URLs, but not for exempt routes [X1]', async (t) => {
  const overloads = [{ maxRssBytes: 1 }, { maxHeapUsedBytes: 1, maxRssBytes: 1e15 }, { maxEventLoopUtilization: 1e-6 }]
  for (const app of await Promise.all(overloads.map(service))) {
    await overloaded(app)
    for (const url of ['/orders', '/nothing']) {
      const shed = await app.inject(url)
      t.match(shed, { statusCode: 503, headers: { 'retry-after': '10' } })
      t.strictSame(shed.json(), {
        statusCode: 503,
        code: 'SERVICE_OVERLOADED',
        error: 'Service Unavailable',
        message: 'The service is overloaded. Try again after the number of seconds in Retry-After.'
      })
      t.equal(shed.headers['ratelimit'], undefined)
    }
    t.equal((await app.inject('/health')).statusCode, 200)
  }
})

t.test('detects a delayed event loop', async (t) => {
  const app = await service({ maxEventLoopDelayMs: 1 })
  await until(async () => {
    const end = performance.now() + 50
    while (performance.now() < end) continue
    return (await app.inject('/orders')).statusCode === 503
  })
  t.equal((await app.inject('/orders')).statusCode, 503)
})

t.test('accepts all requests below the thresholds', async (t) => {
  const app = await service({ maxRssBytes: 1e15, maxHeapUsedBytes: 1e15, maxEventLoopDelayMs: 1e9, maxEventLoopUtilization: 1 })
  // This second service is measured after the first.
  await overloaded(await service({ maxRssBytes: 1 }))
  t.equal((await app.inject('/orders')).statusCode, 200)
})

t.test('sends Retry-After with the value of the option', async (t) => {
  const app = await service({ maxRssBytes: 1, retryAfterSeconds: 3 })
  await overloaded(app)
  t.equal((await app.inject('/orders')).headers['retry-after'], '3')
})
