import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { publish } from '@concordat/plugin-kit/wiring'
import rateLimiting, { type RateLimitingOptions } from '@concordat/rate-limiting'
import { until } from '@concordat/test-harness/until'
import Fastify, { type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'

type Sent = Promise<LightMyRequestResponse>

/** A service whose handlers of `/held` respond when they are released. */
async function service(t: Test, overload?: RateLimitingOptions['overload']) {
  const app = Fastify({ trustProxy: true })
  const held: (() => void)[] = []
  t.teardown(async () => {
    release()
    await app.close()
  })
  await app.register(rateLimiting, { addressLimit: false, overload })
  const hold = () => new Promise<string>((resolve) => held.push(() => resolve('released')))
  app.get('/held', hold)
  app.get('/quick', async () => 'quick')
  app.get('/health', { config: { rateLimit: false } }, async () => 'up')
  app.get('/probe', { config: { directAccess: true } as object }, async () => 'up')
  await app.ready()

  function release() {
    for (const respond of held.splice(0)) respond()
  }

  /** Starts requests whose handlers are held. */
  async function holding(count: number, headers: InjectOptions['headers'] = {}): Promise<Sent[]> {
    const sent = Array.from({ length: count }, () => app.inject({ url: '/held', headers }))
    await turn()
    return sent
  }

  const statusOf = async (headers: InjectOptions['headers'] = {}, url = '/quick') => (await app.inject({ url, headers })).statusCode
  return { app, held, release, holding, statusOf }
}

const from = (address: string, authorization?: string) => ({
  'x-forwarded-for': address,
  ...(authorization !== undefined && { authorization })
})
const fixed = (limit: number) => ({ minInFlight: limit, maxInFlight: limit, maxEventLoopDelayMs: 60_000 })

async function statusesOf(sent: readonly Sent[]) {
  return (await Promise.all(sent)).map(({ statusCode }) => statusCode)
}

/** Delays the event loop until the condition holds. */
async function whileBusy(condition: () => Promise<boolean>) {
  await until(async () => {
    const end = performance.now() + 30
    while (performance.now() < end) continue
    return condition()
  })
}

t.test(
  'refuses requests beyond those in flight with 503, no-store and a Retry-After that varies, also for unknown URLs [X1]',
  async (t) => {
    const { app, release, holding, statusOf } = await service(t, fixed(5))
    const first = await holding(5)
    for (const url of ['/quick', '/nothing']) {
      const { statusCode, headers, ...refused } = await app.inject(url)
      t.equal(statusCode, 503)
      t.equal(headers['cache-control'], 'no-store')
      t.strictSame(refused.json(), {
        statusCode: 503,
        code: 'SERVICE_OVERLOADED',
        error: 'Service Unavailable',
        message: 'The service is overloaded. Try again after the number of seconds in Retry-After.'
      })
    }
    const refused = await Promise.all(Array.from({ length: 60 }, () => app.inject('/quick')))
    const waits = new Set(refused.map(({ headers }) => Number(headers['retry-after'])))
    t.ok(waits.size > 1 && [...waits].every((seconds) => Number.isInteger(seconds) && seconds >= 1 && seconds <= 30), [...waits].join())
    t.equal(await statusOf({}, '/health'), 200)
    t.equal(await statusOf({}, '/probe'), 200)
    release()
    t.strictSame(await statusesOf(first), [200, 200, 200, 200, 200])
    t.equal(await statusOf(), 200)
  }
)

t.test('a refused request is not counted, and its handler does not run', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let [counted, handled] = [0, 0]
  const store = { add: () => ({ count: (counted += 1), resetMs: 1000 }) }
  await app.register(rateLimiting, { store, overload: fixed(1) })
  const held = Promise.withResolvers<string>()
  app.get('/', async () => {
    handled += 1
    return held.promise
  })
  await app.ready()
  const first = app.inject('/')
  await until(async () => handled === 1)
  t.equal((await app.inject('/')).statusCode, 503)
  t.strictSame([counted, handled], [1, 1])
  held.resolve('')
  t.equal((await first).statusCode, 200)
})

t.test('when there are too many requests, those of the address with the most are refused first', async (t) => {
  const { release, holding, statusOf } = await service(t, fixed(12))
  const busy = await holding(12, from('192.0.2.1'))
  t.equal(await statusOf(from('192.0.2.1')), 503)
  const other = await holding(6, from('192.0.2.2'))
  t.equal(await statusOf(from('192.0.2.2')), 503, 'has an equal share now')
  t.equal(await statusOf(from('192.0.2.3')), 200)
  // The addresses of one IPv6 network are one address.
  const network = await holding(4, from('2001:db8::1'))
  t.equal(await statusOf(from('2001:db8::2')), 503)
  t.equal(await statusOf(from('192.0.2.1')), 503)
  release()
  for (const sent of [busy, other, network]) t.strictSame(new Set(await statusesOf(sent)), new Set([200]))
})

