import { request } from 'node:http'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import rateLimiting, { memoryRateLimitStore, type RateLimitingOptions } from '@concordat/rate-limiting'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

const minuteOf = (limit: number) => ({ limit, windowSeconds: 60 })
const type = { 'content-type': 'application/octet-stream' }

function client({ headers: { client, tier } }: FastifyRequest) {
  return typeof client === 'string' && client !== '' ? { key: client, tier: typeof tier === 'string' ? tier : undefined } : undefined
}

async function service(t: Test, options: RateLimitingOptions = {}, http2 = false) {
  const app = (http2 ? Fastify({ http2 }) : Fastify()) as unknown as FastifyInstance
  t.teardown(() => app.close())
  await app.register(rateLimiting, {
    store: memoryRateLimitStore(),
    client,
    clientLimit: minuteOf(100),
    addressLimit: minuteOf(1000),
    ...options
  })
  let handled = 0
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes.length)
  app.addContentTypeParser('application/unread', (_request, _body, done) => done(null))
  const handler = async ({ body }: { readonly body: unknown }) => {
    handled += 1
    return { got: body }
  }
  app.post('/', { bodyLimit: 10_000_000 }, handler)
  app.post('/costly', { config: { rateLimit: { cost: 10 } }, bodyLimit: 10_000_000 }, handler)
  app.post('/attempts', { config: { rateLimit: { ...minuteOf(3), scope: 'address' } } }, handler)
  app.post('/raw', async ({ raw }) => ({ got: (await text(raw)).length }))
  app.get('/', async () => 'none')
  return { app, url: new URL(await app.listen({ port: 0, host: '127.0.0.1' })), handled: () => handled }
}

interface Sent {
  readonly path?: string
  readonly bytes: number
  readonly isChunked?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a body over a connection, with its length or in chunks. */
async function send(url: URL, { path = '/', bytes, isChunked = false, headers = {} }: Sent) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; remaining: string; policy: string; text: string }>()
  const length = isChunked ? {} : { 'content-length': String(bytes) }
  const sent = request(
    new URL(path, url),
    { method: 'POST', headers: { ...type, client: 'ada', ...length, ...headers } },
    async (response) => {
      const { ratelimit, 'ratelimit-policy': policy } = response.headers
      resolve({ status: response.statusCode as number, remaining: String(ratelimit), policy: String(policy), text: await text(response) })
    }
  )
  sent.on('error', reject)
  for (let left = bytes; left > 0; left -= 10_000) sent.write(Buffer.alloc(Math.min(left, 10_000)))
  sent.end()
  return promise
}

const remaining = (address: number, client?: number) =>
  [`"address";r=${address};t=60`, ...(client === undefined ? [] : [`"client";r=${client};t=60`])].join(', ')

// Bytes, and as how many requests they count.
const sizes = [
  [0, 1],
  [1, 1],
  [16_384, 1],
  [16_385, 2],
  [32_768, 2],
  [32_769, 3],
  [524_288, 32],
  [2_000_000, 33]
] as const

for (const isAsync of [false, true]) {
  for (const isChunked of [false, true]) {
    t.test(
      `a body counts as a request for each 16 KiB, ${isChunked ? 'in chunks' : 'by its length'}${isAsync ? ', with a store that all share' : ''} [X5]`,
      async (t) => {
        for (const [bytes, requests] of sizes) {
          const memory = memoryRateLimitStore()
          const store = isAsync ? { add: async (...counted: Parameters<typeof memory.add>) => memory.add(...counted) } : memory
          const { url } = await service(t, { store })
          const known = await send(url, { bytes, isChunked })
          t.match(
            known,
            { status: 200, remaining: remaining(1000 - requests, 100 - requests), policy: '"address";q=1000;w=60, "client";q=100;w=60' },
            `${bytes} bytes`
          )
          t.strictSame(JSON.parse(known.text).got, bytes)
          t.match(
            await send(url, { bytes, isChunked, headers: { client: '' } }),
            { status: 200, remaining: remaining(1000 - 2 * requests) },
            `${bytes} bytes, anonymous`
          )
          t.match(
            await send(url, { path: '/costly', bytes, isChunked, headers: { client: 'max' } }),
            { remaining: remaining(1000 - 3 * requests - 9, 91 - requests) },
            `${bytes} bytes, with a cost`
          )
        }
      }
    )

    t.test(
      `a body beyond the limit is a 429, ${isChunked ? 'in chunks' : 'by its length'}${isAsync ? ', with a store that all share' : ''}, and its handler does not run [X5]`,
      async (t) => {
        const memory = memoryRateLimitStore()
        const store = isAsync ? { add: async (...counted: Parameters<typeof memory.add>) => memory.add(...counted) } : memory
        const { url, handled } = await service(t, { store, clientLimit: minuteOf(10), tiers: { gold: minuteOf(90) } })
        t.match(await send(url, { bytes: 100_000, isChunked }), { status: 200 })
        t.match(await send(url, { bytes: 100_000, isChunked }), { status: 429, text: /RATE_LIMIT_EXCEEDED/ })
        t.match(await send(url, { bytes: 100, isChunked, headers: { client: 'max' } }), { status: 200 }, 'another client')
        t.match(await send(url, { bytes: 100_000, isChunked, headers: { client: 'eva', tier: 'gold' } }), {
          status: 200,
          remaining: /"gold";r=83;t=60$/
        })
        t.equal(handled(), 3)
      }
    )
  }
}

