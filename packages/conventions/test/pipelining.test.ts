// A client that pipelines sends its next request before it has the response to the last. After a response with `Connection: close` the service
// must not process any of them (RFC 9112 §9.6).
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { turns, until } from '@concordat/test-harness/until'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const json = '{"name":"a"}'
const order = `POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
const preset: ConventionsOptions = {
  versions: { 1: { status: 'current' } },
  authentication: false,
  openapi: false,
  transportSecurity: { dangerouslyAllowHttp: 'loopback' }
}

async function start(t: Test, create: () => Promise<FastifyInstance>) {
  const app = await create()
  const handled: string[] = []
  const released = Promise.withResolvers<void>()
  app.post('/orders', async (request) => void handled.push(request.url))
  app.get('/slow', async (request) => {
    handled.push(request.url)
    await released.promise
    return { slow: true }
  })
  app.get('/last', async (_request, reply) => {
    await turns()
    reply.header('connection', 'close')
    return { last: true }
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const open = () => connect((app.server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  return { app, handled, open, release: () => released.resolve() }
}

async function withPreset() {
  const app = Fastify(serverOptions())
  await app.register(conventions, preset)
  return app
}

async function withTransportSecurity() {
  const app = Fastify(transportSecurityServerOptions())
  await app.register(transportSecurity, { dangerouslyAllowHttp: 'loopback' })
  return app
}

async function withErrorCatalogue() {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  return app
}

function sending(socket: Socket, bytes: string) {
  socket.write(bytes)
  return socket
}

const closing: readonly (readonly [name: string, status: number, request: string])[] = [
  ['an expectation that is not met', 417, 'GET /slow HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n'],
  ['a transfer coding', 501, 'POST /orders HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['a malformed URI', 400, 'GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a method of RTSP', 501, 'PLAY /slow RTSP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ['a second length', 400, 'POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na'],
  ['a route that closes the connection', 200, 'GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['a client that closes the connection', 404, 'GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n']
]

const closers: readonly (readonly [create: () => Promise<FastifyInstance>, names: readonly string[]])[] = [
  [withPreset, closing.map(([name]) => name)],
  [withErrorCatalogue, closing.map(([name]) => name)],
  [withTransportSecurity, ['a route that closes the connection']]
]
for (const [create, names] of closers)
  t.test(`${create.name}: after a response with connection: close, no further request is processed`, async (t) => {
    const { handled, open } = await start(t, create)
    for (const [name, status, request] of closing) {
      if (!names.includes(name)) continue
      const response = await text(sending(open(), `${request}${order}${order}`))
      t.match(response, new RegExp(`^HTTP/1\\.1 ${status} [^]*connection: close`, 'i'), name)
      t.equal(response.split('HTTP/1.1 ').length, 2, `${name}: one response`)
    }
    t.strictSame(handled, [])
  })

for (const create of [withPreset, withTransportSecurity, withErrorCatalogue])
  t.test(`${create.name}: pipelined requests are processed one after the other, and all of them get their response`, async (t) => {
    const { handled, open, release } = await start(t, create)
    const socket = sending(
      open(),
      `GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n${order}${order}GET /last HTTP/1.1\r\nHost: localhost\r\n\r\n${order}`
    )
    const response = text(socket)
    await until(() => handled.length > 0)
    await turns()
    t.strictSame(handled, ['/slow'])
    release()
    t.match(await response, /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 [^]*"last":true[^H]*$/)
    t.strictSame(handled, ['/slow', '/orders', '/orders'])
  })

t.test('a malformed body behind a slow request gets its 400 after the response to that request', async (t) => {
  const { handled, open, release } = await start(t, withPreset)
  const chunked = 'POST /orders HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
  const response = text(sending(open(), `GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n${chunked}`))
  await until(() => handled.length > 0)
  await turns()
  release()
  t.match(await response, /^HTTP\/1\.1 200 [^]*"slow":true[^]*HTTP\/1\.1 400 [^]*"code":"MALFORMED_REQUEST"/)
  t.strictSame(handled, ['/slow'])
})

t.test('a client with more than 100 requests that wait for their turn is disconnected, and none of them is processed', async (t) => {
  const { handled, open, release } = await start(t, withPreset)
  const waiting = sending(open(), 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await until(() => handled.length > 0)
  const disconnected = once(waiting, 'close')
  waiting.write(order.repeat(101))
  await disconnected
  release()
  await turns()
  t.strictSame(handled, ['/slow'])
})
