import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { until } from '@concordat/test-harness/until'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const authorization = `Bearer ${kit.token({ scope: 'orders:write' })}`
const permissions = ['orders:write']
const Order = Type.Object({ id: Type.String() })

/** A service that accepts three requests at a time. The handlers of orders wait until they are released, except for operations of a batch. */
async function start(t: Test, overload: { maxInFlight: number }, options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  const held: (() => void)[] = []
  const ended: number[] = []
  let isHeld = true
  t.teardown(async () => {
    release()
    await app.close()
  })
  app.addHook('onResponse', async (_request, { statusCode }) => void ended.push(statusCode))
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers['x-invalid'] !== undefined) reply.header('x-echo', 'a\nb')
  })
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: { issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })], permissions },
    cors: { origin: ['https://app.example.com'] },
    rateLimiting: { overload: { minInFlight: overload.maxInFlight, ...overload, maxEventLoopDelayMs: 60_000 } },
    ...options
  })
  const work = () => new Promise<void>((resolve) => (isHeld ? held.push(resolve) : resolve()))
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', { config: { permissions }, schema: { response: { 200: Order } } }, async () => {
      await work()
      return { id: '1' }
    })
    v1.post(
      '/orders',
      {
        config: { permissions, idempotency: { key: 'required', waitSeconds: 30 } },
        schema: { body: Type.Object({}), response: { 201: Order } }
      },
      async (_request, reply) => {
        await work()
        return reply.created('/orders/1', { id: '1' })
      }
    )
    v1.batch('/order-batches', { paths: ['/orders'], config: { permissions, idempotency: 'required' } })
  })
  app.get('/health/live', { config: { public: true, directAccess: true } }, async () => ({ status: 'ok' }))
  await app.ready()

  function release(isOver = false) {
    isHeld = !isOver
    for (const resolve of held.splice(0)) resolve()
  }

  const get = (headers: Record<string, string> = {}, url = '/v1/orders/1') => app.inject({ url, headers: { authorization, ...headers } })
  const post = (key: string, url = '/v1/orders', payload: object = {}) =>
    app.inject({ method: 'POST', url, headers: { authorization, 'idempotency-key': key }, payload })

  async function holding(count: number) {
    const before = held.length
    const sent = Array.from({ length: count }, () => get())
    await until(() => held.length === before + count)
    return sent
  }

  return { app, held, ended, release, get, post, holding }
}

t.test('refuses before every other step, with id, security and CORS headers, in the language of the client [X1]', async (t) => {
  const { app, release, get, holding } = await start(t, { maxInFlight: 3 })
  const sent = await holding(3)
  const urls = ['/v1/orders/1', '/v1/nothing', '/v9/orders', '/nothing']
  for (const url of urls) {
    // Neither the path nor the format is checked.
    const refused = await get({ accept: 'image/png', 'accept-language': 'es', origin: 'https://app.example.com' }, url)
    t.match(
      refused,
      {
        statusCode: 503,
        headers: {
          'request-id': /.+/,
          'x-content-type-options': 'nosniff',
          'access-control-allow-origin': 'https://app.example.com',
          'cache-control': 'no-store',
          'retry-after': /^\d+$/
        }
      },
      url
    )
    t.match(refused.json(), {
      error: {
        code: 'SERVICE_OVERLOADED',
        message: 'El servicio está sobrecargado. Inténtelo de nuevo tras los segundos que indica Retry-After.'
      }
    })
    t.equal(refused.headers['ratelimit'], undefined)
  }
  t.equal((await get({}, '/health/live')).statusCode, 200)
  const { statusCode } = await app.inject({
    method: 'OPTIONS',
    url: '/v1/orders',
    headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' }
  })
  t.equal(statusCode, 204, 'a preflight request is not refused, because its page could not read why')
  release()
  for (const { statusCode } of await Promise.all(sent)) t.equal(statusCode, 200)
})