t.test('a body is never more requests than a window has, and a limit of a route counts requests only', async (t) => {
  const { url } = await service(t, { clientLimit: minuteOf(10) })
  t.match(await send(url, { bytes: 500_000 }), { status: 200, remaining: remaining(969, 0) })
  for (const left of [2, 1, 0])
    t.match(await send(url, { path: '/attempts', bytes: 40_000, headers: { client: '' } }), {
      status: 200,
      remaining: new RegExp(`"POST /attempts";r=${left};t=60$`)
    })
  t.match(await send(url, { path: '/attempts', bytes: 40_000, headers: { client: '' } }), { status: 429 })
})

t.test('without limits of all requests, a body in chunks is not counted', async (t) => {
  const { url } = await service(t, { clientLimit: false, addressLimit: false })
  t.match(await send(url, { bytes: 100_000, isChunked: true }), { status: 200, remaining: 'undefined' })
})

t.test('a body in chunks that another parser reads, or no one, does not keep the request', async (t) => {
  const { url } = await service(t)
  const unread = { 'content-type': 'application/unread' }
  t.match(await send(url, { path: '/raw', bytes: 100_000, isChunked: true, headers: unread }), { status: 200, text: '{"got":100000}' })
  t.match(await send(url, { path: '/raw', bytes: 10, isChunked: true, headers: unread }), { status: 200, text: '{"got":10}' })
  t.match(await send(url, { path: '/nothing', bytes: 100_000, isChunked: true }), { status: 404 })
})

t.test('a length that is not a number counts as none, and a body that breaks off is not a 429', async (t) => {
  const { app, url } = await service(t)
  const injected = await app.inject({ method: 'POST', url: '/', headers: { ...type, 'content-length': 'x' }, payload: Buffer.alloc(9) })
  t.match(injected.headers['ratelimit'], remaining(999))
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const sent = request(url, { method: 'POST', headers: type })
  sent.on('error', resolve)
  sent.write(Buffer.alloc(20_000), () => sent.destroy(new Error('broken off')))
  t.match(await promise, { message: 'broken off' })
  t.match(await send(url, { bytes: 10 }), { status: 200 })
})

t.test('a body counts over HTTP/2 too, whose streams need no length', async (t) => {
  const { url } = await service(t, {}, true)
  const session = connect(url)
  t.teardown(() => session.close())
  const post = async (bytes: number, headers: object) => {
    const stream = session.request({ ':path': '/', ':method': 'POST', ...type, client: 'ada', ...headers }, { endStream: false })
    const { promise, resolve } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
    stream.on('response', resolve)
    stream.end(Buffer.alloc(bytes))
    stream.resume()
    return (await promise)['ratelimit']
  }
  t.equal(await post(40_000, { 'content-length': '40000' }), remaining(997, 97))
  t.equal(await post(40_000, {}), remaining(994, 94))
  t.equal(await post(100, {}), remaining(993, 93))
  const stream = session.request({ ':path': '/', client: 'ada' })
  const { promise, resolve } = Promise.withResolvers<Readonly<Record<string, unknown>>>()
  stream.on('response', resolve)
  stream.resume()
  t.equal((await promise)['ratelimit'], remaining(992, 92))
})
