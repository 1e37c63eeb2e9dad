import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import rateLimiting, { credentialLimit, memoryRateLimitStore, type RateLimitingOptions } from '@concordat/rate-limiting'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import Fastify, { type FastifyContextConfig, type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'

const minuteOf = (limit: number) => ({ limit, windowSeconds: 60 })
const clock = stoppedTime(t)

async function service(options: RateLimitingOptions, config: FastifyContextConfig = {}, server: FastifyServerOptions = {}) {
  const app = Fastify(server) as FastifyInstance
  t.teardown(async () => app.close())
  await app.register(rateLimiting, { store: memoryRateLimitStore(), ...options })
  app.get('/orders', { config }, async () => [])
  app.get('/products', async () => [])
  return app
}

async function statuses(app: FastifyInstance, ...requests: (string | { method: 'HEAD' | 'OPTIONS' | 'POST'; url: string })[]) {
  const found: number[] = []
  for (const request of requests) found.push((await app.inject(request as string)).statusCode)
  return found
}

function post(url: string) {
  return { method: 'POST' as const, url }
}

async function forwarded(app: FastifyInstance, remoteAddress: string, field: string) {
  return (await app.inject({ url: '/orders', remoteAddress, headers: { 'x-forwarded-for': field } })).statusCode
}

async function remaining(app: FastifyInstance, request: object | string) {
  return (await app.inject(request as string)).headers['ratelimit']
}

t.test('accepts exactly n of n + m concurrent requests [X5]', async (t) => {
  const app = await service({ addressLimit: minuteOf(25) })
  await app.ready()
  const found = await Promise.all(Array.from({ length: 40 }, async () => (await app.inject('/orders')).statusCode))
  t.equal(found.filter((status) => status === 200).length, 25)
  t.equal(found.filter((status) => status === 429).length, 15)
})

t.test('begins a window with its first request, ends it after its length, and does not prolong it for rejected requests', async (t) => {
  const app = await service({ addressLimit: minuteOf(2) })
  const seen: unknown[] = []
  for (const second of [0, 10.5, 30, 59.9, 60, 61, 100, 119.999, 120]) {
    clock.now = 12_345 + second * 1000
    const { statusCode, headers } = await app.inject('/orders')
    seen.push([second, statusCode, headers['ratelimit'], headers['retry-after']])
  }
  t.strictSame(seen, [
    [0, 200, '"address";r=1;t=60', undefined],
    [10.5, 200, '"address";r=0;t=50', undefined],
    [30, 429, '"address";r=0;t=30', '30'],
    [59.9, 429, '"address";r=0;t=1', '1'],
    [60, 200, '"address";r=1;t=60', undefined],
    [61, 200, '"address";r=0;t=59', undefined],
    [100, 429, '"address";r=0;t=20', '20'],
    [119.999, 429, '"address";r=0;t=1', '1'],
    [120, 200, '"address";r=1;t=60', undefined]
  ])
})

t.test('counts unknown URLs, wrong methods, HEAD, OPTIONS and failures like any request', async (t) => {
  const app = await service({ addressLimit: minuteOf(100) })
  app.post('/broken', async () => {
    throw new Error('broken')
  })
  const requests = [
    { url: '/nothing' },
    { method: 'DELETE', url: '/orders' },
    { method: 'HEAD', url: '/orders' },
    { method: 'OPTIONS', url: '/orders' },
    { method: 'OPTIONS', url: '/orders', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } },
    { method: 'POST', url: '/broken', headers: { 'content-type': 'application/json' }, payload: '{"not json' },
    { method: 'POST', url: '/broken' }
  ]
  const seen: unknown[] = []
  for (const request of requests) seen.push(await remaining(app, request))
  t.strictSame(
    seen,
    requests.map((_, index) => `"address";r=${99 - index};t=60`)
  )
})

t.test('sends the remaining quota with a 304, a redirect and a stream [X5]', async (t) => {
  const app = await service({})
  app.get('/same', async (_request, reply) => reply.code(304).send())
  app.get('/moved', async (_request, reply) => reply.redirect('/same'))
  app.get('/stream', async (_request, reply) => reply.send(new Blob(['a']).stream()))
  for (const [url, status] of Object.entries({ '/same': 304, '/moved': 302, '/stream': 200 })) {
    const response = await app.inject(url)
    t.equal(response.statusCode, status)
    t.match(response.headers, { ratelimit: /^"address";r=\d+;t=60$/, 'ratelimit-policy': '"address";q=1200;w=60' }, url)
  }
})

