import { mock } from 'node:test'
import { type AuthenticationOptions, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type HealthOptions, serverOptions } from '@concordat/conventions'
import { turns } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

/** A store whose checks have the outcome that the test sets, and are counted. */
function storeOf() {
  const store = {
    outcome: 'available' as 'available' | 'busy' | 'away' | 'hanging',
    checks: 0,
    refusesWrites: (error: unknown) => (error as Error).message === 'disk full',
    async check() {
      store.checks += 1
      if (store.outcome === 'away') throw new Error('connect ECONNREFUSED db.internal:5432')
      if (store.outcome === 'hanging') await new Promise(() => {})
      return store.outcome
    }
  }
  return store
}

async function serviceOf(t: Test, health: HealthOptions, authentication: AuthenticationOptions | false = false) {
  const lines: { level: number; msg: string; store?: string; err?: { message: string } }[] = []
  const app = Fastify({
    ...serverOptions({ trustProxy: ['127.0.0.1'] }),
    logger: { level: 'info', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  })
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication,
    rateLimiting: { overload: false },
    health
  })
  await app.apiVersion(1, async (v1) => {
    v1.post('/orders', { config: { idempotency: 'off', public: true }, schema: { response: { 204: { type: 'null' } } } }, async () => {
      throw new Error('disk full')
    })
  })
  await app.ready()
  const get = async (path: string, headers = {}, remoteAddress = '127.0.0.1') => {
    const response = await app.inject({ url: path, headers, remoteAddress })
    return { status: response.statusCode, headers: response.headers, text: response.body, ...response.json() }
  }
  return { app, lines, get }
}

/** Lets the time pass until the next checks have run. */
async function pass(milliseconds = 2000) {
  mock.timers.tick(milliseconds)
  await turns()
}

const stores = (databaseIs: boolean, redisIs: boolean) => [
  { name: 'database', required: true, available: databaseIs },
  { name: 'redis', required: false, available: redisIs }
]

const start = async (health: unknown) =>
  Fastify(serverOptions()).register(conventions, {
    versions: { 1: { status: 'current' } },
    authentication: false,
    health: health as HealthOptions
  })

function withMockedTime(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
}

t.test('a process is ready while the stores that requests need are available, and names those that are not', async (t) => {
  withMockedTime(t)
  const [database, redis] = [storeOf(), storeOf()]
  const { get, lines } = await serviceOf(t, { required: { database }, optional: { redis } })
  t.match(await get('/health/ready'), { status: 200, data: { status: 'ok', stores: stores(true, true) } })
  redis.outcome = 'away'
  await pass()
  t.match(
    await get('/health/ready'),
    { status: 200, data: { status: 'ok', stores: stores(true, false) } },
    'requests are served without it'
  )
  database.outcome = 'away'
  await pass()
  const refused = await get('/health/ready')
  t.match(refused, {
    status: 503,
    headers: { 'retry-after': '2', 'cache-control': 'no-store' },
    error: {
      code: 'NOT_READY',
      message: 'A store that requests need is not available. Send requests to another process.',
      errors: [
        { field: 'database', message: 'This store is required, and not available.' },
        { field: 'redis', message: 'This store is not available. Requests are served without it.' }
      ]
    }
  })
  t.notMatch(refused.text, /ECONNREFUSED|internal:|5432/)
  t.match(await get('/health/ready', { 'accept-language': 'es' }), {
    error: { errors: [{ message: 'Este almacén es necesario y no está disponible.' }, {}] }
  })
  t.match(await get('/health/live'), { status: 200, data: { status: 'ok' } })
  for (let n = 0; n < 10; n += 1) await pass()
  database.outcome = 'available'
  await pass()
  t.match(await get('/health/ready'), { status: 200, data: { stores: stores(true, false) } })
  const logged = lines.filter(({ msg }) => msg.startsWith('health: ')).map(({ store, msg }) => `${store}: ${msg}`)
  t.strictSame(logged, [
    'redis: health: the store is not available',
    'database: health: the store is not available',
    'database: health: the store is available again'
  ])
})

