import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import httpMethods from '@concordat/http-methods'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'PUT' }

async function service(prepare: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify()
  await app.register(httpMethods)
  prepare(app)
  app.get('/orders', async () => [])
  app.post('/orders', async () => ({}))
  app.put('/orders/:id', async () => ({}))
  return app
}

/** Acts as CORS plugins do: responds to preflights in a hook, and routes OPTIONS everywhere so that they reach the hook. */
function corsPlugin(app: FastifyInstance) {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('access-control-allow-origin', '*')
    if (request.method !== 'OPTIONS') return
    if (request.headers.origin === undefined) throw Object.assign(new Error('Invalid Preflight Request'), { statusCode: 400 })
    await reply.code(204).send()
  })
  app.options('*', async (_request, reply) => reply.callNotFound())
}

t.test('OPTIONS returns 204 with Allow for a known URL, and 404 for an unknown URL [M8]', async (t) => {
  const app = await service()
  const response = await app.inject({ method: 'OPTIONS', url: '/orders' })
  t.equal(response.statusCode, 204)
  t.equal(response.body, '')
  t.equal(response.headers.allow, 'GET, HEAD, OPTIONS, POST')
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders/5' })).headers.allow, 'OPTIONS, PUT')
  t.match((await app.inject({ method: 'OPTIONS', url: '/nothing' })).json(), { statusCode: 404, code: 'RESOURCE_NOT_FOUND' })
})

t.test('responds to OPTIONS before later onRequest hooks can require credentials [M8]', async (t) => {
  const app = await service((app) =>
    app.addHook('onRequest', async () => {
      throw Object.assign(new Error('credentials required'), { statusCode: 401 })
    })
  )
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders' })).statusCode, 204)
})

t.test('an OPTIONS route of the service takes precedence', async (t) => {
  const app = await service((app) => app.options('/orders', async () => 'my own'))
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders' })).body, 'my own')
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders/5' })).statusCode, 204)
})

t.test('leaves preflights to CORS plugins, and responds to every other OPTIONS request', async (t) => {
  const app = await service(corsPlugin)
  const left = await app.inject({ method: 'OPTIONS', url: '/orders', headers: preflight })
  t.equal(left.statusCode, 204)
  t.equal(left.headers.allow, undefined)
  t.equal(left.headers['access-control-allow-origin'], '*')
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders' })).headers.allow, 'GET, HEAD, OPTIONS, POST')
  for (const part of [{ origin: 'https://shop.example' }, { 'access-control-request-method': 'PUT' }]) {
    t.equal((await app.inject({ method: 'OPTIONS', url: '/orders', headers: part })).headers.allow, 'GET, HEAD, OPTIONS, POST')
  }
  const wrong = await app.inject({ method: 'DELETE', url: '/nothing' })
  t.equal(wrong.statusCode, 404, 'the catch-all for OPTIONS does not count as a route')
  t.equal(wrong.headers['access-control-allow-origin'], '*')
})

t.test('a catch-all for OPTIONS under a prefix does not count as a route either', async (t) => {
  const app = await service((app) => {
    app.register(
      async (v1) => {
        v1.options('*', async (_request, reply) => reply.callNotFound())
        v1.get('/orders', async () => [])
      },
      { prefix: '/v1' }
    )
  })
  t.equal((await app.inject({ method: 'OPTIONS', url: '/v1/orders' })).headers.allow, 'GET, HEAD, OPTIONS')
  t.equal((await app.inject({ method: 'OPTIONS', url: '/v1/nothing' })).json().code, 'RESOURCE_NOT_FOUND')
})

t.test('a preflight without a response from a CORS plugin is handled like any other OPTIONS request [M8]', async (t) => {
  const app = await service()
  const response = await app.inject({ method: 'OPTIONS', url: '/orders', headers: preflight })
  t.match(response, { statusCode: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST' } })
  t.equal((await app.inject({ method: 'OPTIONS', url: '/nothing', headers: preflight })).statusCode, 404)
})

t.test('OPTIONS * lists every method that has a route [M8]', async (t) => {
  for (const prepare of [() => {}, corsPlugin]) {
    const app = await service(prepare)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await rawResponse(app, 'OPTIONS *')
    t.match(response, /^HTTP\/1\.1 204 /)
    t.match(response, /\r\nallow: GET, HEAD, OPTIONS, POST, PUT\r\n/)
    t.match(await rawResponse(app, 'GET *'), /^HTTP\/1\.1 404 /, 'with another method, * is not a known URL')
    await app.close()
  }
})

async function rawResponse(app: FastifyInstance, target: string) {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.end(`${target} HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n\r\n`)
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk
  })
  await once(socket, 'close')
  return response
}

t.test('HEAD has the status and headers of GET, and no body [M7]', async (t) => {
  const app = await service((app) => {
    app.get('/items', async (_request, reply) =>
      reply
        .header('etag', '"7"')
        .header('cache-control', 'private')
        .send([{ id: 1, name: 'é' }])
    )
    app.get('/refused', async () => {
      throw Object.assign(new Error('no'), { statusCode: 409, headers: { 'retry-after': '3' } })
    })
    app.get('/text', async () => 'plain')
  })
  for (const url of ['/items', '/refused', '/text', '/orders']) {
    const [get, head] = [await app.inject({ url }), await app.inject({ method: 'HEAD', url })]
    const { date: _, ...expected } = get.headers
    const { date: __, ...found } = head.headers
    t.equal(head.statusCode, get.statusCode, url)
    t.strictSame(found, expected, url)
    t.not(get.body, '')
    t.equal(head.body, '')
  }
  for (const [url, status] of [
    ['/nothing', 404],
    ['/orders/5', 405]
  ] as const) {
    const head = await app.inject({ method: 'HEAD', url })
    t.equal(head.statusCode, status)
    t.equal(head.body, '')
  }
})
