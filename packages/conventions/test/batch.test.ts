import { readFileSync } from 'node:fs'
import { request as call } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { createApiKey, memoryApiKeyStore, ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const Order = Type.Object({ id: Type.String(), item: Type.Optional(Type.String()) })
const authentication = {
  issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
  permissions: ['orders:read', 'orders:create']
}
const all = { authorization: `Bearer ${kit.token({ scope: 'orders:read orders:create' })}` }
const limit = (most: number) => ({ limit: most, windowSeconds: 3600 })
const get = (path: string) => ({ method: 'GET', path })

interface ReadOutcome {
  readonly id: string
  readonly status: number
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

const needs = ({ authentication }: Partial<ConventionsOptions>, permission: string) =>
  authentication === false ? {} : { permissions: [permission] }

async function start(t: Test, options: Partial<ConventionsOptions> = {}, server: Parameters<typeof serverOptions>[0] = {}) {
  const app = Fastify(serverOptions(server))
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication,
    ...options
  })
  let orders = 0
  const slow = { begun: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() }
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', { config: needs(options, 'orders:read'), schema: { response: { 200: Order } } }, async (request) => {
      const { id } = request.params as { id: string }
      if (id === 'slow') {
        slow.begun.resolve()
        await slow.released.promise
      }
      return { id }
    })
    v1.post(
      '/orders',
      {
        config: { ...needs(options, 'orders:create'), idempotency: 'required' },
        schema: { body: Type.Object({ item: Type.String() }), response: { 201: Order } }
      },
      async (request, reply) => {
        orders += 1
        return reply.created(`/orders/${orders}`, { id: String(orders), item: (request.body as { item: string }).item })
      }
    )
    v1.batch('/order-batches', { paths: ['/orders'], config: { ...needs(options, 'orders:read'), idempotency: 'accepted' } })
  })
  await app.ready()

  async function send(operations: readonly object[], headers: Record<string, string> = {}, more: object = {}) {
    const named = operations.map((operation, index) => ({ id: String(index), ...operation }))
    const response = await app.inject({
      method: 'POST',
      url: '/v1/order-batches',
      headers: { ...all, ...headers },
      payload: { operations: named },
      ...more
    })
    const json = response.json<{ data?: ReadOutcome[]; error?: { code: string } }>()
    return { response, json, outcomes: json.data ?? [], statuses: (json.data ?? []).map(({ status }) => status) }
  }
  return { app, send, slow, orders: () => orders }
}

t.test('a batch and its outcomes are in the envelope, in the language of the request [B1] [E5] [G1]', async (t) => {
  const { app, send } = await start(t)
  const { response, json, outcomes } = await send(
    [get('/v1/orders/1'), get('/v1/orders/2/items'), { method: 'PUT', path: '/v1/orders/1', body: {} }],
    {
      'accept-language': 'es'
    }
  )
  t.match(json, { _links: [{ rel: 'self', method: 'POST' }], _meta: { version: 'v1', timestamp: String } })
  t.match(outcomes[0]?.body, {
    data: { id: '1' },
    _links: [{ rel: 'self', href: 'https://api.example.com/v1/orders/1' }],
    _meta: { version: 'v1' }
  })
  t.match(outcomes[1], { status: 404, headers: { 'content-language': 'es' }, body: { error: { code: 'RESOURCE_NOT_FOUND' } } })
  t.match(outcomes[2], { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' }, body: { error: { code: 'METHOD_NOT_ALLOWED' } } })
  const ids = [response.headers['request-id'], ...outcomes.map(({ headers }) => headers['request-id'])]
  t.equal(new Set(ids).size, 4, 'each has its own Request-Id [H2]')
  const etag = String((await app.inject({ url: '/v1/orders/1', headers: all })).headers.etag)
  t.match((await send([{ ...get('/v1/orders/1'), headers: { 'If-None-Match': etag } }])).outcomes, [
    { status: 304, headers: { etag }, body: undefined }
  ])
})

t.test('the errors of a batch are in the language of the request, one for each field [X3] [G1]', async (t) => {
  const { send } = await start(t)
  const { response, json } = await send([get('/v1/customers'), { method: 'GET', path: '/v1/orders/1', headers: { authorization: 'x' } }], {
    'accept-language': 'es'
  })
  t.equal(response.statusCode, 422)
  t.match(json.error, {
    error: 'ValidationError',
    code: 'BATCH_INVALID',
    errors: [
      { field: 'body.operations.0.path', message: 'debe ser una de estas rutas o una ruta por debajo de una de ellas: /v1/orders' },
      { field: 'body.operations.1.headers.authorization', message: 'se aplica a todo el lote: envíelo como encabezado de la petición' }
    ]
  })
})

t.test('values that cannot be stored are refused in the path, the headers and the body of an operation, and in its query', async (t) => {
  const { send } = await start(t)
  const post = { method: 'POST', path: '/v1/orders', headers: { 'idempotency-key': 'a-key-of-16-chars' } }
  for (const [operation, field] of [
    [get('/v1/orders/%00'), 'body.operations.0.path'],
    [{ ...post, headers: { 'idempotency-key': 'a\0b' } }, 'body.operations.0.headers.idempotency-key'],
    [{ ...post, body: { item: '\0' } }, 'body.operations.0.body.item'],
    [{ ...post, body: { 'i\ud800': 1 } }, 'body.operations.0.body.i\ufffd'],
    [{ ...post, id: '\0', body: {} }, 'body.operations.0.id']
  ] as const) {
    const { response, json } = await send([operation])
    t.match([response.statusCode, json.error], [422, { errors: [{ field }] }], JSON.stringify(operation))
  }
  const { statuses } = await send([get('/v1/orders/1?fields=%00'), get('/v1/orders/1?x=%FF'), get('/v1/orders/%FF')])
  t.strictSame(statuses, [422, 400, 400])
})

t.test('a hostile batch gets at most 100 of its problems', async (t) => {
  const { send } = await start(t)
  const unknown = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`n${index}`, '1']))
  const operation = get('/v1/orders/1')
  for (const hostile of [
    { ...operation, ...unknown },
    { ...operation, headers: unknown },
    { ...operation, id: '', headers: unknown }
  ]) {
    const { response } = await send([hostile])
    t.strictSame([response.statusCode, response.json().error.code, response.json().error.errors.length], [422, 'BATCH_INVALID', 100])
  }
})

