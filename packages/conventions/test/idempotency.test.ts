import conventions, { serverOptions } from '@concordat/conventions'
import { type IdempotencyOptions, type IdempotencyStore, memoryIdempotencyStore } from '@concordat/idempotency'
import { responseChecker } from '@concordat/openapi/testing'
import signInRoutes, { type TokenIssuer } from '@concordat/token-issuing'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

const Order = Type.Object({ id: Type.String(), item: Type.String() })
const body = Type.Object({ item: Type.String() }, { additionalProperties: false })

/** A store that returns text as bytes, as a store in a database does. */
function byteStore(): IdempotencyStore {
  const store = memoryIdempotencyStore()
  return {
    ...store,
    complete: (claim, response, ...received) =>
      store.complete(claim, { ...response, body: response.body === null ? null : Buffer.from(response.body as string) }, ...received)
  }
}

async function service(store: IdempotencyStore, options: IdempotencyOptions = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    stores: { idempotency: store },
    idempotency: { scope: ({ headers }) => String(headers['x-client'] ?? 'ada'), ...options }
  })
  let runs = 0
  await app.apiVersion(1, async (v1) => {
    const config = { idempotency: 'required' } as const
    v1.post('/orders', { config, schema: { body, response: { 201: Order } } }, async (request, reply) => {
      runs += 1
      const { item } = request.body as { item: string }
      if (item === 'nothing') throw Object.assign(new Error('out of stock'), { statusCode: 409 })
      if (item === 'trouble') throw new Error('the disk is full')
      return reply.created(`/orders/${runs}`, { id: String(runs), item })
    })
    v1.post('/orders/:id/cancellations', { config, schema: { response: { 204: Type.Null() } } }, async (_request, reply) =>
      reply.noContent()
    )
    v1.post('/raw-notes', { config: { ...config, envelope: false } }, async () => ({ noted: true }))
  })
  const send = (key: string | undefined, input: { url?: string; item?: unknown; headers?: Record<string, string> } = {}) =>
    app.inject({
      method: 'POST',
      url: input.url ?? '/v1/orders',
      payload: input.url === undefined ? { item: input.item ?? 'tea' } : {},
      headers: { ...(key !== undefined && { 'idempotency-key': key }), ...input.headers }
    })
  return { app, send, runs: () => runs }
}

for (const [what, storeOf] of Object.entries({ text: memoryIdempotencyStore, bytes: byteStore })) {
  t.test(
    `a replay is the first response, with its envelope and timestamp, under its own Request-Id; stored as ${what} [H2] [I3]`,
    async (t) => {
      const { send, runs } = await service(storeOf())
      const [first, retry] = [await send('k'), await send('k')]
      t.equal(first.statusCode, 201)
      t.match(first.json(), { data: { id: '1', item: 'tea' }, _meta: { version: '1' } })
      t.equal(retry.headers['idempotency-replayed'], 'true')
      for (const name of ['location', 'content-type', 'vary']) t.equal(retry.headers[name], first.headers[name], name)
      t.strictSame([retry.statusCode, retry.body], [first.statusCode, first.body])
      t.ok(retry.headers['request-id'])
      t.not(retry.headers['request-id'], first.headers['request-id'])
      t.equal(runs(), 1)
    }
  )

  t.test(`a stored error is replayed in its envelope, byte for byte; stored as ${what} [E5] [I3]`, async (t) => {
    const { send, runs } = await service(storeOf())
    for (const [item, status] of Object.entries({ nothing: 409, trouble: 500 })) {
      const [first, retry] = [await send(item, { item }), await send(item, { item })]
      t.match(first.json(), { error: { status } })
      t.strictSame([retry.statusCode, retry.body, retry.headers['idempotency-replayed']], [status, first.body, 'true'])
    }
    t.equal(runs(), 2)
  })

  t.test(`204 and responses without the envelope are replayed too; stored as ${what}`, async (t) => {
    const { send } = await service(storeOf())
    for (const url of ['/v1/orders/1/cancellations', '/v1/raw-notes']) {
      const [first, retry] = [await send(url, { url }), await send(url, { url })]
      t.strictSame([retry.statusCode, retry.body, retry.headers['idempotency-replayed']], [first.statusCode, first.body, 'true'])
    }
  })
}

t.test('errors of a key are in the envelope, in the language of the client; 422 names the header [E4] [G1] [X3]', async (t) => {
  const { send, runs } = await service(memoryIdempotencyStore())
  t.match((await send(undefined, { headers: { 'accept-language': 'es' } })).json().error, {
    status: 400,
    code: 'IDEMPOTENCY_KEY_REQUIRED',
    message: /^El encabezado Idempotency-Key es obligatorio/
  })
  t.match((await send('"open')).json().error, { status: 400, code: 'IDEMPOTENCY_KEY_INVALID' })
  await send('k')
  t.match((await send('k', { item: 'coffee' })).json().error, {
    status: 422,
    code: 'IDEMPOTENCY_KEY_REUSED',
    errors: [{ field: 'header.idempotency-key', message: 'was used for a different request; send a new key' }]
  })
  t.equal(runs(), 1)
})

