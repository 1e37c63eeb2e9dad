import { defineErrors } from '@concordat/api-error'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const Order = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }

async function start(options: Partial<ConventionsOptions> = {}) {
  const app = Fastify(serverOptions())
  await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: { status: 'current' } }, ...options })
  const routes = async (instance: FastifyInstance) => {
    instance.get('/orders/:id', { schema: { response: { 200: Order } } }, async (_request, reply) => {
      reply.link('collection', '/orders')
      return { id: '7' }
    })
    instance.get('/failures/:id', { schema: { response: { 200: Order } } }, async () => {
      throw new Error('internal')
    })
    instance.post('/orders', { schema: { body: Order, response: { 201: Order } } }, async (_request, reply) =>
      reply.created('/orders/8', { id: '8' })
    )
  }
  await (options.versioning === false ? app.register(routes, { prefix: '/v1' }) : app.apiVersion(1, routes))
  return app
}

t.test('a success has the envelope, the version, links below it, the security headers and Vary', async (t) => {
  const app = await start()
  const answer = await app.inject('/v1/orders/7')
  t.match(answer.json(), {
    data: { id: '7' },
    _links: [
      { rel: 'self', href: 'https://api.example.com/v1/orders/7', method: 'GET' },
      { rel: 'collection', href: 'https://api.example.com/v1/orders', method: 'GET' }
    ],
    _meta: { version: 'v1' }
  })
  t.match(answer.headers, { 'request-id': /^[0-9a-f-]{36}$/, 'x-content-type-options': 'nosniff', vary: 'accept' })
})

t.test('a created resource is named relative to its version', async (t) => {
  const app = await start()
  const answer = await app.inject({ method: 'POST', url: '/v1/orders', body: { id: '8' } })
  t.strictSame([answer.statusCode, answer.headers.location], [201, 'https://api.example.com/v1/orders/8'])
})

t.test('an error has the error envelope in the language of the client, and Vary names both [G1] [N6]', async (t) => {
  const app = await start()
  const answer = await app.inject({ url: '/v1/nothing', headers: { 'accept-language': 'es-MX,es;q=0.9' } })
  t.match(answer.json().error, { status: 404, code: 'RESOURCE_NOT_FOUND', message: /No / })
  t.match(answer.headers, { 'content-language': 'es', vary: 'accept-language, accept', 'cache-control': 'no-store' })
})

t.test('a URL that never reaches a hook gets the same: language, version, headers', async (t) => {
  const app = await start()
  const answer = await app.inject({ url: '/v1/%zz', headers: { 'accept-language': 'es' } })
  t.match(answer.json(), { error: { code: 'MALFORMED_URI' }, _meta: { version: 'v1' } })
  t.match(answer.headers, { 'content-language': 'es', 'request-id': /./, 'x-content-type-options': 'nosniff' })
})

t.test('GET / lists the versions in the envelope', async (t) => {
  const app = await start()
  t.match((await app.inject('/')).json(), {
    data: { versions: [{ version: 'v1', status: 'current', href: 'https://api.example.com/v1' }] },
    _meta: { version: 'v1' }
  })
})

t.test('the errors of the service join the catalogue', async (t) => {
  const include = [defineErrors({ SOLD_OUT: { statusCode: 409, message: { en: 'Sold out.', es: 'Agotado.' }, remedy: 'Wait.' } })]
  const app = await start({ errorCatalogue: { include } })
  t.ok(app.errorCatalogue.find('SOLD_OUT'))
  t.ok(app.errorCatalogue.find('METHOD_NOT_ALLOWED'))
})

for (const [name, expected] of Object.entries<(app: Awaited<ReturnType<typeof start>>) => Promise<[unknown, unknown]>>({
  transportSecurity: async (app) => [(await app.inject('/v1/orders/7')).headers['request-id'], undefined],
  errorCatalogue: async (app) => [(await app.inject('/v1/failures/7')).json().statusCode, 500],
  versioning: async (app) => [(await app.inject('/')).statusCode, 404],
  httpMethods: async (app) => [(await app.inject({ method: 'DELETE', url: '/v1/orders/7' })).statusCode, 404],
  contentNegotiation: async (app) => [(await app.inject({ url: '/v1/orders/7', headers: { accept: 'image/webp' } })).statusCode, 200]
})) {
  t.test(`${name} can be left out`, async (t) => {
    const [found, wanted] = await expected(await start({ [name]: false }))
    t.equal(found, wanted)
  })
}

t.test('envelope can be left out', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, { versions: { 1: {} }, envelope: false })
  t.match((await app.inject('/')).json(), { versions: [{ version: 'v1' }] })
})

t.test('settings of a plugin win over what the preset fills in', async (t) => {
  const app = await start({ envelope: { version: () => 'v9' }, transportSecurity: { overrides: { 'x-frame-options': 'SAMEORIGIN' } } })
  const answer = await app.inject('/v1/orders/7')
  t.equal(answer.json()._meta.version, 'v9')
  t.equal(answer.headers['x-frame-options'], 'SAMEORIGIN')
})

t.test('nonsense stops the start with one line', async (t) => {
  await t.rejects(async () => Fastify().register(conventions, {}), /versions is missing/)
  t.throws(() => serverOptions({ trustProxy: true as never }), /trustProxy is no list/)
  t.throws(() => serverOptions({ bodyLimitBytes: 0 }), /bodyLimitBytes is 0/)
})

t.test('proxies that are named are trusted, and no others', async (t) => {
  t.equal(serverOptions().trustProxy, false)
  t.strictSame(serverOptions({ trustProxy: ['10.0.0.0/8'] }).trustProxy, ['10.0.0.0/8'])
})
