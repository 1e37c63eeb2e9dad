import { setTimeout as wait } from 'node:timers/promises'
import rateLimiting, { memoryRateLimitStore, type RateLimitingOptions, type RateLimitStore } from '@concordat/rate-limiting'
import { rateLimitStoreContract } from '@concordat/rate-limiting/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { elapsedTime } from '@concordat/test-harness/elapsed-time'
import { turns } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const minuteOf = (limit: number) => ({ limit, windowSeconds: 60 })

async function service(t: Test, options: RateLimitingOptions, lines: string[] = []): Promise<FastifyInstance> {
  const app = Fastify({ logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(async () => app.close())
  await app.register(rateLimiting, options)
  app.get('/orders', async () => [])
  await app.ready()
  return app
}

async function call(app: FastifyInstance) {
  const { statusCode, headers } = await app.inject('/orders')
  return [statusCode, headers['ratelimit']]
}

t.test('passes the store contract in memory', async (t) => rateLimitStoreContract(casesOf(t), () => memoryRateLimitStore()))

t.test('shares counts between two services with one store, and accepts exactly n of n + m requests [X5]', async (t) => {
  const addressLimit = minuteOf(20)
  const whole = memoryRateLimitStore()
  // Like a remote store, it resolves later and in any order.
  const store: RateLimitStore = { add: async (...request) => wait(Math.random() * 5).then(() => whole.add(...request)) }
  const [one, two] = [await service(t, { addressLimit, store }), await service(t, { addressLimit, store })]
  const responses = await Promise.all(Array.from({ length: 30 }, async (_, index) => call(index % 2 === 0 ? one : two)))
  t.strictSame(
    responses
      .filter(([status]) => status === 200)
      .map(([, left]) => Number(/r=(\d+)/.exec(String(left))?.[1]))
      .toSorted((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 19 - index)
  )
  t.equal(responses.filter(([status]) => status === 429).length, 10)
})

/** A store in memory that can be broken. */
function breakable() {
  const store = memoryRateLimitStore()
  const whole: RateLimitStore['add'] = (...request) => store.add(...request)
  const state = { requested: 0, add: whole }
  const broken: RateLimitStore = {
    add(...request) {
      state.requested += 1
      return state.add(...request)
    }
  }
  return { state, broken, heal: () => (state.add = whole) }
}

t.test('counts locally while a store fails, calls it again once a second, and logs the beginning and the end', async (t) => {
  const time = elapsedTime(t)
  const { state, broken, heal } = breakable()
  const lines: string[] = []
  const app = await service(t, { addressLimit: minuteOf(3), store: broken }, lines)
  t.strictSame(await call(app), [200, '"address";r=2;t=60'])
  state.add = () => {
    throw new Error('READONLY')
  }
  t.match(await Promise.all([call(app), call(app), call(app), call(app)]), [
    [200, /^"address";r=2;/],
    [200, /^"address";r=1;/],
    [200, /^"address";r=0;/],
    [429, /^"address";r=0;/]
  ])
  const { requested } = state
  t.equal((await call(app))[0], 429)
  t.equal(state.requested, requested)
  time.moveBy(1000)
  t.equal((await call(app))[0], 429)
  t.equal(state.requested, requested + 1)
  heal()
  time.moveBy(1000)
  t.match(await call(app), [200, /^"address";r=1;t=\d+$/])
  const received = lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ msg }) => msg.startsWith('rate-limiting'))
  const line = 'rate-limiting: the store fails to count requests, so each process counts its own'
  t.match(received, [{ level: 50, msg: line, err: { message: 'READONLY' } }])
  t.equal(received.length, 1, 'the second failure is a part of the same outage')
})

t.test('treats a timeout of the store as a failure, and ignores a late rejection', async (t) => {
  const { state, broken } = breakable()
  const app = await service(t, { addressLimit: minuteOf(3), store: broken, storeTimeoutSeconds: 0.02 })
  const late = Promise.withResolvers<never>()
  state.add = () => late.promise
  t.match(await call(app), [200, /^"address";r=2;/])
  t.match(await call(app), [200, /^"address";r=1;/])
  late.reject(new Error('late'))
  await turns()
})

t.test('returns 503 with whenStoreFails: refuse, never 500', async (t) => {
  const { state, broken } = breakable()
  const app = await service(t, { store: broken, whenStoreFails: 'refuse' })
  app.log.level = 'silent'
  state.add = async () => Promise.reject(new Error('READONLY'))
  for (let i = 0; i < 2; i += 1) {
    const refused = await app.inject('/orders')
    t.match(refused, { statusCode: 503, headers: { 'retry-after': '1' } })
    t.match(refused.json(), { code: 'RATE_LIMIT_UNAVAILABLE', message: /The rate limit cannot be checked/ })
  }
})

t.test('delays only one request a second when the store never resolves', async (t) => {
  const { state, broken } = breakable()
  const app = await service(t, { addressLimit: minuteOf(9), store: broken, storeTimeoutSeconds: 0.05 })
  app.log.level = 'silent'
  state.add = () => new Promise<never>(() => {})
  for (const left of [8, 7, 6]) t.match(await call(app), [200, new RegExp(`^"address";r=${left};`)])
  t.equal(state.requested, 1)
})
