import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import httpMethods from '@concordat/http-methods'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

t.test('returns 405 with a sorted Allow for a known URL, and 404 for an unknown URL [X1]', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders/:id', async () => ({}))
  app.put('/orders/:id', async () => ({}))
  app.delete('/orders/:id', async () => ({}))
  app.get('/files/*', async () => ({}))
  const cases = [
    ['/orders/5', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/orders/5?sort=a%zz', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/files/a/b/c', 'GET, HEAD, OPTIONS'],
    ['http://elsewhere.example/orders/5', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['/orders/5/items', undefined],
    ['/', undefined]
  ] as const
  for (const [url, allow] of cases) {
    const response = await app.inject({ method: 'PATCH', url })
    t.equal(response.statusCode, allow === undefined ? 404 : 405, url)
    t.equal(response.headers.allow, allow, url)
  }
})

t.test('returns 404 or 405 even if the body is invalid', async (t) => {
  const app = Fastify({ bodyLimit: 100 })
  await app.register(httpMethods)
  app.get('/orders', async () => [])
  const bodies = [
    { headers: { 'content-type': 'application/json' }, payload: '{"broken' },
    { headers: { 'content-type': 'application/json' }, payload: 'x'.repeat(200) },
    { headers: { 'content-type': 'not a type' }, payload: 'text' },
    { headers: { 'content-type': 'image/png' }, payload: 'text' }
  ]
  for (const body of bodies) {
    t.equal((await app.inject({ method: 'POST', url: '/nothing', ...body })).statusCode, 404)
    t.equal((await app.inject({ method: 'POST', url: '/orders', ...body })).statusCode, 405)
  }
})

t.test('404 and 405 have the headers of onRequest hooks, and respect their limits', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('request-id', 'r1')
    if (request.headers['x-flood'] !== undefined) throw Object.assign(new Error('slow down'), { statusCode: 429 })
  })
  app.get('/orders', async () => [])
  const response = await app.inject({ method: 'POST', url: '/orders' })
  t.match(response, { statusCode: 405, headers: { 'request-id': 'r1' } })
  t.equal((await app.inject({ url: '/nothing', headers: { 'x-flood': '1' } })).statusCode, 429)
})

t.test('looks up the whole URL of prefixes, also of those with their own not-found handler', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  await app.register(
    async (v1) => {
      v1.setNotFoundHandler(async () => 'never reached')
      v1.get('/', async () => ({}))
      v1.get('/orders', async () => [])
    },
    { prefix: '/v1' }
  )
  t.match(await app.inject({ method: 'POST', url: '/v1/orders' }), { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
  t.equal((await app.inject({ method: 'POST', url: '/v1' })).statusCode, 405)
  t.equal((await app.inject({ method: 'POST', url: '/orders' })).statusCode, 404)
  t.equal((await app.inject({ url: '/v1/nothing' })).json().code, 'RESOURCE_NOT_FOUND')
})

t.test('looks up a rewritten URL as the router does', async (t) => {
  const app = Fastify({ rewriteUrl: ({ url = '' }) => url.replace(/^\/api/, '') })
  await app.register(httpMethods)
  app.get('/orders', async () => [])
  t.equal((await app.inject({ method: 'PUT', url: '/api/orders' })).statusCode, 405)
})

t.test('applies constraints: by version, by host, by a strategy of the service', async (t) => {
  const app = Fastify()
  app.addConstraintStrategy({
    name: 'region',
    storage: () => {
      const handlers = new Map()
      return { get: (key) => handlers.get(key) ?? null, set: (key, handler) => void handlers.set(key, handler) }
    },
    deriveConstraint: (request) => request.headers['region']
  })
  await app.register(httpMethods, {
    constraints: ({ headers }) => ({ version: headers['accept-version'], host: headers.host, region: headers['region'] })
  })
  app.get('/north', { constraints: { region: 'north' } }, async () => [])
  t.equal((await app.inject({ method: 'POST', url: '/north', headers: { region: 'north' } })).statusCode, 405)
  t.equal((await app.inject({ method: 'POST', url: '/north', headers: { region: 'south' } })).statusCode, 404)

  const usual = Fastify()
  await usual.register(httpMethods)
  usual.get('/orders', { constraints: { version: '2.0.0' } }, async () => [])
  usual.put('/orders', { constraints: { host: 'api.example' } }, async () => [])
  const allowOf = async (headers: Record<string, string>) =>
    (await usual.inject({ method: 'PATCH', url: '/orders', headers })).headers.allow
  t.equal(await allowOf({ 'accept-version': '2.0.0', host: 'other.example' }), 'GET, HEAD, OPTIONS')
  t.equal(await allowOf({ host: 'api.example' }), 'OPTIONS, PUT')
  t.equal(await allowOf({ 'accept-version': '1.x', host: 'other.example' }), undefined)
})

t.test('returns 404 for a URL that the routes of other methods cannot parse', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders/:id', async () => ({}))
  t.equal((await app.inject({ method: 'PUT', url: `/orders/${'9'.repeat(101)}` })).statusCode, 404)
  t.equal((await app.inject({ method: 'GET', url: `/orders/${'9'.repeat(101)}` })).statusCode, 414)
})