t.test(
  'a client over its limit gets replays with id and links, which the description covers, then 429 in the envelope [I3] [E1]',
  async (t) => {
    const { app, send, runs } = await service(memoryIdempotencyStore(), { maxClientBytes: 1500 })
    const item = 'tea '.repeat(500)
    await send('first', { item })
    await send('second', { item })
    const [first, retry] = [await send('k', { item }), await send('k', { item })]
    t.equal(first.json().data.item, item)
    const { data, ...others } = first.json()
    t.strictSame(retry.json(), { data: { id: data.id }, ...others })
    t.match(retry, { statusCode: 201, headers: { 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete' } })
    t.equal(retry.headers.location, first.headers.location)
    t.strictSame(first.headers['idempotency-status'], undefined)
    const check = responseChecker((await app.inject('/v1/openapi')).json())
    const problemsOf = ({ statusCode: status, headers, rawPayload }: Pick<typeof retry, 'statusCode' | 'headers' | 'rawPayload'>) =>
      check({ method: 'POST', url: '/v1/orders', status, headers, body: rawPayload })
    t.strictSame([first, retry].map(problemsOf), [[], []])
    const isUnmarked = { ...retry, headers: { ...retry.headers, 'idempotency-status': undefined } } as typeof retry
    t.match(problemsOf({ ...isUnmarked, statusCode: 201, rawPayload: retry.rawPayload }), [/item/])
    t.equal((await send('more', { item })).statusCode, 201)
    t.match((await send('last', { item })).json().error, { status: 429, code: 'IDEMPOTENCY_STORAGE_EXCEEDED' })
    t.equal(runs(), 4)
  }
)

t.test('a client whose stored responses have reached twice the limit gets 429 in the envelope with Retry-After [E4] [G1]', async (t) => {
  const { send, runs } = await service(memoryIdempotencyStore(), { maxClientBytes: 1 })
  t.equal((await send('k')).statusCode, 201)
  const refused = await send('l', { headers: { 'accept-language': 'es' } })
  t.match(refused.json().error, {
    status: 429,
    code: 'IDEMPOTENCY_STORAGE_EXCEEDED',
    message: /^Las respuestas guardadas de sus peticiones con clave de idempotencia/
  })
  t.match(refused.headers['retry-after'], /^8\d{4}$/)
  t.equal((await send('k')).headers['idempotency-replayed'], 'true')
  t.equal((await send('l', { headers: { 'x-client': 'ben' } })).statusCode, 201)
  t.equal(runs(), 2)
})

t.test('a body that is invalid or cannot be parsed leaves the key unused [I5]', async (t) => {
  const { send, runs } = await service(memoryIdempotencyStore())
  t.equal((await send('k', { item: 5 })).statusCode, 422)
  t.equal((await send('k', { headers: { 'content-type': 'text/xml' } })).statusCode, 415)
  t.equal((await send('k')).statusCode, 201)
  t.equal(runs(), 1)
})

t.test('a request whose preconditions cannot be checked leaves its key free, because its handler did not run [I3] [O1]', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versioning: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'everyone' }
  })
  let runs = 0
  let reads = 0
  const read = () => {
    reads += 1
    if (reads === 1) throw Object.assign(new Error('the database is away'), { statusCode: 503 })
    return { exists: reads !== 3, etag: 1 }
  }
  const config = { idempotency: 'required', requireIfMatch: true } as const
  const handler = async () => ({ runs: (runs += 1) })
  const schema = { response: { 200: Type.Object({ runs: Type.Integer() }) } }
  app.patch('/orders/:id', { config: { ...config, validator: read }, schema, handler })
  app.patch('/products/:id', { config: { ...config, validator: async () => read() }, schema, handler })
  for (const url of ['/orders/1', '/products/1']) {
    reads = 0
    const change = (key: string) =>
      app.inject({ method: 'PATCH', url, payload: {}, headers: { 'idempotency-key': `${key}-${runs}`, 'if-match': '*' } })
    const before = runs
    t.equal((await change('a')).statusCode, 503)
    t.equal((await change('a')).statusCode, 200)
    t.equal((await change('b')).statusCode, 404)
    t.match((await change('b')).headers, { 'idempotency-replayed': 'true' }, 'a missing resource is a result')
    t.equal(runs, before + 1)
  }
})

t.test('the routes of token-issuing cannot accept keys, because their responses are secrets [I3]', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    authentication: false,
    idempotency: { scope: () => 'everyone' }
  })
  await app.apiVersion(1, async (v1) => {
    await v1.register(signInRoutes, {
      issuer: {} as TokenIssuer,
      verify: async () => ({}) as never,
      routeConfig: (operation) => ({ idempotency: operation === 'issueToken' ? 'accepted' : 'off' })
    })
  })
  await t.rejects(async () => app.ready(), {
    message:
      'idempotency: POST /v1/tokens: schema.response.200 requires "data.accessToken", which is marked x-secret and absent in a replay. Make it optional.'
  })
})
