import httpMethods from '@concordat/http-methods'
import Fastify from 'fastify'
import t from 'tap'

async function bareService() {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders', async () => [])
  app.post('/orders', async () => ({}))
  return app
}

t.test('Fastify with only this plugin sends readable 404, 405 and 501 responses [X1]', async (t) => {
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
    message: 'This resource does not support the method. The Allow header lists the supported methods.'
  })
  const unknown = await app.inject({ method: 'PROPFIND' as 'GET', url: '/orders' })
  t.equal(unknown.statusCode, 501)
  t.strictSame(unknown.json(), {
    statusCode: 501,
    code: 'METHOD_NOT_IMPLEMENTED',
    error: 'Not Implemented',
    message: 'The server does not support this method. Use a standard HTTP method, in uppercase.'
  })
})

t.test('passes the methods to the error handler of a service', async (t) => {
  const app = await bareService()
  app.setErrorHandler(async (error: Error & { params: object }) => error.params)
  const wrong = await app.inject({ method: 'DELETE', url: '/orders' })
  t.strictSame(wrong.json(), { method: 'DELETE', allowed: 'GET, HEAD, OPTIONS, POST' })
  const unknown = await app.inject({ method: 'PROPFIND' as 'GET', url: '/orders' })
  t.strictSame(unknown.json(), { supported: 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY' })
})

t.test('does not change responses of routes', async (t) => {
  const app = await bareService()
  const response = await app.inject({ url: '/orders' })
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), [])
})

t.test('invalid options and constraints stop the boot with one line', async (t) => {
  await t.rejects(async () => Fastify().register(httpMethods, { constraints: 'host' as never }), {
    message: 'http-methods: options.constraints must be a function that returns the constraint values of a request, but its type is string.'
  })
  const app = Fastify()
  app.addConstraintStrategy({
    name: 'region',
    storage: () => ({ get: () => null, set: () => {} }),
    deriveConstraint: () => 'north'
  })
  await app.register(httpMethods)
  app.get('/orders', { constraints: { region: 'north' } }, async () => [])
  await t.rejects(async () => app.ready(), {
    message:
      'http-methods: GET /orders has the constraint "region", whose value cannot be derived from a request. Set options.constraints to a function that returns it.'
  })
})

t.test('a GET or HEAD route with a body schema stops the boot, even if addHttpMethod declares a body [M1] [M9]', async (t) => {
  const body = { type: 'object' }
  const app = Fastify()
  await app.register(httpMethods)
  t.throws(() => app.get('/orders', { schema: { body } }, async () => []), /Body validation schema for GET:\/orders route is not supported/)
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  t.throws(() => app.route({ method: ['POST', 'GET'], url: '/orders', schema: { body }, handler: async () => [] }), {
    message:
      'http-methods: GET /orders must not declare a body schema, because GET requests have no body. Use querystring instead, or POST.'
  })
  app.addHttpMethod('HEAD', { hasBody: true, overrideExisting: true })
  t.throws(() => app.head('/heads', { schema: { body } }, async () => []), { message: /HEAD \/heads must not declare a body schema/ })
  t.doesNotThrow(() => app.post('/orders', { schema: { body } }, async () => []))
})