t.test(
  'of one address, requests of the client with the most are refused first, and invented credentials do not crowd out others',
  async (t) => {
    const { holding, statusOf } = await service(t, fixed(12))
    await holding(12, from('192.0.2.1', 'Bearer one'))
    t.equal(await statusOf(from('192.0.2.1', 'Bearer one')), 503)
    t.equal(await statusOf(from('192.0.2.1', 'Bearer two')), 200)
    for (let index = 0; index < 30; index += 1) await holding(1, from('192.0.2.1', `Bearer invented ${index}`))
    t.equal(await statusOf(from('192.0.2.1', 'Bearer another')), 503)
    t.equal(await statusOf(from('192.0.2.2')), 200)
  }
)

t.test('never accepts more than twice as many requests as the limit, from any number of addresses', async (t) => {
  const { held, holding } = await service(t, fixed(10))
  for (let index = 0; index < 300; index += 1) await holding(10, from(`192.0.${index >> 8}.${index & 255}`))
  t.ok(held.length >= 10 && held.length <= 20, `${held.length} in flight`)
})

t.test('responses that are being sent are not in flight, however slowly they are read', async (t) => {
  const app = Fastify()
  const streams: PassThrough[] = []
  t.teardown(async () => {
    for (const stream of streams) stream.destroy()
    await app.close()
  })
  await app.register(rateLimiting, { addressLimit: false, overload: fixed(3) })
  app.get('/events', async () => {
    const stream = new PassThrough()
    stream.write('first')
    streams.push(stream)
    return stream
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  for (let count = 0; count < 9; count += 1) t.equal((await fetch(`${address}/events`)).status, 200)
  t.equal(streams.length, 9)
})

t.test('a client that disconnects leaves its request in flight until the handler has ended', async (t) => {
  const { app, held, release, statusOf } = await service(t, fixed(1))
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const gone = new AbortController()
  const aborted = fetch(`${address}/held`, { signal: gone.signal }).catch((error: Error) => error.name)
  await until(async () => held.length === 1)
  gone.abort()
  t.equal(await aborted, 'AbortError')
  t.equal(await statusOf(), 503)
  release()
  await until(async () => (await statusOf()) === 200)
})

t.test('accepts fewer requests at a time while the event loop is late, and more again afterwards', async (t) => {
  const { release, holding, statusOf } = await service(t, { minInFlight: 2, maxInFlight: 40, maxEventLoopDelayMs: 20 })
  const sent = await holding(20)
  t.equal(await statusOf(), 200)
  await whileBusy(async () => (await statusOf()) === 503)
  release()
  t.strictSame(new Set(await statusesOf(sent)), new Set([200]), 'what was accepted is finished')
  await until(async () => {
    const again = await holding(20)
    release()
    return (await statusesOf(again)).every((status) => status === 200)
  })
})

t.test('accepts as many requests as before when the event loop is late because of refusals', async (t) => {
  const { held, release, holding, statusOf } = await service(t, { minInFlight: 2, maxInFlight: 30, maxEventLoopDelayMs: 10 })
  await holding(30)
  let rounds = 0
  await whileBusy(async () => {
    const statuses = await Promise.all(Array.from({ length: 300 }, () => statusOf()))
    t.strictSame(new Set(statuses), new Set([503]))
    return (rounds += 1) > 10
  })
  release()
  await turn()
  await holding(30)
  t.equal(held.length, 30)
})

t.test('accepts the minimum of requests however late the event loop is', async (t) => {
  const { holding, statusOf } = await service(t, { minInFlight: 4, maxInFlight: 40, maxEventLoopDelayMs: 20 })
  await holding(3)
  let turns = 0
  await whileBusy(async () => {
    t.equal(await statusOf(), 200)
    return (turns += 1) > 10
  })
})

t.test('accepts more requests than at first when they wait for something else than the process', async (t) => {
  const { held, holding } = await service(t, { maxInFlight: 230, maxEventLoopDelayMs: 10_000 })
  await holding(300)
  t.equal(held.length, 200)
  await until(async () => {
    await holding(1)
    return held.length === 230
  })
  await holding(10)
  t.equal(held.length, 230)
})

t.test('a request whose handler takes longer than ten seconds no longer counts, and is finished', async (t) => {
  const { release, holding, statusOf } = await service(t, fixed(1))
  const sent = await holding(1)
  t.equal(await statusOf(), 503)
  const now = performance.now.bind(performance)
  t.teardown(() => Object.assign(performance, { now }))
  performance.now = () => now() + 10_000
  await until(async () => (await statusOf()) === 200)
  release()
  t.strictSame(await statusesOf(sent), [200])
})

t.test('refuses nothing with overload: false', async (t) => {
  const { holding, statusOf } = await service(t, false)
  await holding(1500)
  t.equal(await statusOf(), 200)
})

t.test('a request whose route waits for connections is refused, and those of other routes are not', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let isLocked = false
  await app.register(rateLimiting)
  publish(app, {
    transactions: {
      transactionOf: () => undefined,
      currentTransaction: () => undefined,
      isCongested: ({ url }) => isLocked && url === '/locked'
    }
  })
  for (const url of ['/locked', '/other']) app.get(url, async () => 'ok')
  await app.ready()
  const statuses = async () => Promise.all(['/locked', '/other'].map(async (url) => (await app.inject(url)).statusCode))
  t.strictSame(await statuses(), [200, 200])
  isLocked = true
  t.strictSame(await statuses(), [503, 200])
  isLocked = false
  t.strictSame(await statuses(), [200, 200])
})
