// In a process of its own: it listens to the warnings of the process, and has its garbage collected.
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { contribute } from '@concordat/plugin-kit/wiring'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t, { type Test } from 'tap'

const secret = 'canary-8f3a'

function fail(): never {
  throw new Error(secret)
}

interface Setting {
  server?: FastifyServerOptions & Record<string, unknown>
  options?: ErrorCatalogueOptions
  before?: (app: FastifyInstance) => void
}

/** Starts a service, and returns functions that send bytes to it. */
async function service(t: Test, { server = {}, options = {}, before }: Setting = {}) {
  const app = Fastify({ ...errorCatalogueServerOptions(), ...server } as FastifyServerOptions)
  before?.(app)
  contribute(app, 'earlyHeaders', ({ id = 'none' }) => ({ 'Request-Id': id, 'X-Frame-Options': 'DENY' }))
  await app.register(errorCatalogue, options)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  app.get('/fine', async () => ({ fine: true }))
  app.get('/slow', async () => {
    await released
    return { slow: true }
  })
  app.post('/echo', async (request) => ({ got: request.body }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return { app, port, release, open: () => opened(port), sendBytes: (bytes: string) => conversation(connect(port, '127.0.0.1'), bytes) }
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

// Returns everything that the server sends until it closes the connection.
async function conversation(socket: Socket, bytes: string): Promise<string> {
  socket.write(bytes, 'latin1')
  return rest(socket)
}

async function rest(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return text
}

async function until(socket: Socket, wanted: string): Promise<string> {
  let text = ''
  while (!text.includes(wanted)) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    text += chunk.toString()
  }
  return text
}

function isResponse(t: Test, received: string, statusCode: number, code: string, self: object = {}) {
  const [head = '', body = ''] = received.split('\r\n\r\n')
  const title = `${statusCode} ${code}`
  t.equal(head.split(' ')[1], String(statusCode), title)
  t.match(head, /\r\ndate: /i, `${title}: date`)
  t.match(head, /\r\nconnection: close/i, `${title}: closes`)
  t.match(head, /\r\nx-frame-options: DENY\r\n/i, `${title}: constant headers`)
  t.match(head.toLowerCase(), `content-length: ${Buffer.byteLength(body)}`, `${title}: length`)
  t.match(JSON.parse(body), {
    error: { status: statusCode, code },
    // Without a host, links are relative.
    _links: [{ rel: 'self', href: /^(?:http:\/\/127\.0\.0\.[12]:\d+)?\//, method: String, ...self }],
    _meta: { version: 'v1', timestamp: String }
  })
  t.notOk(received.includes(secret), `${title}: no internal details`)
}

async function isAlive(t: Test, sendBytes: (bytes: string) => Promise<string>) {
  t.match(await sendBytes('GET /fine HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'), /^HTTP\/1\.1 200 OK/, 'still alive')
}

t.test('responds in the envelope to bytes that are not an HTTP request [E5]', async (t) => {
  const { sendBytes } = await service(t)
  // One for each way of such bytes through the server; all forms of them are in the table of conventions/test/hostile.
  const cases: readonly (readonly [string, number, string, object?])[] = [
    ['not an HTTP request\r\n\r\n', 400, 'MALFORMED_REQUEST', { method: 'UNKNOWN' }],
    ['GET /x?token=1&a=2 HTTP/1.1\r\nno colon\r\n\r\n', 400, 'MALFORMED_REQUEST', { method: 'GET', href: /\/x\?a=2$/ }],
    ['GET /\xe9 HTTP/1.1\r\nhost: a\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['GET / HTTP/3.7\r\nhost: a\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'HTTP_VERSION_NOT_SUPPORTED'],
    ['BREW /pot HTTP/1.1\r\nhost: a\r\n\r\n', 501, 'METHOD_NOT_IMPLEMENTED', { method: 'BREW', href: /\/pot$/ }],
    ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n', 400, 'MALFORMED_REQUEST', { method: 'POST' }],
    [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE', { method: 'GET' }],
    [`GET /${'a'.repeat(17_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 414, 'URI_TOO_LONG']
  ]
  for (const [bytes, statusCode, code, self] of cases) {
    t.comment(JSON.stringify(bytes.slice(0, 60)))
    isResponse(t, await sendBytes(bytes), statusCode, code, self)
  }
  await isAlive(t, sendBytes)
})

t.test('rejects requests that Node.js accepts but HTTP does not allow', async (t) => {
  const { sendBytes } = await service(t)
  const end = 'connection: close\r\n\r\n'
  const cases: readonly (readonly [string, number, string])[] = [
    [`GET /fine HTTP/1.1\r\n${end}`, 400, 'MISSING_HOST'],
    [`GET /fine HTTP/1.1\r\nhost: a\r\nHost: b\r\n${end}`, 400, 'DUPLICATE_HEADER'],
    [`GET /fine HTTP/1.1\r\nhost: a\r\nauthorization: a\r\nAuthorization: b\r\n${end}`, 400, 'DUPLICATE_HEADER'],
    [`POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: a/b\r\ncontent-type: c/d\r\n${end}`, 400, 'DUPLICATE_HEADER'],
    [`POST /echo HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n${end}0\r\n\r\n`, 501, 'TRANSFER_CODING_NOT_IMPLEMENTED'],
    [`GET /${'a'.repeat(8192)} HTTP/1.1\r\nhost: a\r\n${end}`, 414, 'URI_TOO_LONG'],
    [`GET /nowhere HTTP/1.1\r\n${end}`, 400, 'MISSING_HOST']
  ]
  for (const [bytes, statusCode, code] of cases)
    t.match(await sendBytes(bytes), new RegExp(`^HTTP/1\\.1 ${statusCode} [^]*"code":"${code}"`), code)
  t.match(await sendBytes('GET /fine\r\n\r\n'), /^HTTP\/1\.1 505 [^]*HTTP_VERSION_NOT_SUPPORTED/, 'HTTP/0.9')
  for (const bytes of [
    'GET /fine HTTP/1.0\r\n\r\n',
    `GET /fine HTTP/1.1\r\nhost: a\r\naccept: a/b\r\nAccept: c/d\r\nto-many-thing: 1\r\n${end}`,
    `POST /echo HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: Chunked\r\ncontent-type: application/json\r\n${end}2\r\n{}\r\n0\r\n\r\n`,
    `GET /fine?${'a'.repeat(8192 - 6)} HTTP/1.1\r\nhost: a\r\n${end}`,
    `GET http://elsewhere/fine HTTP/1.1\r\nhost: a\r\n${end}`
  ]) {
    t.match(await sendBytes(bytes), /^HTTP\/1\.1 200 OK/, bytes.slice(0, 40))
  }
})

t.test('responds with 408 when a request stalls, and with 503 when a handler does not respond', async (t) => {
  const stalled = await service(t, { server: { requestTimeout: 400, http: { headersTimeout: 200, connectionsCheckingInterval: 10 } } })
  isResponse(t, await stalled.sendBytes('GET /fine HTTP/1.1\r\nhost: a\r\n'), 408, 'REQUEST_TIMEOUT', { method: 'UNKNOWN' })
  isResponse(
    t,
    await stalled.sendBytes('POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{'),
    408,
    'REQUEST_TIMEOUT',
    {
      method: 'POST',
      href: /\/echo$/
    }
  )
  // Long enough for the bytes to arrive on a busy machine: a connection that is closed before is reset.
  const idle = await service(t, { server: { connectionTimeout: 400 } })
  isResponse(t, await idle.sendBytes('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n'), 503, 'HANDLER_TIMEOUT', { method: 'GET', href: /\/slow$/ })
  isResponse(
    t,
    await idle.sendBytes('POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{'),
    408,
    'REQUEST_TIMEOUT'
  )
  await isAlive(t, idle.sendBytes)
})

t.test('closes an idle connection without a response, before its first request and after its last', async (t) => {
  const before = await service(t, { server: { connectionTimeout: 40 } })
  t.equal(await before.sendBytes(''), '')
  const after = await service(t, { server: { keepAliveTimeout: 20, http: { keepAliveTimeoutBuffer: 0 } } })
  const received = await after.sendBytes('GET /fine HTTP/1.1\r\nhost: a\r\n\r\n')
  t.match(received, /^HTTP\/1\.1 200 OK[^]*\{"fine":true\}$/)
})

t.test('meets or rejects an expectation immediately (RFC 9110 §10.1.1)', async (t) => {
  const { app, sendBytes, port } = await service(t, {
    before: (app) => {
      app.addHook('onRequest', async (request) => {
        // Plugins listen to the end of the request. That does not read its body.
        request.raw.on('close', () => {})
        if (request.headers.authorization === 'bad') throw Object.assign(new Error(secret), { statusCode: 403 })
      })
    }
  })
  t.ok(app)
  isResponse(t, await sendBytes('GET /fine HTTP/1.1\r\nhost: a\r\nexpect: teapot\r\n\r\n'), 417, 'EXPECTATION_FAILED')
  const head = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nexpect: 100-continue\r\n'

  const socket = await opened(port)
  socket.write(`${head}content-length: 2\r\n\r\n`)
  t.equal(await until(socket, '\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('{}')
  const echoed = await until(socket, '}}')
  t.match(echoed, /^HTTP\/1\.1 200 OK[^]*\{"got":\{\}\}$/)
  t.notMatch(echoed, /connection: close/i, 'the connection is kept')
  socket.end('GET /fine HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  t.match(await rest(socket), /^HTTP\/1\.1 200 OK/)

  const tooLarge = await sendBytes(`${head}content-length: 1048577\r\n\r\n`)
  t.match(tooLarge, /^HTTP\/1\.1 413 [^]*connection: close[^]*PAYLOAD_TOO_LARGE/i, 'the server does not request the body')
  const forbidden = await sendBytes(`${head}content-length: 2\r\nauthorization: bad\r\n\r\n`)
  t.match(forbidden, /^HTTP\/1\.1 403 [^]*connection: close[^]*FORBIDDEN/i, 'nor when a hook rejected the request')
})

t.test('sends 100 once for a body that is read in another way', async (t) => {
  const { port } = await service(t, {
    before: (app) => {
      app.addContentTypeParser('text/lines', async (_request: unknown, payload: AsyncIterable<Buffer>) => {
        let length = 0
        for await (const chunk of payload) length += chunk.length
        return length
      })
    }
  })
  const socket = await opened(port)
  socket.write(
    'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: text/lines\r\nexpect: 100-continue\r\ncontent-length: 2\r\nconnection: close\r\n\r\n'
  )
  t.equal(await until(socket, '\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  socket.write('ab')
  t.match(await rest(socket), /^HTTP\/1\.1 200 OK[^]*\{"got":2\}$/)
})

t.test('responds to CONNECT with 501, and a client that resets the connection does not end the process', async (t) => {
  const { sendBytes, open, release, app } = await service(t)
  isResponse(t, await sendBytes('CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n'), 501, 'METHOD_NOT_IMPLEMENTED', {
    method: 'CONNECT',
    href: /\d\/$/
  })
  const closed = new Promise((resolve) => app.server.once('connection', (socket: Socket) => socket.once('close', resolve)))
  const socket = await open()
  socket.write('CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n')
  await until(socket, '501')
  socket.resetAndDestroy()
  await closed
  const waiting = sendBytes('GET /slow HTTP/1.1\r\nhost: a\r\n\r\nCONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n')
  await isAlive(t, sendBytes)
  release()
  t.match(await waiting, /^HTTP\/1\.1 200 OK[^]*\{"slow":true\}HTTP\/1\.1 501 /, 'the response to the previous request is sent first')
})

t.test('responds to the methods of RTSP with 501, without a line in the log', async (t) => {
  let log = ''
  const logger = { level: 'info', stream: { write: (line: string) => (log += line) } }
  const { sendBytes } = await service(t, { server: { logger } })
  log = ''
  const others = ['PAUSE', 'RECORD', 'REDIRECT', 'SET_PARAMETER', 'TEARDOWN']
  for (const method of ['ANNOUNCE', 'DESCRIBE', 'FLUSH', 'GET_PARAMETER', 'PLAY', 'SETUP', ...others]) {
    const response = await sendBytes(`${method} /fine RTSP/1.0\r\nConnection: close\r\n\r\n`)
    t.match(response, /^HTTP\/1\.1 501 Not Implemented\r\n/, method)
    t.match(response, `"method":"${method}"`)
    t.match(response, /x-frame-options: DENY/i)
  }
  t.equal(log, '')
})

t.test('responds once to a malformed request, after the response to the valid request before it', async (t) => {
  const { sendBytes, open, release } = await service(t)
  const fine = 'GET /fine HTTP/1.1\r\nhost: a\r\n\r\n'
  const responses = await sendBytes(`${fine}${fine}nonsense\r\n\r\n`)
  t.match(responses, /^HTTP\/1\.1 200 OK[^]*\{"fine":true\}HTTP\/1\.1 200 OK[^]*\{"fine":true\}HTTP\/1\.1 400 Bad Request/)

  const kept = await open()
  kept.write(fine)
  await until(kept, '}')
  isResponse(t, await conversation(kept, 'nonsense\r\n\r\n'), 400, 'MALFORMED_REQUEST')

  const behind = await open()
  behind.write(`${fine}GET /slow HTTP/1.1\r\nhost: a\r\n\r\n`)
  await until(behind, '}')
  behind.write('nonsense\r\n\r\n')
  const behindAll = rest(behind)

  const warnings: Error[] = []
  const warn = (warning: Error) => void warnings.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const slow = await open()
  slow.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\n')
  const responded = rest(slow)
  for (let packet = 0; packet < 30; packet++) {
    slow.write('nonsense\r\n\r\n')
    await isAlive(t, sendBytes)
  }
  release()
  const all = await responded
  t.equal(all.match(/HTTP\/1\.1 400/g)?.length, 1, 'one response to everything that followed')
  t.match(all, /^HTTP\/1\.1 200 OK[^]*\{"slow":true\}HTTP\/1\.1 400/)
  t.strictSame(warnings, [], 'listeners do not accumulate while it waits')
  t.match(await behindAll, /^HTTP\/1\.1 200 OK[^]*\{"slow":true\}HTTP\/1\.1 400/)
})

t.test('a client that disconnects before the response does not affect the service', async (t) => {
  const { app, sendBytes, open, release } = await service(t)
  const closed = new Promise((resolve) => app.server.once('connection', (socket: Socket) => socket.once('close', resolve)))
  const socket = await open()
  const refused = once(app.server, 'clientError')
  socket.write('GET /slow HTTP/1.1\r\nhost: a\r\n\r\nnonsense\r\n\r\n')
  await refused
  socket.resetAndDestroy()
  await closed
  release()
  await isAlive(t, sendBytes)
})

t.test('responds to the request whose body is incomplete or malformed', async (t) => {
  const { app, sendBytes, open } = await service(t)
  const head = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
  const self = { method: 'POST', href: /\/echo$/ }
  isResponse(t, await sendBytes(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n`), 400, 'MALFORMED_REQUEST', self)
  isResponse(
    t,
    await sendBytes(`${head}transfer-encoding: chunked\r\n\r\n5;${'e'.repeat(17_000)}\r\n{"a":`),
    413,
    'PAYLOAD_TOO_LARGE',
    self
  )
  const socket = await open()
  socket.end(`${head}content-length: 9\r\n\r\n{`)
  isResponse(t, await rest(socket), 400, 'MALFORMED_REQUEST', self)
  const reset = await open()
  const aborted = new Promise<void>((resolve) => app.server.once('request', (request) => request.once('close', () => resolve())))
  reset.write(`${head}content-length: 9\r\n\r\n{`)
  reset.resetAndDestroy()
  await Promise.race([aborted, isAlive(t, sendBytes)])
  await isAlive(t, sendBytes)
})

t.test('cuts off a response that has started instead of mixing it with another', async (t) => {
  const { sendBytes } = await service(t, {
    before: (app) => {
      app.addContentTypeParser('text/stream', (_request, _payload, done) => done(null))
      app.post('/early', (_request, reply) => {
        reply.hijack()
        reply.raw.writeHead(200, { 'content-length': 100 })
        reply.raw.write('part')
      })
    }
  })
  const received = await sendBytes(
    'POST /early HTTP/1.1\r\nhost: a\r\ncontent-type: text/stream\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n'
  )
  t.match(received, /^HTTP\/1\.1 200 OK[^]*\r\n\r\npart$/)
  await isAlive(t, sendBytes)
})

t.test('responds with 500 when a function of the service throws before routing, and the process continues', async (t) => {
  const cases: readonly FastifyServerOptions[] = [
    { genReqId: (raw) => (raw.url === '/fine' ? 'id' : fail()) },
    { rewriteUrl: (raw) => (raw.url === '/fine' ? '/fine' : fail()) },
    { routerOptions: { querystringParser: (text) => (text === '' ? {} : fail()) } },
    {
      logger: {
        level: 'info',
        stream: { write: () => undefined },
        serializers: { req: (request) => (request.url === '/fine' ? {} : fail()) }
      }
    }
  ]
  for (const server of cases) {
    const { sendBytes } = await service(t, { server })
    isResponse(t, await sendBytes('GET /fine?a=1 HTTP/1.1\r\nhost: a\r\n\r\n'), 500, 'INTERNAL_ERROR', {
      method: 'GET',
      href: /\/fine\?a=1$/
    })
    t.match(await sendBytes('HEAD /fine?a=1 HTTP/1.1\r\nhost: a\r\n\r\n'), /^HTTP\/1\.1 500 [^]*content-length: \d{3}[^]*\r\n\r\n$/)
    await isAlive(t, sendBytes)
  }
  const lines: string[] = []
  const logged = await service(t, {
    server: { genReqId: fail, logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } }
  })
  const received = await logged.sendBytes('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const { msg, reqId } = JSON.parse(lines[0] as string)
  t.equal(msg, 'error-catalogue: a request failed before routing')
  t.match(received, `request-id: ${reqId}`, 'the id by which the failure is logged')
})

t.test('cuts off the response when a listener throws after it started', async (t) => {
  const { sendBytes } = await service(t, {
    before: (app) => {
      app.server.prependListener('request', (request, response) => {
        if (request.url !== '/half') return
        response.writeHead(200, { 'content-length': 100 })
        response.write('part')
        throw new Error(secret)
      })
    }
  })
  t.match(await sendBytes('GET /half HTTP/1.1\r\nhost: a\r\n\r\n'), /^(HTTP\/1\.1 200 OK[^]*\r\n\r\npart)?$/)
  await isAlive(t, sendBytes)
})

/** Closes the service, and returns its response to a request that arrives meanwhile. */
async function closingResponse({ app, sendBytes }: Pick<Awaited<ReturnType<typeof service>>, 'app' | 'sendBytes'>) {
  const close = app.server.close.bind(app.server)
  const during = Promise.withResolvers<string>()
  // Between the preClose hooks of Fastify and the end of the server, connections are still accepted.
  app.server.close = (done) => {
    during.resolve(sendBytes('GET /fine HTTP/1.1\r\nhost: a\r\n\r\n').finally(() => close(done)))
    return app.server
  }
  await app.close()
  return during.promise
}

t.test('a closing service serves the requests that still arrive, with connection: close', async (t) => {
  const received = await closingResponse(await service(t))
  t.match(received, /^HTTP\/1\.1 200 /)
  t.match(received, /\r\nconnection: close\r\n/i)
})

t.test(
  'a closing service without the server options responds with 503 and Retry-After, and not with the text of Fastify [X1]',
  async (t) => {
    const server = { return503OnClosing: true, clientErrorHandler: () => {} }
    const received = await closingResponse(await service(t, { server }))
    isResponse(t, received, 503, 'SERVICE_UNAVAILABLE', { href: /\/fine$/ })
    t.match(received, /retry-after: 5/)
  }
)

t.test('on a server without the server options it responds to what Node.js and Fastify leave to several listeners', async (t) => {
  const app = Fastify({ http: { headersTimeout: 200, connectionsCheckingInterval: 10 }, requestTimeout: 400 })
  contribute(app, 'earlyHeaders', () => ({ 'X-Frame-Options': 'DENY' }))
  await app.register(errorCatalogue)
  app.get('/fine', async () => ({ fine: true }))
  app.post('/echo', async (request) => ({ got: request.body }))
  await app.listen({ host: 'localhost', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  for (const address of localhostAddresses) {
    const sendBytes = (bytes: string) => conversation(connect(port, address), bytes)
    const post = 'POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n'
    for (const [bytes, status, code] of [
      ['not an HTTP request\r\n\r\n', 400, 'MALFORMED_REQUEST'],
      ['GET /fine HTTP/1.1\r\nhost: a\r\n', 408, 'REQUEST_TIMEOUT'],
      ['GET /fine HTTP/1.1\r\nhost: a\r\nexpect: teapot\r\n\r\n', 417, 'EXPECTATION_FAILED'],
      ['CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n', 501, 'METHOD_NOT_IMPLEMENTED']
    ] as const)
      isResponse(t, await sendBytes(bytes), status, code)
    const continued = await sendBytes(`${post}content-length: 2\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n{}`)
    t.match(continued, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK[^]*\{"got":\{\}\}$/)
    t.match(await sendBytes(`${post}content-length: 1048577\r\nexpect: 100-continue\r\n\r\n`), /^HTTP\/1\.1 413 [^]*PAYLOAD_TOO_LARGE/)
    await isAlive(t, sendBytes)
  }
})

t.test('an idle connection does not keep its last request in memory', async (t) => {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  let body: WeakRef<object> | undefined
  const { port } = await service(t, {
    before: (app) => {
      app.addHook('preHandler', async (request) => {
        if (request.url === '/echo') body = new WeakRef(request.body as object)
      })
    }
  })
  const socket = await opened(port)
  socket.write('POST /echo HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"a":"b"}')
  await until(socket, '}}')
  for (let turn = 0; turn < 20 && body?.deref() !== undefined; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  t.equal(body?.deref(), undefined)
  socket.destroy()
})

t.test('sends the same errors over HTTP/2 and TLS [E5]', async (t) => {
  const key = Buffer.alloc(16, 7)
  // A pre-shared key replaces certificates.
  const tls = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const
  const app = Fastify({ ...errorCatalogueServerOptions(), http2: true, https: { ...tls, pskCallback: () => key } })
  contribute(app as never, 'earlyHeaders', () => ({ 'x-frame-options': 'DENY' }))
  await app.register(errorCatalogue)
  app.get('/fine', async () => ({ fine: true }))
  app.get('/long', async () => {
    throw Object.assign(Object.create({ [Symbol.for('concordat.ApiError')]: true }), {
      statusCode: 409,
      code: 'LONG',
      message: 'long '.repeat(20_000)
    })
  })
  app.get('/split', (_request, reply) => reply.callNotFound())
  app.addHook('onSend', async (request) => {
    if (request.url === '/fine?fails') throw new Error(secret)
  })
  app.post('/echo', async (request) => ({ got: request.body }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  const client = { ...tls, pskCallback: () => ({ psk: key, identity: 'client' }), checkServerIdentity: () => undefined }
  const session = connectHttp2(`https://127.0.0.1:${port}`, client)
  t.teardown(() => session.close())

  const call = async (headers: Record<string, string | string[]>, body: string | undefined = '') => {
    const stream = session.request(headers, { endStream: false })
    // A client that waits for 100 does not send its body yet.
    if (headers['content-length'] === undefined) stream.end(body)
    const responded = once(stream, 'response') as Promise<[Record<string, unknown>]>
    const text = (await stream.toArray()).join('')
    const [received] = await responded
    return { status: received[':status'], headers: received, text }
  }
  const isError = async (headers: Record<string, string | string[]>, status: number, code: string, body?: string) => {
    const received = await call(headers, body)
    t.equal(received.status, status, code)
    const { error, _links } = JSON.parse(received.text)
    t.match(error, { status, code })
    t.match(_links, [{ rel: 'self', href: /^https:\/\/127\.0\.0\.1/, method: headers[':method'] ?? 'GET' }])
    t.equal(received.headers['content-length'], String(Buffer.byteLength(received.text)))
    t.notOk(received.text.includes(secret))
    return received
  }
  t.equal((await call({ ':path': '/fine' })).text, '{"fine":true}')
  await isError({ ':path': '/nowhere' }, 404, 'RESOURCE_NOT_FOUND')
  t.equal((await isError({ ':path': '/%zz' }, 400, 'MALFORMED_URI')).headers['x-frame-options'], 'DENY')
  await isError({ ':path': '/long' }, 409, 'LONG')
  await isError({ ':path': '/fine?fails' }, 500, 'INTERNAL_ERROR')
  await isError({ ':path': '/split' }, 404, 'RESOURCE_NOT_FOUND')
  await isError({ ':path': '/fine', expect: 'teapot' }, 417, 'EXPECTATION_FAILED')
  await isError({ ':path': '/echo', ':method': 'POST', 'content-type': 'application/json' }, 400, 'MALFORMED_JSON', '{')
  t.equal(
    (await call({ ':path': '/echo', ':method': 'POST', 'content-type': 'application/json', expect: '100-continue' }, '{}')).text,
    '{"got":{}}'
  )
  await isError(
    { ':path': '/echo', ':method': 'POST', 'content-type': 'application/json', expect: '100-continue', 'content-length': '1048577' },
    413,
    'PAYLOAD_TOO_LARGE'
  )
  const head = await call({ ':path': '/%zz', ':method': 'HEAD' })
  t.match([head.status, head.text], [400, ''])

  const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'a:443' })
  const [refused] = (await once(tunnel, 'response')) as [Record<string, unknown>]
  t.equal(refused[':status'], 501)
  t.match(JSON.parse((await tunnel.toArray()).join('')), { error: { code: 'METHOD_NOT_IMPLEMENTED' } })

  const old = connectTls({ port, host: '127.0.0.1', ...client })
  t.match(await rest(old), /^HTTP\/1\.1 505 [^]*HTTP_VERSION_NOT_SUPPORTED/, 'a client without HTTP/2')
  const plain = await conversation(connect(port, '127.0.0.1'), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  // Ids and times in the response can contain any digits.
  t.notMatch(plain, /^HTTP\/1\.1 200/, 'plain HTTP on the TLS port does not get 200')
  t.equal((await call({ ':path': '/fine' })).text, '{"fine":true}', 'still alive')
})

t.test('plain HTTP on an HTTPS port ends only its connection', async (t) => {
  const app = Fastify({
    ...errorCatalogueServerOptions(),
    https: { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2', pskCallback: () => Buffer.alloc(16, 7) }
  })
  await app.register(errorCatalogue)
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  for (let time = 0; time < 2; time++) {
    const received = await conversation(connect(port, '127.0.0.1'), 'GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    t.notMatch(received, /HTTP\/1\.1 200/)
  }
  const secure = connectTls({
    port,
    host: '127.0.0.1',
    ciphers: 'PSK-AES128-GCM-SHA256',
    maxVersion: 'TLSv1.2',
    pskCallback: () => ({ psk: Buffer.alloc(16, 7), identity: 'client' }),
    checkServerIdentity: () => undefined
  })
  await once(secure, 'secureConnect')
  const received = await conversation(secure, 'nonsense\r\n\r\n')
  t.match(received, /^HTTP\/1\.1 400 [^]*"href":"\//)
})
