import { once } from 'node:events'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
import { until } from '@concordat/test-harness/until'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
// Larger than the buffers of both systems together.
const size = 40_000_000
const large = Buffer.alloc(size, 'x')

async function* parts() {
  for (let part = 0; part < size / 10_000; part += 1) yield large.subarray(0, 10_000)
}

/** Starts a service. `closed` resolves when it has closed a connection. */
async function start(
  t: Test,
  sendTimeoutSeconds: number,
  certificate?: { readonly key: string; readonly cert: string },
  host = '127.0.0.1'
) {
  const log = new CapturedLog()
  const own = certificate && { serverFactory: (handler: Parameters<typeof createServer>[1]) => createServer(certificate, handler) }
  const app: FastifyInstance = Fastify({ ...transportSecurityServerOptions(), logger: { stream: log.stream }, ...own } as object)
  await app.register(transportSecurity, { ...localHttp, sendTimeoutSeconds, closeTimeoutSeconds: 0.1 })
  app.get('/large', async () => large)
  app.get('/small', async () => large.subarray(0, 500_000))
  app.get('/stream', async () => Readable.from(parts()))
  await app.listen({ host, port: 0 })
  t.teardown(() => app.close())
  return { app, log, port: (app.server.address() as AddressInfo).port }
}

function sending(socket: Socket, requests: string) {
  socket.on('error', () => {})
  socket.write(requests)
  return socket
}

const connectionsOf = (app: FastifyInstance) =>
  new Promise<number>((resolve) => app.server.getConnections((_error, count) => resolve(count)))

for (const [what, requests] of [
  ['a large response', request('/large')],
  ['a stream', request('/stream')],
  ['the responses to many requests', request('/small').repeat(100)]
] as const) {
  t.test(`closes the connection of a client that does not read ${what}`, async (t) => {
    const { app, log, port } = await start(t, 0.3)
    const arrived = once(app.server, 'request')
    sending(connect(port, '127.0.0.1'), requests)
    await arrived
    t.equal(await connectionsOf(app), 1)
    await until(async () => (await connectionsOf(app)) === 0)
    await until(() => log.lines.some(({ statusCode }) => statusCode === 200))
    t.strictSame(
      log.lines.filter(({ level }) => Number(level) > 40),
      [],
      'it is not an error of the service'
    )
  })
}

t.test('closes the connection of such a client over TLS', async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
  const { app, port } = await start(t, 0.3, { key, cert })
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.pause()
  socket.write(request('/large'))
  await once(app.server, 'request')
  await until(async () => (await connectionsOf(app)) === 0)
})

t.test('sends the whole response to a client that reads slowly, for many times the limit', async (t) => {
  const { port } = await start(t, 0.5)
  const socket = sending(connect(port, '127.0.0.1'), request('/large'))
  let received = 0
  const begunAt = performance.now()
  // In small steps for several limits, and then the rest.
  await until(() => {
    received += (socket.read() as Buffer | null)?.length ?? 0
    return performance.now() - begunAt > 2000
  })
  t.ok(received < size, `${received} bytes in ${performance.now() - begunAt} ms`)
  socket.on('data', (bytes) => (received += bytes.length))
  await until(() => received > size)
  socket.destroy()
})

t.test('keeps a connection open on which the service has nothing to send', async (t) => {
  const { app, port } = await start(t, 0.1)
  const released = Promise.withResolvers<string>()
  const idle = sending(connect(port, '127.0.0.1'), request('/small'))
  idle.resume()
  // Another client that does not read is closed meanwhile, so the limit has passed.
  sending(connect(port, '127.0.0.1'), request('/large'))
  await until(async () => (await connectionsOf(app)) === 2)
  await until(async () => (await connectionsOf(app)) === 1)
  idle.on('data', (bytes) => released.resolve(String(bytes)))
  idle.write(request('/small'))
  t.match(await released.promise, /^HTTP\/1\.1 200 /)
  idle.destroy()
})

t.test('closes the connection of a client that does not read on the second address of localhost', async (t) => {
  const { log, port } = await start(t, 0.3, undefined, 'localhost')
  const socket = sending(connect(port, localhostAddresses[1]), request('/large'))
  t.teardown(() => socket.destroy())
  await until(() => log.lines.some(({ statusCode }) => statusCode === 200))
  t.ok(socket.bytesRead < size)
})