t.test('each operation checks the permissions of its caller [U10]', async (t) => {
  const { app, send, orders } = await start(t)
  const reader = { authorization: `Bearer ${kit.token({ scope: 'orders:read' })}` }
  const { statuses, outcomes } = await send([{ method: 'POST', path: '/v1/orders', body: { item: 'tea' } }, get('/v1/orders/1')], reader)
  t.strictSame([statuses, orders()], [[403, 200], 0])
  t.match(outcomes[0]?.body, { error: { code: 'INSUFFICIENT_PERMISSION' } })
  t.equal((await app.inject({ method: 'POST', url: '/v1/order-batches', payload: { operations: [] } })).statusCode, 401)
})

t.test('an API key authenticates each operation too [U6]', async (t) => {
  const { key, record } = createApiKey({ client: 'till', permissions: ['orders:read'] })
  const store = memoryApiKeyStore([record])
  const { send } = await start(t, { authentication: { ...authentication, apiKeys: { store, permissions: ['orders:read'] } } })
  t.strictSame((await send([get('/v1/orders/1')], {}, { headers: { 'x-api-key': key } })).statuses, [200])
})

t.test('a cookie authenticates each operation too, and only from the service’s own pages [U12]', async (t) => {
  const { send } = await start(t, { authentication: { ...authentication, cookie: { name: '__Host-session', origins: [] } } })
  const cookie = `__Host-session=${kit.token({ scope: 'orders:read orders:create' })}`
  const own = await send([get('/v1/orders/1')], {}, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  t.strictSame(own.statuses, [200])
  t.match((await send([get('/v1/orders/1')], {}, { headers: { cookie, 'sec-fetch-site': 'cross-site' } })).json.error, {
    code: 'CROSS_SITE_REQUEST'
  })
})

t.test('each operation counts against the limits of its caller, by address and by client [X5]', async (t) => {
  const byAddress = await start(t, { rateLimiting: { addressLimit: limit(4), clientLimit: limit(1000) } })
  const six = Array.from({ length: 6 }, (_, n) => get(`/v1/orders/${n}`))
  const { statuses, outcomes } = await byAddress.send(six)
  t.strictSame(statuses, [200, 200, 200, 429, 429, 429], 'the batch itself is one of the four')
  t.match(outcomes[3], { headers: { 'retry-after': /^\d+$/ }, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } })
  t.equal((await byAddress.app.inject({ url: '/v1/orders/1', headers: all })).statusCode, 429, 'a request outside the batch is limited too')

  const byClient = await start(t, { rateLimiting: { addressLimit: limit(1000), clientLimit: limit(4) } })
  t.strictSame((await byClient.send(six)).statuses, [200, 200, 200, 429, 429, 429])

  const forged = await start(t, {
    rateLimiting: { addressLimit: limit(4) },
    authentication: false,
    idempotency: { scope: () => 'everyone' },
    transportSecurity: { dangerouslyAllowHttp: true }
  })
  for (let n = 0; n < 2; n += 1) await forged.send([get('/v1/orders/1')], { 'x-forwarded-for': `203.0.113.${n}` })
  t.equal((await forged.app.inject('/v1/orders/1')).statusCode, 429, 'a forwarded address from an untrusted peer is ignored')
})