t.test('refuses TRACE even if it has a route, and never lists it in Allow', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.all('/everything', async () => 'echo')
  const response = await app.inject({ method: 'TRACE' as 'GET', url: '/everything' })
  t.equal(response.statusCode, 405)
  t.equal(response.headers.allow, 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY')
})

t.test('supports methods that were added to Fastify', async (t) => {
  const app = Fastify()
  app.addHttpMethod('PROPFIND')
  await app.register(httpMethods)
  app.route({ method: 'PROPFIND', url: '/folder', handler: async () => ({}) })
  app.get('/orders', async () => [])
  t.equal((await app.inject({ url: '/folder' })).headers.allow, 'OPTIONS, PROPFIND')
  t.equal((await app.inject({ method: 'PROPFIND' as 'GET', url: '/orders' })).statusCode, 405)
})

t.test('a handler that calls callNotFound responds with 404', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders/:id', async (_request, reply) => reply.callNotFound())
  const response = await app.inject({ url: '/orders/5' })
  t.equal(response.statusCode, 404)
  t.equal(response.headers.allow, undefined)
})

async function http2Service(t: Test, prepare: (app: FastifyInstance) => void) {
  const app = Fastify({ http2: true }) as unknown as FastifyInstance
  await app.register(httpMethods)
  prepare(app)
  app.get('/orders', async () => [])
  app.get('/orders/:id', async (_request, reply) => reply.code(404).send({}))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const session = http2.connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(async () => {
    session.close()
    await app.close()
  })
  return async (method: string, path: string) => {
    const stream = session.request({ ':method': method, ':path': path })
    const [headers] = await once(stream, 'response')
    let body = ''
    for await (const chunk of stream) body += chunk
    const { code, by } = JSON.parse(body)
    return { status: headers[':status'], allow: headers.allow, code, by }
  }
}

t.test('over HTTP/2, returns 501 for any text as a method, and 405 for wrong methods [X1]', async (t) => {
  const call = await http2Service(t, () => {})
  for (const method of ['BREW', 'get', 'PROPFIND']) {
    t.match(await call(method, '/orders'), { status: 501, allow: undefined, code: 'METHOD_NOT_IMPLEMENTED' }, method)
  }
  t.match(await call('DELETE', '/orders'), { status: 405, allow: 'GET, HEAD, OPTIONS', code: 'METHOD_NOT_ALLOWED' })
  t.match(await call('DELETE', '/nothing'), { status: 404, allow: undefined, code: 'RESOURCE_NOT_FOUND' })
  t.match(await call('GET', '/orders/5'), { status: 404, code: undefined })
})

t.test('over HTTP/2, does not change the response of an error handler that sets another status', async (t) => {
  const call = await http2Service(t, (app) =>
    app.setErrorHandler((error: FastifyError, _request, reply) =>
      reply.code(error.code === 'FST_ERR_NOT_FOUND' ? 501 : (error.statusCode ?? 500)).send({ by: 'service', code: error.code })
    )
  )
  t.match(await call('BREW', '/orders'), { status: 501, by: 'service', code: 'FST_ERR_NOT_FOUND' })
  t.match(await call('PROPFIND', '/orders'), { status: 501, by: 'service', code: 'METHOD_NOT_IMPLEMENTED' })
  t.match(await call('DELETE', '/nothing'), { status: 404, by: 'service', code: 'RESOURCE_NOT_FOUND' })
})

t.test('in a child context, covers the paths below its prefix and no others', async (t) => {
  const app = Fastify()
  app.get('/orders', async () => [])
  await app.register(
    async (v2) => {
      await v2.register(httpMethods)
      v2.get('/orders', async () => [])
    },
    { prefix: '/v2' }
  )
  t.match(await app.inject({ method: 'POST', url: '/v2/orders' }), { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
  t.match(await app.inject({ method: 'OPTIONS', url: '/v2/orders' }), { statusCode: 204, headers: { allow: 'GET, HEAD, OPTIONS' } })
  t.equal((await app.inject('/v2/nothing')).json().code, 'RESOURCE_NOT_FOUND')
  for (const method of ['POST', 'OPTIONS'] as const) {
    const response = await app.inject({ method, url: '/orders' })
    t.strictSame(response.json(), { message: `Route ${method}:/orders not found`, error: 'Not Found', statusCode: 404 })
  }
})

t.test('returns 404 for an empty path parameter, whatever the method', async (t) => {
  const app = Fastify()
  await app.register(httpMethods)
  app.get('/orders', async () => [])
  app.get('/orders/:id', async ({ params }) => params)
  app.put('/orders/:id/lines/:line', async ({ params }) => params)
  app.get('/files/*', async ({ params }) => params)
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'] as const)
    for (const url of ['/orders/', '/orders/?page=1', '/orders//lines/1', '/orders/1/lines/']) {
      const response = await app.inject({ method, url })
      t.strictSame([response.statusCode, response.headers.allow], [404, undefined], `${method} ${url}`)
    }
  t.equal((await app.inject('/orders')).statusCode, 200)
  t.strictSame((await app.inject('/orders/1')).json(), { id: '1' })
  t.strictSame((await app.inject('/files/')).json(), { '*': '' }, 'a wildcard may be empty')
})
