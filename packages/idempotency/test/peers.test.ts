// Measured faults of existing libraries that this package does not have: fourteen in libraries for keys, two in a library for caching.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import idempotency, { type IdempotencyStore, memoryIdempotencyStore } from '@concordat/idempotency'
import Fastify, { type FastifyInstance, type RouteHandlerMethod } from 'fastify'
import t, { type Test } from 'tap'

interface Input {
  readonly store?: IdempotencyStore
  readonly handler?: RouteHandlerMethod
}

async function service(t: Test, { store = memoryIdempotencyStore(), handler }: Input = {}) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(idempotency, { store, scope: ({ headers }) => String(headers['x-client'] ?? 'ada') })
  let runs = 0
  const own: RouteHandlerMethod = async ({ body, url }, reply) =>
    reply
      .code(201)
      .header('location', `/made/${runs}`)
      .header('set-cookie', `session=${runs}`)
      .header('etag', `"${runs}"`)
      .send({ runs, body, url })
  const counted: RouteHandlerMethod = function (request, reply) {
    runs += 1
    return (handler ?? own).call(this, request, reply)
  }
  app.addHook('preHandler', async (request, reply) => {
    if (request.headers['x-client'] === 'nobody') return reply.code(401).send({})
    return undefined
  })
  const schema = { body: { type: 'object', properties: { count: { type: 'integer' } } } }
  for (const url of ['/a', '/b']) app.post(url, { schema, config: { idempotency: 'required' } }, counted)
  return { app, runs: () => runs }
}

function post(app: FastifyInstance, key: string, input: { url?: string; body?: object; headers?: Record<string, string> } = {}) {
  const { url = '/a', body = { count: 1 }, headers = {} } = input
  return app.inject({ method: 'POST', url, payload: body, headers: { 'idempotency-key': key, ...headers } })
}

t.test('a 422 for another body does not overwrite the response: the retry still gets it', async (t) => {
  const { app } = await service(t)
  const first = await post(app, 'k')
  t.equal((await post(app, 'k', { body: { count: 2 } })).statusCode, 422)
  const retry = await post(app, 'k')
  t.strictSame([retry.statusCode, retry.body], [201, first.body])
})

t.test('the 409 of a retry does not overwrite the record: the next retry is not a replay of the 409', async (t) => {
  const end = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { app, runs } = await service(t, {
    async handler() {
      begun.resolve()
      await end.promise
      return { done: true }
    }
  })
  const first = post(app, 'k')
  await begun.promise
  for (let n = 0; n < 2; n += 1) {
    const retry = await post(app, 'k')
    t.strictSame([retry.statusCode, retry.headers['idempotency-replayed']], [409, undefined])
  }
  end.resolve()
  t.equal((await first).statusCode, 200)
  t.equal((await post(app, 'k')).body, '{"done":true}')
  t.equal(runs(), 1)
})

t.test('a body that fails validation leaves the key unused: the corrected request runs', async (t) => {
  const { app, runs } = await service(t)
  t.equal((await post(app, 'k', { body: { count: 'many' } })).statusCode, 400)
  t.equal((await post(app, 'k')).statusCode, 201)
  t.equal(runs(), 1)
})

t.test('a 401 for a client without credentials does not affect the key of another client', async (t) => {
  const { app } = await service(t)
  t.equal((await post(app, 'k', { headers: { 'x-client': 'nobody' }, body: { count: 9 } })).statusCode, 401)
  t.equal((await post(app, 'k')).statusCode, 201)
})

t.test('another user with the same key and body does not get the response of the first user', async (t) => {
  const { app, runs } = await service(t)
  const [ada, ben] = [await post(app, 'k'), await post(app, 'k', { headers: { 'x-client': 'ben' } })]
  t.not(ada.body, ben.body)
  t.equal(ben.headers['idempotency-replayed'], undefined)
  t.equal(runs(), 2)
})

