import transportSecurity, { type TransportSecurityServerOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { LogController } from 'fastify'
import t from 'tap'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

t.test('limits times and sizes by default', async (t) => {
  const { logController, genReqId, serverFactory, ...limits } = transportSecurityServerOptions()
  t.strictSame(limits, {
    requestIdHeader: false,
    trustProxy: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    http: {
      headersTimeout: 20_000,
      maxHeaderSize: 16_384,
      connectionsCheckingInterval: 5000,
      optimizeEmptyRequests: true,
      settings: { maxConcurrentStreams: 100 }
    }
  })
  t.type(serverFactory, 'function')
  t.ok(logController instanceof LogController)
  t.match(genReqId({ headers: {} }), /^[\da-f-]{36}$/)
})

t.test('takes seconds', async (t) => {
  const part = transportSecurityServerOptions({
    requestTimeoutSeconds: 60,
    keepAliveTimeoutSeconds: 5
  })
  t.match(part, {
    requestTimeout: 60_000,
    keepAliveTimeout: 5000,
    http: { headersTimeout: 20_000, connectionsCheckingInterval: 5000 }
  })
  const short = transportSecurityServerOptions({ requestTimeoutSeconds: 2.5 })
  t.match(short.http, { headersTimeout: 2500, connectionsCheckingInterval: 2500 }, 'the head is part of the request')
})

t.test('rejects invalid options with a one-line message', async (t) => {
  const refused: [unknown, RegExp][] = [
    [{ requestTimeoutSeconds: 0 }, /options\.requestTimeoutSeconds must be a number from 0\.001 to 86400, but is 0\.$/],
    [{ keepAliveTimeoutSeconds: Number.NaN }, /options\.keepAliveTimeoutSeconds must be a number from 0\.001 to 86400, but is NaN\.$/],
    [{ keepAliveTimeoutSeconds: 30_000_000 }, /options\.keepAliveTimeoutSeconds must be a number from 0\.001 to 86400, but is 30000000\.$/],
    [{ requestTimeoutSeconds: '30' }, /options\.requestTimeoutSeconds must be a number from 0\.001 to 86400, but is "30"\.$/]
  ]
  for (const [options, message] of refused) {
    t.throws(
      () => transportSecurityServerOptions(options as TransportSecurityServerOptions),
      { name: 'TypeError', message },
      JSON.stringify(options)
    )
  }
})

t.test('returns 408 for a head or a body that never ends, and 431 for a head that is too large', async (t) => {
  const app = Fastify(transportSecurityServerOptions({ requestTimeoutSeconds: 0.2 }))
  t.teardown(() => app.close())
  app.post('/', async () => ({}))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  t.match(await responseOf(send(app, head)), /^HTTP\/1\.1 408 /)
  t.match(await responseOf(send(app, `${head}Content-Length: 9\r\n\r\n{`)), /^HTTP\/1\.1 408 /)
  t.match(await responseOf(send(app, `${head}X-Long: ${'a'.repeat(16_384)}\r\n\r\n`)), /^HTTP\/1\.1 431 /)
})

t.test('closes an idle connection', async (t) => {
  const app = Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 0.05 }))
  t.teardown(() => app.close())
  app.get('/', async () => 'kept open')
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.match(await responseOf(send(app, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')), /kept open$/)
})

t.test('does not use an id that a client sends [H2]', async (t) => {
  const app = Fastify(transportSecurityServerOptions())
  await app.register(transportSecurity, localHttp)
  app.get('/', (request, reply) => reply.send(request.id))
  const response = await app.inject({ url: '/', headers: { 'request-id': 'theirs', 'x-request-id': 'theirs' } })
  t.match(response.body, /^[\da-f-]{36}$/)
  t.equal(response.headers['request-id'], response.body)
})

t.test('reads a request with a content type and no body as empty, whatever its method', async (t) => {
  const app = Fastify(transportSecurityServerOptions())
  t.teardown(() => app.close())
  await app.register(transportSecurity, { ...localHttp, handlerTimeoutSeconds: 1 })
  app.all('/', async (request) => ({ body: request.body ?? 'none' }))
  app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, { read: body }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const csv = await responseOf(
      send(app, `${method} / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\nConnection: close\r\n\r\n`)
    )
    t.match(csv, /^HTTP\/1\.1 200 [^]*\{"body":\{"read":""\}\}$/, method)
    const json = await responseOf(
      send(app, `${method} / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`)
    )
    t.match(json, /^HTTP\/1\.1 400 [^]*FST_ERR_CTP_EMPTY_JSON_BODY/, method)
  }
})