t.test('operations use https if their batch did, and X-Forwarded-Proto of an untrusted peer is ignored [S4]', async (t) => {
  const { send } = await start(t, { transportSecurity: {} }, { trustProxy: ['10.0.0.1'] })
  const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' }
  t.strictSame((await send([get('/v1/orders/1')], proxied, { remoteAddress: '10.0.0.1' })).statuses, [200])
  t.match((await send([get('/v1/orders/1')], proxied, { remoteAddress: '203.0.113.9' })).json, { error: { code: 'HTTPS_REQUIRED' } })
})

t.test('an operation is idempotent with its own key or a derived key; the batch is replayed with its own key [I3]', async (t) => {
  const { send, orders } = await start(t)
  const order = { method: 'POST', path: '/v1/orders', body: { item: 'tea' } }
  t.match((await send([order])).outcomes, [{ status: 400, body: { error: { code: 'IDEMPOTENCY_KEY_REQUIRED' } } }])
  const own = { ...order, headers: { 'idempotency-key': 'mine' } }
  const { outcomes } = await send([own, own])
  t.match(outcomes, [{ status: 201 }, { status: 201, headers: { 'idempotency-replayed': 'true' } }])
  t.strictSame(outcomes[1]?.body, outcomes[0]?.body)
  t.equal(orders(), 1)

  const first = await send([order, order], { 'idempotency-key': 'batch' })
  t.strictSame([first.statuses, orders()], [[201, 201], 3], 'each operation has its own key, derived from that of the batch')
  const again = await send([order, order], { 'idempotency-key': 'batch' })
  t.strictSame([again.response.body, again.response.headers['idempotency-replayed'], orders()], [first.response.body, 'true', 3])
  t.match((await send([order], { 'idempotency-key': 'batch' })).json.error, { code: 'IDEMPOTENCY_KEY_REUSED' })
})

t.test('a closing service completes the batches that it has started', async (t) => {
  const { app, slow } = await start(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const operations = ['slow', '2', '3'].map((id) => ({ id, ...get(`/v1/orders/${id}`) }))
  const responded = new Promise<string>((resolve, reject) => {
    const headers = { ...all, 'content-type': 'application/json' }
    const request = call({ host: '127.0.0.1', port, method: 'POST', path: '/v1/order-batches', headers }, (response) => {
      let text = ''
      response.on('data', (part) => (text += String(part)))
      response.on('end', () => resolve(text))
    })
    request.on('error', reject).end(JSON.stringify({ operations }))
  })
  await slow.begun.promise
  const closed = app.close()
  while (app.server.listening) await setImmediate()
  slow.released.resolve()
  await Promise.all([closed, responded])
  const { data } = JSON.parse(await responded) as { data: ReadOutcome[] }
  t.strictSame(
    data.map(({ status }) => status),
    [200, 200, 200]
  )
})

t.test('without a unit of work no batch is atomic, and a batch that requires it stops the boot', async (t) => {
  const { app, send } = await start(t)
  t.throws(() => app.batch('/others', { paths: ['/orders'], atomic: 'always' }), /others: atomic requires transactions/)
  t.equal((await send([get('/v1/orders/1')])).response.statusCode, 200)
})

t.test('batch can be left out', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    batch: false
  })
  t.notOk(app.hasDecorator('batch'))
})

t.test('the description has the request and the response of a batch, and its error code [B1] [Q13]', async (t) => {
  const { app } = await start(t)
  const { paths, components } = (await app.inject('/v1/openapi')).json()
  const { post } = paths['/v1/order-batches']
  t.match(JSON.stringify(components.responses[post.responses['422'].$ref.split('/').at(-1)]), /BATCH_INVALID/)
  t.match(components.schemas['NewOrderBatch'], {
    required: ['operations'],
    properties: { operations: { maxItems: 100, items: { required: ['id', 'method', 'path'] } }, atomic: undefined }
  })
  t.match(components.schemas['OrderBatch'], { required: ['id', 'status'] })
  t.match(post['x-batch'], { atomic: 'never', outcomes: { 503: ['BATCH_STOPPED'] } })
})

t.test('the request table of the architecture page lists the package', (t) => {
  t.match(readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8'), /\| onRequest \| batch \|/)
  t.end()
})
