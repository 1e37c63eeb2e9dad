import httpMethods, { methodErrors } from '@concordat/http-methods'
import Fastify from 'fastify'
import t from 'tap'

async function bareService() {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders', async () => [])
  app.post('/orders', async () => ({}))
  return app
}

t.test('stock Fastify prints 404, 405 and 501 sensibly, with only this plugin [X1]', async (t) => {
  const app = await bareService()
  const missing = await app.inject({ url: '/nothing' })
  t.equal(missing.statusCode, 404)
  t.strictSame(missing.json(), {
    statusCode: 404,
    code: 'RESOURCE_NOT_FOUND',
    error: 'Not Found',
    message: 'The resource was not found. Check the path and the identifiers in it.'
  })
  const wrong = await app.inject({ method: 'DELETE', url: '/orders' })
  t.equal(wrong.headers.allow, 'GET, HEAD, OPTIONS, POST')
  t.strictSame(wrong.json(), {
    statusCode: 405,
    code: 'METHOD_NOT_ALLOWED',
    error: 'Method Not Allowed',
    message: 'DELETE is not possible at this address. Use one of these methods: GET, HEAD, OPTIONS, POST.'
  })
  const unknown = await app.inject({ method: 'PROPFIND' as 'GET', url: '/orders' })
  t.equal(unknown.statusCode, 501)
  t.match(unknown.json(), { code: 'METHOD_NOT_IMPLEMENTED', message: /these: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY\.$/ })
})

t.test('what is routed is answered as without the plugin', async (t) => {
  const app = await bareService()
  const answer = await app.inject({ url: '/orders' })
  t.equal(answer.statusCode, 200)
  t.strictSame(answer.json(), [])
})

t.test('every error has its words in English and Spanish', async (t) => {
  t.strictSame(Object.keys(methodErrors.definitions), ['RESOURCE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'])
  for (const { message } of Object.values(methodErrors.definitions)) t.strictSame(Object.keys(message), ['en', 'es'])
})

t.test('a mistake is refused at boot with one clear line', async (t) => {
  await t.rejects(async () => Fastify().register(httpMethods, { constraints: 'host' as never }), {
    message: 'http-methods: constraints is a string. Give a function from the request to its constraint values.'
  })
  const app = Fastify()
  app.addConstraintStrategy({
    name: 'region',
    storage: () => ({ get: () => null, set: () => {} }),
    deriveConstraint: () => 'north'
  })
  await app.register(httpMethods)
  t.throws(() => app.get('/orders', { constraints: { region: 'north' } }, async () => []), {
    message: 'GET /orders has the constraint "region". Give http-methods the option constraints, which derives it from a request.'
  })
})

t.test('a GET or HEAD that declares a body is refused at boot, also where it was made a method with a body [M1] [M9]', async (t) => {
  const body = { type: 'object' }
  const app = Fastify()
  await app.register(httpMethods)
  t.throws(() => app.get('/orders', { schema: { body } }, async () => []), /Body validation schema for GET:\/orders route is not supported/)
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  t.throws(() => app.route({ method: ['POST', 'GET'], url: '/orders', schema: { body }, handler: async () => [] }), {
    message: 'GET /orders declares a body schema, but GET has no body. Move it to querystring, or use POST.'
  })
  t.doesNotThrow(() => app.post('/orders', { schema: { body } }, async () => []))
})