t.test('does not count or reject requests to an exempt route', async (t) => {
  const app = await service({ addressLimit: minuteOf(1) }, { rateLimit: false })
  t.strictSame(await statuses(app, '/orders', '/orders', '/products', '/products', '/orders'), [200, 200, 200, 429, 200])
  const { headers } = await app.inject('/orders')
  t.strictSame([headers['ratelimit'], headers['ratelimit-policy']], [undefined, undefined])
})

t.test('applies a route limit in addition to the general one, and counts HEAD as GET', async (t) => {
  const app = await service({ addressLimit: minuteOf(5) }, { rateLimit: minuteOf(2) })
  let params: object = {}
  app.addHook('onError', async (_request, _reply, error) => {
    params = (error as unknown as ApiError).params
  })
  const first = await app.inject('/orders')
  t.equal(first.headers['ratelimit-policy'], '"address";q=5;w=60, "GET /orders";q=2;w=60')
  t.equal(first.headers['ratelimit'], '"address";r=4;t=60, "GET /orders";r=1;t=60')
  t.strictSame(
    await statuses(app, { method: 'HEAD', url: '/orders' }, '/orders', '/products', '/products', '/products'),
    [200, 429, 200, 200, 429]
  )
  const refused = await app.inject('/orders')
  t.match(refused, { statusCode: 429, headers: { ratelimit: '"address";r=0;t=60' } })
  t.match(refused.json(), { message: /^Too many requests were sent\./ })
  t.strictSame(params, { limit: 5, windowSeconds: 60 })
})

t.test('shares a count between routes of one group only', async (t) => {
  const shared = { ...minuteOf(2), group: 'exports' }
  const app = await service({}, { rateLimit: shared })
  app.post('/exports', { config: { rateLimit: shared } }, async () => ({}))
  app.post('/imports', { config: { rateLimit: minuteOf(2) } }, async () => ({}))
  t.strictSame(
    await statuses(app, '/orders', post('/exports'), post('/exports'), '/orders', post('/imports'), '/products'),
    [200, 200, 429, 429, 200, 200]
  )
  t.match((await app.inject(post('/imports'))).headers['ratelimit'], /, "POST \/imports";r=0;t=60$/)
})

t.test('names the limit of a route validly in a header, whatever its path', async (t) => {
  const app = await service({ addressLimit: false })
  app.route({
    method: ['PUT', 'POST'],
    url: '/año/:id(^\\d+"?$)',
    config: { rateLimit: minuteOf(9) },
    handler: async () => ({})
  })
  const response = await app.inject({ method: 'POST', url: '/a%C3%B1o/12' })
  t.equal(response.headers['ratelimit-policy'], '"POST,PUT /a%C3%B1o/:id(%5E%5Cd+%22?$)";q=9;w=60')
})

t.test('counts a request with a cost as several requests', async (t) => {
  const app = await service({ addressLimit: minuteOf(10) }, { rateLimit: { cost: 4 } })
  t.equal(await remaining(app, '/orders'), '"address";r=6;t=60')
  t.equal(await remaining(app, '/products'), '"address";r=5;t=60')
  t.strictSame(await statuses(app, '/orders', '/orders', '/products', '/products'), [200, 429, 200, 429])

  const own = await service({ addressLimit: false }, { rateLimit: { ...minuteOf(9), cost: 3 } })
  await own.ready()
  const found = await Promise.all(Array.from({ length: 5 }, async () => (await own.inject('/orders')).statusCode))
  t.strictSame(found.toSorted(), [200, 200, 200, 429, 429])
})

