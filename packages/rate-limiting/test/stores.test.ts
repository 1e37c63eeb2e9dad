import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import rateLimiting, {
  memoryStore,
  type RateLimitingOptions,
  type RateLimitStore,
  redisStore,
  storeContract
} from '@concordat/rate-limiting'
import Fastify, { type FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'

const url = process.env['TEST_REDIS_URL']
const withRedis = url === undefined ? { skip: 'set TEST_REDIS_URL to the address of a Redis' } : {}
const keyPrefix = `test-rate-limit-${crypto.randomUUID()}:`
const minuteOf = (limit: number) => ({ limit, windowSeconds: 60 })

async function connected(t: Test) {
  const client = new Redis(url as string)
  t.teardown(async () => {
    const keys = await client.keys(`${keyPrefix}*`)
    if (keys.length > 0) await client.del(...keys)
    await client.quit()
  })
  return client
}

async function service(t: Test, options: RateLimitingOptions, lines: string[] = []): Promise<FastifyInstance> {
  const app = Fastify({ logger: { level: 'info', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(async () => app.close())
  await app.register(rateLimiting, options)
  app.get('/orders', async () => [])
  await app.ready()
  return app
}

async function ask(app: FastifyInstance) {
  const { statusCode, headers } = await app.inject('/orders')
  return [statusCode, headers['ratelimit']]
}

t.test('the store in memory', async (t) => {
  for (const { title, check } of storeContract) t.test(title, async () => check(memoryStore()))
})

t.test('the store in Redis', withRedis, async (t) => {
  const store = redisStore(await connected(t), { keyPrefix })
  for (const { title, check } of storeContract) t.test(title, async () => check(store))
})

t.test('two services share the count in Redis, and of n + m requests to both exactly n pass [X5]', withRedis, async (t) => {
  const addressLimit = minuteOf(20)
  const one = await service(t, { addressLimit, store: redisStore(await connected(t), { keyPrefix: `${keyPrefix}shared:` }) })
  const two = await service(t, { addressLimit, store: redisStore(await connected(t), { keyPrefix: `${keyPrefix}shared:` }) })
  const answers = await Promise.all(Array.from({ length: 30 }, async (_, index) => ask(index % 2 === 0 ? one : two)))
  t.strictSame(
    answers
      .filter(([status]) => status === 200)
      .map(([, left]) => Number(/r=(\d+)/.exec(String(left))?.[1]))
      .toSorted((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 19 - index)
  )
  t.equal(answers.filter(([status]) => status === 429).length, 10)
})

t.test('what is in Redis ends with its window, is named by the prefix, and heals when it has no end', withRedis, async (t) => {
  const client = await connected(t)
  const app = await service(t, { addressLimit: minuteOf(5), store: redisStore(client, { keyPrefix: `${keyPrefix}names:` }) })
  await ask(app)
  const key = `${keyPrefix}names:address:127.0.0.1`
  t.equal(await client.get(key), '1')
  const left = await client.pttl(key)
  t.ok(left > 0 && left <= 60_000)
  await client.set(key, 1000)
  t.strictSame(await ask(app), [200, '"address";r=4;t=60'])
})

t.test('a client of Redis that cannot be used is refused at boot', async (t) => {
  t.throws(() => redisStore({ sendCommand() {} } as never), {
    message: 'rate-limiting: redisStore got no client of ioredis. Give one, as new Redis(url).'
  })
  t.throws(() => redisStore({ defineCommand() {} }, { keyPrefix: '' }), {
    message: 'rate-limiting: keyPrefix is empty. Give a text that no other use of this Redis begins its keys with.'
  })
})

/** A store in memory that can be broken. */
function breakable() {
  const store = memoryStore(1000, () => 0)
  const whole: RateLimitStore['add'] = (...request) => store.add(...request)
  const state = { asked: 0, add: whole }
  const broken: RateLimitStore = {
    add(...request) {
      state.asked += 1
      return state.add(...request)
    }
  }
  return { state, broken, heal: () => (state.add = whole) }
}

t.test('while a store fails, each process counts for itself, asks again once a second, and says so twice', async (t) => {
  const { state, broken, heal } = breakable()
  const lines: string[] = []
  const app = await service(t, { addressLimit: minuteOf(3), store: broken }, lines)
  t.strictSame(await ask(app), [200, '"address";r=2;t=60'])
  state.add = () => {
    throw new Error('READONLY')
  }
  t.match(await Promise.all([ask(app), ask(app), ask(app), ask(app)]), [
    [200, /^"address";r=2;/],
    [200, /^"address";r=1;/],
    [200, /^"address";r=0;/],
    [429, /^"address";r=0;/]
  ])
  const { asked } = state
  t.equal((await ask(app))[0], 429)
  t.equal(state.asked, asked)
  await wait(1050)
  t.equal((await ask(app))[0], 429)
  t.equal(state.asked, asked + 1)
  heal()
  await wait(1050)
  t.match(await ask(app), [200, /^"address";r=1;t=\d+$/])
  const told = lines.map((line) => JSON.parse(line) as { level: number; msg: string }).filter(({ msg }) => msg.startsWith('rate-limiting'))
  t.match(told, [
    { level: 50, msg: 'rate-limiting: the store does not count requests', err: { message: 'READONLY' }, whenItFails: 'countLocally' },
    { level: 30, msg: 'rate-limiting: the store counts requests again' }
  ])
  t.equal(told.length, 2)
})

t.test('a store that is late counts as one that fails, and a late failure disturbs nobody', async (t) => {
  const { state, broken } = breakable()
  const app = await service(t, { addressLimit: minuteOf(3), store: broken, storeTimeoutMilliseconds: 20 })
  state.add = async () => wait(60).then(() => Promise.reject(new Error('late')))
  t.match(await ask(app), [200, /^"address";r=2;/])
  t.match(await ask(app), [200, /^"address";r=1;/])
  await wait(60)
})

t.test('a service can refuse with 503 instead, never 500', async (t) => {
  const { state, broken } = breakable()
  const app = await service(t, { store: broken, whenStoreFails: 'refuse' })
  app.log.level = 'silent'
  state.add = async () => Promise.reject(new Error('READONLY'))
  for (let i = 0; i < 2; i += 1) {
    const refused = await app.inject('/orders')
    t.match(refused, { statusCode: 503, headers: { 'retry-after': '1' } })
    t.match(refused.json(), { code: 'RATE_LIMIT_UNAVAILABLE', message: /cannot be counted/ })
  }
})

t.test('a Redis that is gone, or accepts and says nothing, delays one request and no other', async (t) => {
  const sockets: Socket[] = []
  const mute = createServer((socket) => void sockets.push(socket))
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const { port } = mute.address() as AddressInfo
  const client = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50 })
  client.on('error', () => {})
  t.teardown(() => {
    client.disconnect()
    for (const socket of sockets) socket.destroy()
    mute.close()
  })
  const app = await service(t, { addressLimit: minuteOf(9), store: redisStore(client), storeTimeoutMilliseconds: 50 })
  app.log.level = 'silent'
  for (const left of [8, 7, 6]) t.match(await ask(app), [200, new RegExp(`^"address";r=${left};`)])
  for (const socket of sockets) socket.destroy()
  mute.close()
  t.match(await ask(app), [200, /^"address";r=5;/])
})
