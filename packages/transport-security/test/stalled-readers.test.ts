import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { connect as connectTls, createServer } from 'node:tls'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
import { until } from '@concordat/test-harness/until'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
// Larger than the buffers of both systems together.
const size = 40_000_000
const large = Buffer.alloc(size, 'x')

async function* parts() {
  for (let part = 0; part < size / 10_000; part += 1) yield large.subarray(0, 10_000)
}

const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 })
const servers = {
  'HTTP/1': {},
  HTTPS: { https: { key, cert } },
  'HTTP/2': { http2: true },
  'HTTP/2 over TLS': { http2: true, https: { key, cert } }
} as const
type Protocol = keyof typeof servers

/** Starts a service with routes whose responses are larger than what a system stores for a connection. */
async function start(t: Test, sendTimeoutSeconds: number, protocol: Protocol = 'HTTP/1', address: object = { host: '127.0.0.1', port: 0 }) {
  const log = new CapturedLog()
  const app: FastifyInstance = Fastify({
    ...transportSecurityServerOptions(),
    logger: { stream: log.stream },
    ...servers[protocol]
  } as object)
  await app.register(transportSecurity, { ...localHttp, sendTimeoutSeconds, closeTimeoutSeconds: 0.1 })
  // Also over a Unix socket, whose clients have no address.
  app.get('/large', { config: { directAccess: true } }, async () => large)
  app.get('/small', async () => large.subarray(0, 500_000))
  app.get('/stream', async () => Readable.from(parts()))
  await app.listen(address)
  t.teardown(() => app.close())
  return { app, log, port: (app.server.address() as AddressInfo).port }
}

/** Connects to a service and sends requests, and reads nothing. */
async function connectWithoutReading(protocol: Protocol, port: number, paths: readonly string[]) {
  const isTls = 'https' in servers[protocol]
  const [isHttp2, ALPNProtocols] = 'http2' in servers[protocol] ? [true, ['h2']] : [false, ['http/1.1']]
  const options = { port, host: '127.0.0.1' }
  const socket = isTls ? connectTls({ ...options, ALPNProtocols, rejectUnauthorized: false }) : connect(options)
  await once(socket, isTls ? 'secureConnect' : 'connect')
  socket.pause()
  socket.write(isHttp2 ? http2Requests(paths, isTls) : paths.map(request).join(''))
  return socket
}

function frame(type: number, flags: number, stream: number, payload: Buffer) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUIntBE(type, 3, 1)
  head.writeUIntBE(flags, 4, 1)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The frames of a client that allows the service to send 2 GiB at once (RFC 9113 §6.9). */
function http2Requests(paths: readonly string[], isTls: boolean) {
  const initialWindowSize = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])
  const increment = Buffer.from([0x7f, 0xfe, 0, 0])
  const fieldsOf = (path: string) =>
    Buffer.concat([
      Buffer.from([0x82, isTls ? 0x87 : 0x86, 1, 9]),
      Buffer.from('localhost'),
      Buffer.from([4, path.length]),
      Buffer.from(path)
    ])
  const headers = paths.map((path, index) => frame(1, 5, 2 * index + 1, fieldsOf(path)))
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, initialWindowSize),
    frame(8, 0, 0, increment),
    ...headers
  ])
}

function sending(socket: Socket, requests: string) {
  socket.on('error', () => {})
  socket.write(requests)
  return socket
}

const countOf = (server: Pick<Server, 'getConnections'>) =>
  new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)))
const connectionsOf = (app: FastifyInstance) => countOf(app.server)

for (const protocol of Object.keys(servers) as Protocol[]) {
  for (const [what, paths] of [
    ['a large response', ['/large']],
    ['a stream', ['/stream']],
    ['the responses to many requests', Array.from({ length: 100 }, () => '/small')]
  ] as const) {
    t.test(
      `resets the connection of a client that does not read ${what} over ${protocol}, so that the system stores nothing for it`,
      async (t) => {
        const { app, log, port } = await start(t, 0.3, protocol)
        const arrived = once(app.server, 'request')
        const socket = await connectWithoutReading(protocol, port, paths)
        await arrived
        t.equal(await connectionsOf(app), 1)
        await until(async () => (await connectionsOf(app)) === 0)
        // After a close without a reset, the system would send the client the rest, and then the end.
        const failed = once(socket, 'end').then(
          () => 'the end',
          (error: unknown) => (error as NodeJS.ErrnoException).code
        )
        socket.resume()
        t.equal(await failed, 'ECONNRESET')
        await until(() => log.lines.some(({ statusCode }) => statusCode === 200))
        t.strictSame(
          log.lines.filter(({ level }) => Number(level) > 40),
          [],
          'it is not an error of the service'
        )
      }
    )
  }
}

t.test('closes the connection of such a client over a Unix socket, which cannot be reset', async (t) => {
  // Shorter than the folder of the test, because such a path has at most 107 characters.
  const folder = mkdtempSync(join(tmpdir(), 'service-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'socket')
  const { app } = await start(t, 0.3, 'HTTP/1', { path })
  const arrived = once(app.server, 'request')
  const socket = sending(connect(path), request('/large'))
  t.teardown(() => socket.destroy())
  await arrived
  await until(async () => (await connectionsOf(app)) === 0)
})

t.test('closes the connection of such a client whose TLS another server terminates', async (t) => {
  const { app } = await start(t, 0.3)
  const terminator = createServer({ key, cert }, (socket) => void app.server.emit('connection', socket))
  await once(terminator.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => terminator.close())
  const arrived = once(app.server, 'request')
  const socket = await connectWithoutReading('HTTPS', (terminator.address() as AddressInfo).port, ['/large'])
  t.teardown(() => socket.destroy())
  await arrived
  await until(async () => (await countOf(terminator)) === 0)
})

// Longer limits than above, because a busy machine may stop this process for a while.
for (const protocol of ['HTTP/1', 'HTTP/2 over TLS'] as const) {
  t.test(`sends the whole response to a client that reads slowly over ${protocol}, for many times the limit`, async (t) => {
    const { port } = await start(t, 2, protocol)
    const socket = await connectWithoutReading(protocol, port, ['/large'])
    let received = 0
    const begunAt = performance.now()
    // In small steps for several limits, and then the rest.
    await until(() => {
      received += (socket.read() as Buffer | null)?.length ?? 0
      return performance.now() - begunAt > 5000
    }, 20)
    t.ok(received < size, `${received} bytes in ${performance.now() - begunAt} ms`)
    socket.on('data', (bytes) => (received += bytes.length)).resume()
    await until(() => received > size)
    socket.destroy()
  })
}

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
  const { log, port } = await start(t, 0.3, 'HTTP/1', { host: 'localhost', port: 0 })
  const socket = sending(connect(port, localhostAddresses[1]), request('/large'))
  t.teardown(() => socket.destroy())
  await until(() => log.lines.some(({ statusCode }) => statusCode === 200))
  t.ok(socket.bytesRead < size)
})