t.test('allows 20 attempts with credentials a minute from one address over all routes, before any check', async (t) => {
  let checked = 0
  const app = Fastify()
  await app.register(rateLimiting, { store: memoryRateLimitStore(), client: () => ({ key: `c${checked}` }) })
  app.addHook('onRequest', async () => void (checked += 1))
  const config = { rateLimit: credentialLimit }
  app.post('/tokens', { config }, async (_request, reply) => reply.code(401).send({}))
  app.post('/password-resets', { config }, async () => ({}))
  for (let i = 0; i < 10; i += 1) await statuses(app, { method: 'POST', url: '/tokens' }, { method: 'POST', url: '/password-resets' })
  t.equal(checked, 20)
  const refused = await app.inject({ method: 'POST', url: '/tokens' })
  t.match(refused, {
    statusCode: 429,
    headers: { 'retry-after': '60', 'ratelimit-policy': '"address";q=1200;w=60, "credentials";q=20;w=60' }
  })
  t.equal(checked, 20)
  t.equal((await app.inject({ method: 'POST', url: '/tokens', remoteAddress: '192.0.2.7' })).statusCode, 401)
})

t.test('counts by IPv4 address, by IPv6 network, and IPv4-mapped IPv6 as IPv4', async (t) => {
  const app = await service({ addressLimit: minuteOf(100) })
  const same = [
    ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '::FFFF:192.0.2.1'],
    ['192.0.2.2', '192.0.2.2:8080', '192.0.2.2:8081', '[::ffff:192.0.2.2]:1'],
    ['2001:db8:0:1::1', '2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:0db8:0000:0001::', '2001:db8:0:1::1'],
    ['2001:db8:0:2::1', '2001:db8:0:2::1', '[2001:db8:0:2::2]:443'],
    ['fe80::1%eth0', 'fe80::2'],
    ['not an address', '192.0.2.1:port', '[2001:db8::1', ''.padEnd(5000, 'x')]
  ]
  for (const addresses of same) {
    const seen: unknown[] = []
    for (const remoteAddress of addresses) seen.push(await remaining(app, { url: '/orders', remoteAddress }))
    t.strictSame(
      seen,
      addresses.map((_, index) => `"address";r=${99 - index};t=60`),
      addresses.join(' ').slice(0, 80)
    )
  }
})

t.test('keeps the counts of active addresses when there are more than 50,000', async (t) => {
  const store = memoryRateLimitStore()
  const app = await service({ store, addressLimit: minuteOf(2) })
  const countOthers = (kind: string, count: number) => {
    for (let index = 0; index < count; index += 1) void store.add(`${kind} ${index}`, 1, 2, 60_000)
  }
  const call = async (remoteAddress: string) => (await app.inject({ url: '/orders', remoteAddress })).statusCode
  t.strictSame([await call('192.0.2.1'), await call('192.0.2.1'), await call('192.0.2.1')], [200, 200, 429])
  for (let round = 0; round < 6; round += 1) {
    countOthers(`round ${round}`, 20_000)
    t.equal(await call('192.0.2.1'), 429)
  }
  countOthers('last', 50_000)
  t.equal(await call('192.0.2.1'), 200)
})

t.test('uses X-Forwarded-For only from a trusted proxy', async (t) => {
  const plain = await service({ addressLimit: minuteOf(2) })
  const behind = await service({ addressLimit: minuteOf(2) }, {}, { trustProxy: ['10.0.0.0/8'] })
  for (const app of [plain, behind]) {
    const found: number[] = []
    for (const forged of ['198.51.100.1', '198.51.100.2', '198.51.100.3']) found.push(await forwarded(app, '203.0.113.9', forged))
    t.strictSame(found, [200, 200, 429])
  }
  t.strictSame(
    [
      await forwarded(behind, '10.0.0.1', '198.51.100.1'),
      await forwarded(behind, '10.0.0.2', 'made-up, 198.51.100.1'),
      await forwarded(behind, '10.0.0.1', '198.51.100.2, 198.51.100.1'),
      await forwarded(behind, '10.0.0.1', '198.51.100.1, 198.51.100.2')
    ],
    [200, 200, 429, 200]
  )
})

