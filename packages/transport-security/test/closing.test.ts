import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
import { turns, until } from '@concordat/test-harness/until'
import transportSecurity, { type TransportSecurityOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type RouteHandlerMethod } from 'fastify'
import t from 'tap'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

async function listening(handler: RouteHandlerMethod, options: TransportSecurityOptions = {}): Promise<FastifyInstance> {
  // Longer than any test, so that a connection that stays open fails the test.
  return listen(Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 })), handler, {
    closeTimeoutSeconds: 600,
    ...options
  })
}

async function listen(app: FastifyInstance, handler: RouteHandlerMethod, options: TransportSecurityOptions) {
  await app.register(transportSecurity, { ...localHttp, ...options })
  app.addHook('preClose', (done) => {
    app.server.emit('closing begins')
    done()
  })
  app.get('/', handler)
  app.post('/', handler)
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

/** Returns a handler with a promise for its call and a function that sends its response. */
function waiting() {
  const requested = Promise.withResolvers<void>()
  const response = Promise.withResolvers<unknown>()
  const handler: RouteHandlerMethod = () => {
    requested.resolve()
    return response.promise
  }
  return { requested: requested.promise, response: response.resolve, handler }
}

t.test('a response that is pending when closing begins has connection: close, and does not delay closing', async (t) => {
  const { requested, response, handler } = waiting()
  const app = await listening(handler)
  const socket = send(app, request)
  await requested
  const closed = app.close()
  await once(app.server, 'closing begins')
  response({ fine: true })
  const text = await responseOf(socket)
  t.match(text, /^HTTP\/1\.1 200 /)
  t.match(text, /\r\nconnection: close\r\n/i)
  t.match(text, /\{"fine":true\}$/)
  await closed
})

t.test('keeps connections alive until closing begins', async (t) => {
  const app = await listening(async () => 'kept')
  const socket = send(app, request)
  const [first] = await once(socket, 'data')
  t.match(String(first), /\r\nconnection: keep-alive\r\n/i)
  socket.write(request)
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /)
  await app.close()
})

t.test('completes a response that has begun, and closes its connection', async (t) => {
  const goOn = Promise.withResolvers<string>()
  const app = await listening((_request, reply) =>
    reply.send(
      Readable.from(
        (async function* () {
          yield 'first '
          yield await goOn.promise
        })()
      )
    )
  )
  const socket = send(app, request)
  const [head] = await once(socket, 'data')
  t.match(String(head), /connection: keep-alive/i)
  const closed = app.close()
  await once(app.server, 'closing begins')
  goOn.resolve('last')
  t.match(await responseOf(socket), /last\r\n0\r\n\r\n$/)
  await closed
})

t.test('serves a request on an idle connection while another hook delays closing', async (t) => {
  const app = Fastify({ ...transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }), return503OnClosing: false })
  const drained = Promise.withResolvers<void>()
  app.addHook('preClose', () => drained.promise)
  await listen(app, async () => 'served', { closeTimeoutSeconds: 0.05 })
  const socket = send(app, request)
  await once(socket, 'data')
  const closed = app.close()
  const begunAt = performance.now()
  await until(() => performance.now() - begunAt > 200)
  socket.write(request)
  const text = await responseOf(socket)
  t.match(text, /^HTTP\/1\.1 200 /)
  t.match(text, /\r\nconnection: close\r\n/i)
  drained.resolve()
  await closed
})

t.test('on a server without the server options, it closes connections as Fastify does', async (t) => {
  const app = await listen(Fastify({ return503OnClosing: false }), async () => 'served', {})
  const socket = send(app, request)
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /)
  await Promise.all([app.close(), once(socket, 'close')])
})

t.test('closes a connection on which nothing was sent', async () => {
  const app = await listening(async () => 'unasked')
  const arrived = once(app.server, 'connection')
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await arrived
  await Promise.all([app.close(), once(socket, 'close')])
})

t.test('requests on connections that wait to be accepted when the service stops listening are served', async (t) => {
  const app = Fastify({ ...transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }), return503OnClosing: false })
  await listen(app, async () => 'served', { closeTimeoutSeconds: 600 })
  const responses = Promise.all(Array.from({ length: 30 }, () => responseOf(send(app, request))))
  // The system has made all connections by then. Node.js accepts one in each turn of the event loop.
  await once(app.server, 'connection')
  await app.close()
  for (const response of await responses) t.match(response, /^HTTP\/1\.1 200 [^]*served$/)
})

/** Starts a service with a hook that delays closing until `drained` is resolved, and closes it. */
async function draining(options: TransportSecurityOptions = {}) {
  const app = Fastify({ ...transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }), return503OnClosing: false })
  const drained = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  app.addHook('preClose', () => {
    begun.resolve()
    return drained.promise
  })
  await listen(app, async () => 'served', { closeTimeoutSeconds: 600, ...options })
  const closed = app.close()
  await begun.promise
  return { app, closed, stop: () => drained.resolve() }
}