t.test('the retry of a streamed response does not get 500 and does not run', async (t) => {
  const { app, runs } = await service(t, { handler: async (_request, reply) => reply.send(Readable.from(['streamed'])) })
  t.equal((await post(app, 'k')).body, 'streamed')
  t.equal((await post(app, 'k')).statusCode, 409)
  t.equal(runs(), 1)
})

t.test('no request runs without protection while the store is down', async (t) => {
  const store = { ...memoryIdempotencyStore(), begin: () => Promise.reject(new Error('connect ECONNREFUSED')) }
  const { app, runs } = await service(t, { store })
  t.equal((await post(app, 'k')).statusCode, 503)
  t.equal(runs(), 0)
})

t.test('a replay has the Location of the first response', async (t) => {
  const { app } = await service(t)
  const first = await post(app, 'k')
  t.equal((await post(app, 'k')).headers['location'], first.headers['location'])
})

t.test('a body with its members in another order is the same request', async (t) => {
  const { app } = await service(t)
  await post(app, 'k', { body: { a: 1, b: { c: 1, d: 2 } } })
  t.equal((await post(app, 'k', { body: { b: { d: 2, c: 1 }, a: 1 } })).headers['idempotency-replayed'], 'true')
})

t.test('lone surrogates are compared as they are, not as the UTF-8 replacement character', async (t) => {
  const { app } = await service(t)
  await post(app, 'k', { body: { a: '\ud800' } })
  t.equal((await post(app, 'k', { body: { a: '\ud801' } })).statusCode, 422)
  t.equal((await post(app, 'k', { body: { a: '\ufffd' } })).statusCode, 422)
  t.equal((await post(app, 'k', { body: { a: '\ud800' } })).headers['idempotency-replayed'], 'true')
})

t.test('a replay does not have Set-Cookie', async (t) => {
  const { app } = await service(t)
  t.ok((await post(app, 'k')).headers['set-cookie'])
  t.equal((await post(app, 'k')).headers['set-cookie'], undefined)
})

t.test('the same key on another URL is refused and does not get the response of the first request', async (t) => {
  const { app, runs } = await service(t)
  await post(app, 'k')
  t.equal((await post(app, 'k', { url: '/b' })).statusCode, 422)
  t.equal(runs(), 1)
})

t.test('another user with a new key and the same body runs', async (t) => {
  const { app, runs } = await service(t)
  await post(app, 'k')
  t.equal((await post(app, randomUUID(), { headers: { 'x-client': 'ben' } })).statusCode, 201)
  t.equal(runs(), 2)
})

t.test('a quoted key and the same bare key are equal', async (t) => {
  const { app } = await service(t)
  await post(app, '"k"')
  t.equal((await post(app, 'k')).headers['idempotency-replayed'], 'true')
})

t.test('a thrown error is replayed as it was sent, with its body', async (t) => {
  const { app } = await service(t, {
    handler: async () => {
      throw Object.assign(new Error('The card was declined.'), { statusCode: 402 })
    }
  })
  const [first, retry] = [await post(app, 'k'), await post(app, 'k')]
  t.match(retry.json(), { statusCode: 402, message: 'The card was declined.' })
  t.equal(retry.body, first.body)
})

t.test('the ETag of a response does not match another URL and does not stop a POST from running', async (t) => {
  const { app, runs } = await service(t)
  const { etag } = (await post(app, 'one')).headers
  const headers = { 'if-none-match': String(etag) }
  t.equal((await post(app, 'two', { headers })).statusCode, 201)
  t.equal((await post(app, 'three', { url: '/b', headers })).statusCode, 201)
  t.equal((await app.inject({ method: 'GET', url: '/nowhere', headers })).statusCode, 404)
  t.equal(runs(), 3)
})

t.test('a replay is not a 304: it has the status, the ETag and the body of the first response', async (t) => {
  const { app } = await service(t)
  const first = await post(app, 'k')
  const retry = await post(app, 'k', { headers: { 'if-none-match': String(first.headers['etag']) } })
  t.strictSame([retry.statusCode, retry.headers['etag'], retry.body], [201, first.headers['etag'], first.body])
})