t.test('counts routes wherever and whenever they are registered', async (t) => {
  const app = Fastify()
  app.get('/before', async () => [])
  app.get('/early', { config: { rateLimit: minuteOf(1) } }, async () => [])
  app.get('/exempt', { config: { rateLimit: false } }, async () => [])
  await app.register(rateLimiting, { store: memoryRateLimitStore(), addressLimit: minuteOf(50) })
  app.register(
    async (v1) => {
      v1.setNotFoundHandler({ preHandler: async () => {} }, async (_request, reply) => reply.code(404).send('own'))
      v1.get('/orders', { config: { rateLimit: { ...minuteOf(1), group: 'orders' } } }, async () => [])
      v1.register(async (inner) => inner.get('/deep', { config: { rateLimit: { ...minuteOf(1), group: 'orders' } } }, async () => []))
    },
    { prefix: '/v1' }
  )
  t.equal(await remaining(app, '/before'), '"address";r=49;t=60')
  t.equal(await remaining(app, '/early'), '"address";r=48;t=60, "GET /early";r=0;t=60')
  t.equal((await app.inject('/early')).statusCode, 429)
  t.equal(await remaining(app, '/exempt'), undefined)
  t.equal(await remaining(app, '/v1/orders'), '"address";r=46;t=60, "orders";r=0;t=60')
  t.equal((await app.inject('/v1/deep')).statusCode, 429)
  t.equal(await remaining(app, '/v1/nothing'), '"address";r=44;t=60')
})

t.test('counts only its own scope', async (t) => {
  const app = Fastify()
  app.get('/outside', async () => [])
  app.register(
    async (scope) => {
      await scope.register(rateLimiting, { addressLimit: minuteOf(1) })
      scope.get('/inside', async () => [])
    },
    { prefix: '/scope' }
  )
  t.strictSame(await statuses(app, '/scope/inside', '/scope/inside', '/outside', '/outside'), [200, 429, 200, 200])
})

t.test('accepts exactly n requests over real connections, kept alive or not', async (t) => {
  const app = await service({ addressLimit: minuteOf(10) })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const found = await Promise.all(
    Array.from({ length: 16 }, async (_, index) => {
      const response = await fetch(`${address}/orders`, { headers: index % 2 === 0 ? { connection: 'close' } : {} })
      await response.text()
      return response.status
    })
  )
  t.equal(found.filter((status) => status === 200).length, 10)
  t.equal(found.filter((status) => status === 429).length, 6)
})

t.test('accepts exactly n pipelined requests, each with its own count', async (t) => {
  const app = await service({ addressLimit: minuteOf(3) })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = net.connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(4) + 'GET /orders HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const responses = await text(socket)
  t.strictSame(responses.match(/(?<=HTTP\/1.1 )\d+|(?<=ratelimit: ).*/g), [
    '200',
    '"address";r=2;t=60',
    '200',
    '"address";r=1;t=60',
    '200',
    '"address";r=0;t=60',
    '429',
    '"address";r=0;t=60',
    '429',
    '"address";r=0;t=60'
  ])
})

t.test('counts all requests over a Unix socket, which has no address, together', async (t) => {
  const app = await service({ addressLimit: minuteOf(1) })
  const socketPath = join(tmpdir(), `rate-limiting-${process.pid}.sock`)
  await app.listen({ path: socketPath })
  const call = async () => {
    const [response] = (await once(http.get({ socketPath, path: '/orders', agent: false }), 'response')) as [http.IncomingMessage]
    response.resume()
    return response.statusCode
  }
  t.strictSame([await call(), await call()], [200, 429])
})

t.test('counts each stream as a request over HTTP/2', async (t) => {
  const app = Fastify({ http2: true }) as unknown as FastifyInstance
  await app.register(rateLimiting, { store: memoryRateLimitStore(), addressLimit: minuteOf(2) })
  app.get('/orders', async () => [])
  await app.listen({ host: '127.0.0.1', port: 0 })
  const session = http2.connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  const seen: unknown[] = []
  const streams: http2.ClientHttp2Stream[] = []
  for (let i = 0; i < 3; i += 1) {
    streams.push(session.request({ ':path': '/orders' }))
  }
  for (const stream of streams) {
    const [headers] = await once(stream, 'response')
    stream.resume()
    seen.push([headers[':status'], headers['ratelimit'], headers['retry-after']])
  }
  t.strictSame(seen, [
    [200, '"address";r=1;t=60', undefined],
    [200, '"address";r=0;t=60', undefined],
    [429, '"address";r=0;t=60', '60']
  ])
})
