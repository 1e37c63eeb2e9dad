import transportSecurity, {
  newRequestId,
  type TransportSecurityServerOptions,
  transportSecurityServerOptions
} from '@concordat/transport-security'
import Fastify, { LogController } from 'fastify'
import t from 'tap'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

t.test('limits times and sizes by default', async (t) => {
  const { logController, genReqId, ...limits } = transportSecurityServerOptions()
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
  t.ok(logController instanceof LogController)
  t.equal(genReqId, newRequestId)
})

t.test('takes seconds and bytes', async (t) => {
  const part = transportSecurityServerOptions({
    requestTimeoutSeconds: 60,
    headersTimeoutSeconds: 2.5,
    keepAliveTimeoutSeconds: 5,
    maxHeaderBytes: 8192,
    logLinesPerRequest: 2
  })
  t.match(part, {
    requestTimeout: 60_000,
    keepAliveTimeout: 5000,
    http: { headersTimeout: 2500, maxHeaderSize: 8192, connectionsCheckingInterval: 2500 }
  })
  t.notOk('logController' in part)
  t.equal(transportSecurityServerOptions({ requestTimeoutSeconds: 3 }).http.headersTimeout, 3000, 'the head is part of the request')
})

t.test('rejects invalid options with a one-line message', async (t) => {
  const refused: [unknown, RegExp][] = [
    [{ requestTimeoutSeconds: 0 }, /options\.requestTimeoutSeconds must be a number from 0\.001 to 86400, but is 0\.$/],
    [{ keepAliveTimeoutSeconds: Number.NaN }, /options\.keepAliveTimeoutSeconds must be a number from 0\.001 to 86400, but is NaN\.$/],
    [{ keepAliveTimeoutSeconds: 30_000_000 }, /options\.keepAliveTimeoutSeconds must be a number from 0\.001 to 86400, but is 30000000\.$/],
    [{ requestTimeoutSeconds: '30' }, /options\.requestTimeoutSeconds must be a number from 0\.001 to 86400, but is "30"\.$/],
    [{ headersTimeoutSeconds: 31 }, /options\.headersTimeoutSeconds must be at most options\.requestTimeoutSeconds/],
    [{ maxHeaderBytes: 100 }, /options\.maxHeaderBytes must be an integer from 1024 to 1048576, but is 100\.$/],
    [{ maxHeaderBytes: 2_000_000 }, /options\.maxHeaderBytes must be an integer from 1024 to 1048576, but is 2000000\.$/],
    [{ maxHeaderBytes: 5000.5 }, /options\.maxHeaderBytes must be an integer from 1024 to 1048576, but is 5000\.5\.$/],
    [{ maxConcurrentStreams: 0 }, /options\.maxConcurrentStreams must be an integer from 1 to 65535, but is 0\.$/],
    [{ logLinesPerRequest: 3 }, /options\.logLinesPerRequest must be 1 or 2, but is 3\.$/],
    [{ remoteAddress: 'some' }, /options\.remoteAddress must be "none" or "truncate" or "full", but is "some"\.$/]
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
  const app = Fastify(transportSecurityServerOptions({ requestTimeoutSeconds: 0.3, headersTimeoutSeconds: 0.1, maxHeaderBytes: 1024 }))
  t.teardown(() => app.close())
  app.post('/', async () => ({}))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  t.match(await responseOf(send(app, head)), /^HTTP\/1\.1 408 /)
  t.match(await responseOf(send(app, `${head}Content-Length: 9\r\n\r\n{`)), /^HTTP\/1\.1 408 /)
  t.match(await responseOf(send(app, `${head}X-Long: ${'a'.repeat(1200)}\r\n\r\n`)), /^HTTP\/1\.1 431 /)
})

t.test('closes an idle connection', async (t) => {
  const app = Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 0.05 }))
  t.teardown(() => app.close())
  app.get('/', async () => 'kept open')
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.match(await responseOf(send(app, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')), /kept open$/)
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
    const csv = await responseOf(send(app, `${method} / HTTP/1.1\r\nHost: a\r\nContent-Type: text/csv\r\nConnection: close\r\n\r\n`))
    t.match(csv, /^HTTP\/1\.1 200 [^]*\{"body":\{"read":""\}\}$/, method)
    const json = await responseOf(
      send(app, `${method} / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n`)
    )
    t.match(json, /^HTTP\/1\.1 400 [^]*FST_ERR_CTP_EMPTY_JSON_BODY/, method)
  }
})