t.test('a refused request is a complete one: of HEAD too, and with the hooks after the response', async (t) => {
  const { app, ended, get, release, holding } = await start(t, { maxInFlight: 3 })
  const sent = await holding(3)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const connection = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => connection.destroy())
  for (const method of ['GET', 'HEAD', 'POST']) {
    const refused = request(`${address}/v1/orders/1`, { method, agent: connection, headers: { authorization } }).end(
      method === 'POST' ? '{}' : undefined
    )
    const [response] = (await once(refused, 'response')) as [IncomingMessage]
    const body = Buffer.concat(await response.toArray()).toString()
    t.equal(response.statusCode, 503, method)
    t.equal(response.headers.connection, 'keep-alive')
    t.equal(response.headers.vary, 'origin, accept-language')
    if (method === 'HEAD') t.equal(body, '')
    else t.equal(body.length, Number(response.headers['content-length']))
    t.equal(JSON.parse(body || '{"error":{"code":"SERVICE_OVERLOADED"}}').error.code, 'SERVICE_OVERLOADED')
  }
  const { statusCode, headers } = await get({ 'x-invalid': 'yes' })
  t.match(
    { statusCode, headers },
    { statusCode: 503, headers: { 'request-id': /.+/, 'x-echo': undefined } },
    'a header that Node.js rejects'
  )
  release()
  for (const { statusCode } of await Promise.all(sent)) t.equal(statusCode, 200)
  t.strictSame(ended, [503, 503, 503, 503, 200, 200, 200])
})

t.test('the operations of an accepted batch are accepted with it', async (t) => {
  const { held, release, post, holding, get } = await start(t, { maxInFlight: 2 })
  const sent = await holding(1)
  const operations = Array.from({ length: 5 }, (_, index) => ({ id: String(index), method: 'POST', path: '/v1/orders', body: {} }))
  const batch = post(randomUUID(), '/v1/order-batches', { operations })
  await until(() => held.length === 2)
  t.equal((await get()).statusCode, 503)
  release(true)
  t.strictSame(
    (await batch).json().data.map(({ status }: { status: number }) => status),
    operations.map(() => 201)
  )
  await Promise.all(sent)
})

t.test('retries that wait for the first request with their key do not use up the limit', async (t) => {
  const { held, release, post, get } = await start(t, { maxInFlight: 3 })
  const key = randomUUID()
  const first = post(key)
  await until(() => held.length === 1)
  const retries: ReturnType<typeof post>[] = []
  for (let count = 0; count < 10; count += 1) {
    retries.push(post(key))
    for (let turns = 0; turns < 10; turns += 1) await turn()
  }
  const others = [get(), get()]
  await until(() => held.length === 3)
  t.equal((await get()).statusCode, 503)
  release()
  const responses = await Promise.all([first, ...retries])
  t.strictSame(new Set(responses.map(({ statusCode }) => statusCode)), new Set([201]))
  t.equal(responses.filter(({ headers }) => headers['idempotency-replayed'] === 'true').length, 10)
  for (const { statusCode } of await Promise.all(others)) t.equal(statusCode, 200)
  release(true)
  t.equal((await get()).statusCode, 200)
})

t.test('requests are refused under overload unless it is switched off', async (t) => {
  for (const rateLimiting of [undefined, { addressLimit: false, clientLimit: false } as const]) {
    const { get, release, app, held } = await start(t, { maxInFlight: 3 }, { rateLimiting })
    const sent = Array.from({ length: 250 }, () => get())
    await until(() => held.length === 200)
    release(true)
    const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
    t.equal(statuses.filter((status) => status === 503).length, 50)
    await app.close()
  }
  const { get, release, held } = await start(t, { maxInFlight: 3 }, { rateLimiting: { overload: false } })
  const sent = Array.from({ length: 250 }, () => get())
  await until(() => held.length === 250)
  release(true)
  for (const { statusCode } of await Promise.all(sent)) t.equal(statusCode, 200)
})