t.test('names the stores only to clients on its machine, and to those with the permission health:read over HTTPS', async (t) => {
  withMockedTime(t)
  const database = storeOf()
  const trust = { issuer: 'https://tokens.example.com', audience: 'orders' }
  const { keys, headers } = testKit(trust)
  const permissions = ['health:read', 'orders:read']
  const { get } = await serviceOf(t, { required: { database } }, { issuers: [ownTokens({ ...trust, keys })], permissions })
  const elsewhere = '203.0.113.7'
  const token = (scope: string) => headers({ scope })
  const shown = { data: { stores: [{ name: 'database' }] } }
  const small = { status: 200, data: { status: 'ok', stores: undefined } }
  const forwarded = { 'x-forwarded-for': elsewhere, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' }
  t.match(await get('/health/ready'), shown)
  t.match(await get('/health/ready', {}, elsewhere), small)
  t.match(await get('/health/ready', token('health:read'), elsewhere), small, 'plain HTTP')
  t.match(await get('/health/ready', forwarded), small, 'a proxy on this machine')
  t.match(await get('/health/ready', { ...forwarded, ...token('orders:read') }), small)
  t.match(await get('/health/ready', { ...forwarded, authorization: 'Bearer wrong' }), small)
  t.match(await get('/health/ready', { ...forwarded, ...token('health:read') }), shown)
  database.outcome = 'away'
  await pass()
  t.match(await get('/health/ready', {}, elsewhere), { status: 503, error: { code: 'NOT_READY', errors: undefined } })
})

t.test('requests for readiness check nothing themselves, and no check starts while another runs', async (t) => {
  withMockedTime(t)
  const database = storeOf()
  const { get } = await serviceOf(t, { required: { database } })
  t.equal(database.checks, 1)
  for (let n = 0; n < 20; n += 1) await get('/health/ready')
  t.equal(database.checks, 1)
  database.outcome = 'hanging'
  await pass()
  t.equal(database.checks, 2)
  t.equal((await get('/health/ready')).status, 200)
  await pass(3000)
  t.equal((await get('/health/ready')).status, 200, 'a single timeout can be that of a busy process')
  await pass()
  await pass(3000)
  t.equal((await get('/health/ready')).status, 503)
  t.equal(database.checks, 2)
})

t.test('connections that are all in use change nothing, in either direction', async (t) => {
  withMockedTime(t)
  const database = storeOf()
  const { get } = await serviceOf(t, { required: { database } })
  database.outcome = 'busy'
  await pass()
  t.equal((await get('/health/ready')).status, 200)
  database.outcome = 'away'
  await pass()
  database.outcome = 'busy'
  await pass()
  t.equal((await get('/health/ready')).status, 503)
})

t.test('a write that the database refused counts immediately, and the next check that succeeds ends it', async (t) => {
  withMockedTime(t)
  const database = storeOf()
  const { app, get } = await serviceOf(t, { required: { database } })
  t.equal((await app.inject({ method: 'POST', url: '/v1/orders' })).statusCode, 500)
  t.equal((await get('/health/ready')).status, 503)
  await pass()
  t.equal((await get('/health/ready')).status, 200)
})

t.test('revocations that are out of date make a process not ready, because it refuses every token', async (t) => {
  withMockedTime(t)
  const trust = { issuer: 'https://tokens.example.com', audience: 'orders' }
  let staleMs = Number.POSITIVE_INFINITY
  const revocations = {
    isRevoked: () => false,
    get staleMs() {
      return staleMs
    },
    // The first check is after the start of the feed.
    start: async () => void (staleMs = 0)
  }
  const issuers = [ownTokens({ ...trust, keys: testKit(trust).keys })]
  const { get } = await serviceOf(t, {}, { issuers, permissions: ['orders:read'], revocations, maxStalenessSeconds: 1 })
  t.match(await get('/health/ready'), { status: 200, data: { stores: [{ name: 'revocations', required: true, available: true }] } })
  staleMs = 1001
  await pass()
  t.match(await get('/health/ready'), { status: 503, error: { errors: [{ field: 'revocations' }] } })
  staleMs = 1000
  await pass()
  t.equal((await get('/health/ready')).status, 200)
})

t.test('a process that stops is not ready while it still serves, and checks nothing after its end', async (t) => {
  withMockedTime(t)
  const database = storeOf()
  const { app, lines } = await serviceOf(t, { required: { database }, drainSeconds: 5 })
  const address = await app.listen({ port: 0 })
  t.equal((await fetch(`${address}/health/ready`)).status, 200)
  const closed = app.close()
  await turns()
  const refused = await fetch(`${address}/health/ready`)
  t.match([refused.status, await refused.json()], [503, { error: { code: 'PROCESS_STOPPING' } }])
  for (const name of ['request-id', 'x-content-type-options', 'retry-after']) t.ok(refused.headers.has(name), name)
  t.strictSame(
    lines.filter(({ level }) => level >= 50),
    [],
    'the ordinary end of a process is not an error'
  )
  t.equal((await fetch(`${address}/health/live`)).status, 200)
  await pass(5000)
  await closed
  const { checks } = database
  await pass(10_000)
  t.equal(database.checks, checks)
})

t.test('a service that is closed during a check starts no other', async (t) => {
  withMockedTime(t)
  const done = Promise.withResolvers<void>()
  let checks = 0
  const slow = {
    async check() {
      checks += 1
      if (checks > 1) await done.promise
    }
  }
  const { app } = await serviceOf(t, { required: { slow } })
  await pass()
  t.equal(checks, 2)
  const closed = app.close()
  await pass(0)
  await closed
  done.resolve()
  await turns()
  await pass(10_000)
  t.equal(checks, 2)
})

t.test('a check whose result is lost is repeated after half a minute', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  let later = 0
  const now = performance.now.bind(performance)
  mock.method(performance, 'now', () => now() + later)
  t.teardown(() => {
    mock.timers.reset()
    mock.restoreAll()
  })
  const database = storeOf()
  const { get } = await serviceOf(t, { required: { database } })
  database.outcome = 'hanging'
  for (let n = 0; n < 4; n += 1) {
    await pass()
    await pass(3000)
  }
  t.equal(database.checks, 2)
  t.equal((await get('/health/ready')).status, 503)
  database.outcome = 'available'
  later = 31_000
  await pass()
  t.equal((await get('/health/ready')).status, 200)
})

t.test('refuses invalid options at the start', async (t) => {
  await t.rejects(start({ required: { database: {} } }), {
    message: /options\.health\.required\.database must be an object with a function check/
  })
  await t.rejects(start({ optional: { redis: undefined } }), { message: /options\.health\.optional\.redis/ })
  await t.rejects(start({ drainSeconds: -1 }), { message: /options\.health\.drainSeconds/ })
  await t.rejects(start({ needed: {} }), { message: /needed/ })
})

t.test('no state of a health check is stored or tagged, so that none is unchanged', async (t) => {
  withMockedTime(t)
  const { get } = await serviceOf(t, { required: { database: storeOf() } })
  for (const path of ['/health/live', '/health/ready']) {
    const { status, headers } = await get(path)
    t.match(
      { status, headers },
      { status: 200, headers: { 'cache-control': 'no-store', etag: undefined, 'last-modified': undefined } },
      path
    )
    const again = await get(path, { 'if-none-match': '"a", W/"b"', 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() })
    t.equal(again.status, 200, path)
  }
})