t.test(
  'a connection that is opened while closing is delayed is kept, and serves a request after the service stopped listening',
  async (t) => {
    const { app, closed, stop } = await draining()
    const socket = send(app, request)
    const [first] = await once(socket, 'data')
    t.match(String(first), /^HTTP\/1\.1 200 /)
    t.notMatch(String(first), /connection: close/i)
    const last = send(app, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    t.match(await responseOf(last), /connection: close/i, 'a client that asks for it gets the header')
    stop()
    await until(() => !app.server.listening)
    socket.write(request)
    t.match(await responseOf(socket), /^HTTP\/1\.1 200 [^]*connection: close/i)
    await closed
  }
)

t.test('such a connection is closed when its client does not use it', async (t) => {
  const { app, closed, stop } = await draining()
  const socket = send(app, request)
  await once(socket, 'data')
  stop()
  await Promise.all([once(socket, 'close'), closed])
  t.notOk(app.server.listening)
})

t.test('closeTimeoutSeconds begins when the service stops listening, also after a longer delay', async (t) => {
  const { requested, response, handler } = waiting()
  const app = Fastify({ ...transportSecurityServerOptions(), return503OnClosing: false })
  await app.register(transportSecurity, { ...localHttp, closeTimeoutSeconds: 1 })
  app.addHook('preClose', async () => {
    const begunAt = performance.now()
    await until(() => performance.now() - begunAt > 1100)
  })
  app.get('/', handler)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const text = responseOf(send(app, request))
  await requested
  const closed = app.close()
  await until(() => !app.server.listening)
  await turns()
  response('pending')
  t.match(await text, /^HTTP\/1\.1 200 [^]*pending$/)
  await closed
})

t.test('closes the connections of incomplete requests and pending handlers after closeTimeoutSeconds', async (t) => {
  const { requested, handler } = waiting()
  const app = await listening(handler, { closeTimeoutSeconds: 0.05 })
  const half = send(app, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nab')
  const full = send(app, request)
  await requested
  const texts = Promise.all([responseOf(half), responseOf(full)])
  await app.close()
  t.strictSame(await texts, ['', ''])
})

t.test('HTTP/2 responses do not have the header and cause no process warning', async (t) => {
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const { requested, response, handler } = waiting()
  const app = await listen(Fastify({ ...transportSecurityServerOptions(), http2: true }) as unknown as FastifyInstance, handler, {
    closeTimeoutSeconds: 600
  })
  const client = connectHttp2(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  const stream = client.request({ ':path': '/' })
  await requested
  const closed = app.close()
  await once(app.server, 'closing begins')
  response({ fine: true })
  const [headers] = await once(stream, 'response')
  t.match(headers, { ':status': 200, connection: undefined })
  stream.resume()
  client.close()
  await closed
  t.strictSame(warnings, [])
})

/** Starts a service on both addresses of localhost, which records when its handlers have ended and when its `onClose` hooks run. */
async function onTwoAddresses(app: FastifyInstance, options: TransportSecurityOptions = {}) {
  const { requested, response, handler } = waiting()
  const events: string[] = []
  await app.register(transportSecurity, { ...localHttp, closeTimeoutSeconds: 600, ...options })
  app.addHook('onClose', async () => void events.push('onClose'))
  app.addHook('preClose', async () => void app.server.emit('closing begins'))
  app.get('/', async function (request, reply) {
    const payload = await handler.call(this, request, reply)
    await turns()
    events.push(`response on ${request.socket.localAddress}`)
    return payload
  })
  await app.listen({ host: 'localhost', port: 0 })
  return { events, requested, response, port: (app.server.address() as AddressInfo).port }
}

for (const address of localhostAddresses)
  t.test(`onClose hooks run after the responses on ${address}, one of two addresses of localhost`, async (t) => {
    const app = Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }))
    const { events, requested, response, port } = await onTwoAddresses(app)
    const socket = connect(port, address)
    socket.write(request)
    await requested
    const closed = app.close()
    await once(app.server, 'closing begins')
    await turns()
    t.strictSame(events, [])
    response({ fine: true })
    t.match(await responseOf(socket), /^HTTP\/1\.1 200 [^]*connection: close[^]*\{"fine":true\}$/i)
    await closed
    t.strictSame(events, [`response on ${address}`, 'onClose'])
  })

t.test('onClose hooks run after the HTTP/2 responses on the second address of localhost', async (t) => {
  const app = Fastify({ ...transportSecurityServerOptions(), http2: true }) as unknown as FastifyInstance
  const { events, requested, response, port } = await onTwoAddresses(app)
  const client = connectHttp2(`http://127.0.0.2:${port}`)
  const stream = client.request({ ':path': '/' })
  await requested
  const closed = app.close()
  await once(app.server, 'closing begins')
  await turns()
  response({ fine: true })
  t.equal(String(Buffer.concat(await stream.toArray())), '{"fine":true}')
  client.close()
  await closed
  t.strictSame(events, ['response on 127.0.0.2', 'onClose'])
})

t.test('the second address of localhost accepts no connections while a response on the first is pending', async (t) => {
  const app = Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }))
  const { requested, response, port } = await onTwoAddresses(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(request)
  const kept = connect(port, '127.0.0.2')
  await requested
  const closed = app.close()
  await once(kept, 'close')
  const [error] = await once(connect(port, '127.0.0.2'), 'error')
  t.equal(error.code, 'ECONNREFUSED')
  response('fine')
  await Promise.all([responseOf(socket), closed])
})

t.test('closes pending connections of the second address of localhost after closeTimeoutSeconds', async (t) => {
  const app = Fastify(transportSecurityServerOptions({ keepAliveTimeoutSeconds: 600 }))
  const { events, requested, port } = await onTwoAddresses(app, { closeTimeoutSeconds: 0.05 })
  const socket = connect(port, '127.0.0.2')
  socket.write(request)
  await requested
  const text = responseOf(socket)
  await app.close()
  t.equal(await text, '')
  t.strictSame(events, ['onClose'])
})

t.test('a service that never listened closes', async (t) => {
  const app = Fastify()
  await app.register(transportSecurity, { ...localHttp, closeTimeoutSeconds: 600 })
  app.get('/', async () => ({}))
  t.equal((await app.inject('/')).statusCode, 200)
  await app.close()
})

t.test('rejects an invalid closeTimeoutSeconds at start', async (t) => {
  await t.rejects(
    listening(async () => '', { closeTimeoutSeconds: 0 }),
    /options\.closeTimeoutSeconds must be a number from 0\.001 to 86400, but is 0\.$/
  )
})
