import { once } from 'node:events'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { connect as connectHttp2, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { controlOf, serverFactory } from '@concordat/plugin-kit/server'
import { localhostAddresses } from '@concordat/test-harness/two-addresses'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

const tls = {
  ciphers: 'PSK-AES128-GCM-SHA256',
  maxVersion: 'TLSv1.2',
  pskCallback: () => Buffer.alloc(16, 7)
} as const
const client = { ...tls, pskCallback: () => ({ psk: Buffer.alloc(16, 7), identity: 'client' }), checkServerIdentity: () => undefined }

async function listen(t: Test, options: object, host = '127.0.0.1') {
  const app = Fastify({ serverFactory, ...options }) as FastifyInstance
  t.teardown(() => app.close())
  app.get('/', async (request) => `${request.socket.localAddress} ${request.protocol}`)
  await app.listen({ host, port: 0 })
  return { app, port: (app.server.address() as AddressInfo).port }
}

async function get(port: number, host: string) {
  const [response] = (await once(requestHttp({ host, port, agent: false }).end(), 'response')) as [IncomingMessage]
  return Buffer.concat(await response.toArray()).toString()
}

t.test('has the limits that Fastify gives to its own servers, and Fastify knows its options', async (t) => {
  const limits = { keepAliveTimeout: 5001, requestTimeout: 5002, connectionTimeout: 5003, maxRequestsPerSocket: 5004 }
  const { app } = await listen(t, { ...limits, http: { headersTimeout: 5005 } })
  t.match(app.server, { keepAliveTimeout: 5001, requestTimeout: 5002, timeout: 5003, maxRequestsPerSocket: 5004, headersTimeout: 5005 })
  t.match(controlOf(app)?.options, limits)
  const plain = Fastify()
  t.equal(controlOf(plain), undefined)
  const { app: unlimited } = await listen(t, {})
  for (const name of ['keepAliveTimeout', 'requestTimeout', 'timeout', 'maxRequestsPerSocket'] as const)
    t.equal(unlimited.server[name], plain.server[name], name)
})

t.test('serves TLS with the options of http, and with https: true', async (t) => {
  const { app, port } = await listen(t, { https: tls, http: { headersTimeout: 5005 } })
  t.equal(app.server.headersTimeout, 5005)
  const socket = connectTls({ host: '127.0.0.1', port, ...client })
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 200 [^]*127\.0\.0\.1 https$/)
  await listen(t, { https: true })
})

for (const [name, options, origin] of [
  ['without TLS', { http2: true }, 'http'],
  ['over TLS', { http2: true, https: tls }, 'https']
] as const)
  t.test(`serves HTTP/2 ${name}, closes idle sessions, and ends them when the service closes`, async (t) => {
    const { app, port } = await listen(t, { ...options, http2SessionTimeout: 300, forceCloseConnections: true })
    const opened = once(app.server, 'session') as Promise<[ServerHttp2Session]>
    const idle = connectHttp2(`${origin}://127.0.0.1:${port}`, client)
    const [session] = await opened
    const stream = idle.request({ ':path': '/' })
    t.equal(Buffer.concat(await stream.toArray()).toString(), `127.0.0.1 ${origin}`)
    await once(session, 'close')
    t.ok(idle.closed)
    const open = connectHttp2(`${origin}://127.0.0.1:${port}`, client)
    await once(app.server, 'session')
    await Promise.all([app.close(), once(open, 'close')])
  })

t.test('listens on every address of localhost until it closes', async (t) => {
  const { app, port } = await listen(t, {}, 'localhost')
  for (const address of localhostAddresses) t.equal(await get(port, address), `${address} http`)
  t.strictSame(
    (app.addresses() as AddressInfo[]).map(({ address }) => address),
    [localhostAddresses[0]]
  )
  app.server.unref()
  await app.close()
  for (const address of localhostAddresses) t.match(await once(connect(port, address), 'error'), [{ code: 'ECONNREFUSED' }])
})

t.test('a further address that is in use does not stop the start or the end', async (t) => {
  const taken = createServer((socket) => socket.end('taken')).listen(0, localhostAddresses[1])
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const app = Fastify({ serverFactory })
  await app.listen({ host: 'localhost', port })
  t.equal(String(await once(connect(port, localhostAddresses[1]), 'data')), 'taken')
  await app.close()
  await t.rejects(Fastify({ serverFactory }).listen({ host: localhostAddresses[1], port }), { code: 'EADDRINUSE' })
})

t.test('plugins wrap what is called when a request arrives, and in its turn', async (t) => {
  const app = Fastify({ serverFactory }) as FastifyInstance
  t.teardown(() => app.close())
  const control = controlOf(app)
  t.ok(control)
  if (control === undefined) return
  const { receive, serve } = control
  const calls: string[] = []
  control.receive = (request, response) => {
    calls.push(`receive ${request.url}`)
    receive(request, response)
  }
  control.serve = (request, response) => {
    calls.push(`serve ${request.url}`)
    serve(request, response)
  }
  app.server.on('request', ({ url }) => calls.push(`listener ${url}`))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  app.get('/1', () => released)
  app.get('/2', async () => 'second')
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const head = 'HTTP/1.1\r\nHost: a\r\n'
  socket.write(`GET /1 ${head}\r\nGET /2 ${head}Connection: close\r\n\r\n`)
  await once(app.server, 'connection')
  while (!calls.includes('receive /2')) await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(calls, ['receive /1', 'serve /1', 'listener /1', 'receive /2'])
  release()
  t.match(Buffer.concat(await socket.toArray()).toString(), /second$/)
  t.strictSame(calls.slice(4), ['serve /2', 'listener /2'])
})
