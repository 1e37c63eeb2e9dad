import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import conventions, { serverOptions } from '@concordat/conventions'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t from 'tap'

const request = 'GET /orders HTTP/1.1\r\nHost: a\r\n\r\n'

function sending(socket: Socket) {
  socket.write(request)
  return socket
}

t.test('serves the requests that arrive while the service closes, on idle and on new connections, until hooks have ended', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    versions: { 1: { status: 'current' } },
    authentication: false,
    openapi: false,
    transportSecurity: { dangerouslyAllowHttp: true }
  })
  app.get('/orders', async () => ({ id: 1 }))
  const drained = Promise.withResolvers<void>()
  const closing = Promise.withResolvers<void>()
  app.addHook('preClose', () => {
    closing.resolve()
    return drained.promise
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const opened = () => connect((app.server.address() as AddressInfo).port, '127.0.0.1')

  const idle = sending(opened())
  t.match(String((await once(idle, 'data'))[0]), /^HTTP\/1\.1 200 [^]*connection: keep-alive/i)
  const closed = app.close()
  await closing.promise
  const late = sending(opened())
  t.match(String((await once(late, 'data'))[0]), /^HTTP\/1\.1 200 (?![^]*connection: close)/i, 'a new connection is kept')
  t.match(await text(sending(idle)), /^HTTP\/1\.1 200 [^]*connection: close/i, 'a connection from before is not')
  drained.resolve()
  await until(() => !app.server.listening)
  t.match(await text(sending(late)), /^HTTP\/1\.1 200 [^]*connection: close/i, 'until the service stops listening')
  await closed
})
