import rateLimiting, { type RateLimitingOptions } from '@concordat/rate-limiting'
import { until } from '@concordat/test-harness/until'
import Fastify, { type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'

// Requests one after another are never beyond the minimum in flight, so that only the time that they take can be a reason to refuse them.
const overload = { minInFlight: 2, maxInFlight: 40, maxEventLoopDelayMs: 20 }

function takeTime(ms: number) {
  const end = performance.now() + ms
  while (performance.now() < end) continue
}

async function heavy() {
  takeTime(30)
  return 'done'
}

async function service(t: Test, options: RateLimitingOptions = {}) {
  const app = Fastify({ trustProxy: true })
  t.teardown(() => app.close())
  await app.register(rateLimiting, {
    addressLimit: false,
    overload,
    client: ({ headers }) => (headers['client'] === undefined ? undefined : { key: String(headers['client']) }),
    clientLimit: false,
    ...options
  })
  app.get('/heavy', heavy)
  app.addContentTypeParser('text/heavy', { parseAs: 'string' }, (_request, _text, done) => {
    takeTime(30)
    done(null, 'read')
  })
  app.post('/heavy', async () => 'done')
  app.get('/quick', async () => 'quick')
  const held: (() => void)[] = []
  app.get('/held', () => new Promise<string>((resolve) => held.push(() => resolve('released'))))
  app.get('/exempt', { config: { rateLimit: false } }, heavy)
  app.get('/probe', { config: { directAccess: true } as object }, heavy)
  await app.ready()
  const statusOf = async (headers: Record<string, string>, request: InjectOptions = { url: '/quick' }) =>
    (await app.inject({ ...request, headers: { ...headers, ...request.headers } })).statusCode

  /** Sends heavy requests of a client, and a quick one of another after each, until one is refused. */
  async function untilRefused(headers: Record<string, string>, others: Record<string, string>, request: InjectOptions = { url: '/heavy' }) {
    await until(async () => {
      const [own, ...more] = await Promise.all([statusOf(headers, request), statusOf(headers, request)])
      t.equal(await statusOf(others), 200, 'the other is never refused')
      return own === 503 || more.includes(503)
    })
  }
  return { app, held, statusOf, untilRefused }
}

const post: InjectOptions = { method: 'POST', url: '/heavy', headers: { 'content-type': 'text/heavy' }, payload: 'x' }
const clients: readonly (readonly [
  name: string,
  own: Record<string, string>,
  same: Record<string, string>,
  other: Record<string, string>,
  request: InjectOptions
])[] = [
  ['a client whose handlers', { client: 'eva' }, { client: 'eva', 'x-forwarded-for': '192.0.2.7' }, { client: 'max' }, { url: '/heavy' }],
  ['a client whose bodies', { client: 'eva' }, { client: 'eva' }, {}, post],
  [
    'an address whose bodies',
    { 'x-forwarded-for': '192.0.2.1' },
    { 'x-forwarded-for': '::ffff:192.0.2.1' },
    { 'x-forwarded-for': '192.0.2.2' },
    post
  ],
  [
    'an IPv6 network whose bodies',
    { 'x-forwarded-for': '2001:db8::1' },
    { 'x-forwarded-for': '2001:db8::2' },
    { 'x-forwarded-for': '2001:db8:0:1::1' },
    post
  ]
]

for (const [name, own, same, other, request] of clients) {
  t.test(`${name} take the most time from the event loop has one request at a time, and more again later`, async (t) => {
    const { app, held, statusOf, untilRefused } = await service(t)
    await untilRefused(own, other, request)
    const first = statusOf(own, { url: '/held' })
    await until(async () => held.length === 1)
    const refused = await app.inject({ url: '/quick', headers: same })
    t.match(refused.json(), { statusCode: 503, code: 'SERVICE_OVERLOADED' })
    t.match(refused.headers, { 'retry-after': /^\d+$/, 'cache-control': 'no-store' })
    t.equal(await statusOf(other), 200)
    // Later also beside another.
    await until(async () => (await statusOf(same)) === 200)
    held[0]?.()
    t.equal(await first, 200)
  })
}

/** Sends requests until the event loop was late often enough that the limit in flight is at its minimum. */
async function untilLimited(
  statusOf: (headers: Record<string, string>, request?: InjectOptions) => Promise<number>,
  headers: Record<string, string>
) {
  let statuses: number[] = []
  await until(async () => {
    statuses = await Promise.all(Array.from({ length: 30 }, () => statusOf(headers, { url: '/heavy' })))
    return statuses.includes(503)
  })
}

t.test('a client that is alone is not refused, but the limit in flight falls', async (t) => {
  const { statusOf } = await service(t)
  await untilLimited(statusOf, { client: 'eva' })
  for (let sent = 0; sent < 5; sent += 1) t.equal(await statusOf({ client: 'eva' }, { url: '/heavy' }), 200)
})

t.test('a client whose requests are many, but take no longer than those of others, is not refused', async (t) => {
  const { statusOf } = await service(t)
  await statusOf({ client: 'max' }, { url: '/heavy' })
  await until(async () => {
    const own = await Promise.all(Array.from({ length: 30 }, () => statusOf({ client: 'gateway' }, { url: '/heavy' })))
    t.equal(await statusOf({ client: 'max' }, { url: '/heavy' }), 200)
    return own.includes(503)
  })
  for (let sent = 0; sent < 5; sent += 1) t.equal(await statusOf({ client: 'gateway' }), 200)
})

t.test('of several such clients each is refused', async (t) => {
  const { statusOf, untilRefused } = await service(t)
  await untilRefused({ client: 'eva' }, { client: 'max' })
  await untilRefused({ client: 'mallory' }, { client: 'max' })
  t.equal(await statusOf({ client: 'eve' }), 200)
})

t.test('exempt routes, health checks and overload: false neither measure nor refuse', async (t) => {
  const { statusOf, untilRefused } = await service(t)
  await untilRefused({ client: 'eva' }, { client: 'max' })
  for (const url of ['/exempt', '/probe']) t.equal(await statusOf({ client: 'eva' }, { url }), 200, url)
  const off = await service(t, { overload: false })
  for (let sent = 0; sent < 20; sent += 1) {
    t.equal(await off.statusOf({ client: 'eva' }, { url: '/heavy' }), 200)
    t.equal(await off.statusOf({ client: 'max' }), 200)
  }
})
