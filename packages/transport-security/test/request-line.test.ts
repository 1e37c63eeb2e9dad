import { once } from 'node:events'
import transportSecurity, { type TransportSecurityOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { responseOf, send } from './raw-request.ts'

async function service(log: CapturedLog, options: FastifyServerOptions = {}) {
  const app = Fastify({ ...transportSecurityServerOptions(), logger: { stream: log.stream }, ...options })
  // A service that does not listen keeps the process alive for each pending response.
  t.teardown(() => app.close())
  await app.register(transportSecurity, { dangerouslyAllowHttp: true })
  log.text = ''
  app.get('/', async () => ({}))
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  return app
}

t.test('writes one line per request when the response is sent, with the id of the response [S11]', async (t) => {
  const log = new CapturedLog()
  const app = await service(log)
  const ids: unknown[] = []
  for (const url of ['/?page=2', '/unknown']) ids.push((await app.inject(url)).headers['request-id'])
  ids.push((await app.inject({ method: 'HEAD', url: '/' })).headers['request-id'])

  const address = { remoteAddress: '127.0.0.0' }
  t.match(log.lines, [
    { level: 30, reqId: ids[0], method: 'GET', url: '/?page=2', statusCode: 200, ...address, msg: 'request completed' },
    { level: 30, reqId: ids[1], method: 'GET', url: '/unknown', statusCode: 404, ...address, msg: 'request completed' },
    { level: 30, reqId: ids[2], method: 'HEAD', url: '/', statusCode: 200, ...address, msg: 'request completed' }
  ])
  t.equal(log.lines.length, 3)
  for (const { responseTimeMs } of log.lines) t.match(String(responseTimeMs), /^\d+(\.\d{1,3})?$/)
})

t.test('writes a line for an error that a handler throws before the request line, with the same id [S11]', async (t) => {
  const log = new CapturedLog()
  const { headers } = await (await service(log)).inject('/broken')
  t.match(log.lines, [
    { level: 50, reqId: headers['request-id'], err: { message: 'broken', stack: /at / } },
    { reqId: headers['request-id'], statusCode: 500, msg: 'request completed' }
  ])
  t.equal(log.lines.length, 2)
})

t.test('writes a line for an invalid URL', async (t) => {
  const log = new CapturedLog()
  const app = await service(log, { frameworkErrors: (_error, _request, reply) => void reply.raw.writeHead(400).end() })
  await app.inject('/%zz?token=S3CRET')
  t.match(log.lines, [{ method: 'GET', url: '/%25zz', statusCode: 400, msg: 'request completed' }])
})

t.test('writes a line for a client that disconnects before or after its body was read, or during the response', async (t) => {
  const app = Fastify({ ...transportSecurityServerOptions(), logger: { stream: { write: (line) => log.stream.write(line) } } })
  let log = new CapturedLog()
  t.teardown(() => app.close())
  await app.register(transportSecurity, { dangerouslyAllowHttp: true })
  app.get('/never', () => new Promise(() => {}))
  app.post('/never', () => new Promise(() => {}))
  app.get('/half', (_request, reply) => {
    reply.hijack().raw.write('half')
  })
  const arrived = () => new Promise((resolve) => app.server.once('request', resolve))
  await app.listen({ host: '127.0.0.1', port: 0 })

  const body = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
  for (const [head, statusCode] of [
    ['GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n', undefined],
    [`POST /never HTTP/1.1\r\nHost: localhost\r\n${body}`, undefined],
    ['GET /half HTTP/1.1\r\nHost: localhost\r\n\r\n', 200]
  ] as const) {
    log = new CapturedLog()
    const written = log.until('request aborted')
    const arriving = arrived()
    const socket = send(app, head)
    await arriving
    if (statusCode) await once(socket, 'data')
    socket.destroy()
    const [line] = await written
    t.match(line, { method: head.split(' ')[0], url: head.split(' ')[1], remoteAddress: '127.0.0.0', level: 30 })
    t.equal(line?.['statusCode'], statusCode)
    t.equal(log.lines.length, 1)
  }
})

t.test('logs an error for a response that fails', async (t) => {
  const log = new CapturedLog()
  const app = await service(log)
  app.get('/failing', (_request, reply) => {
    reply.hijack().raw.emit('error', new Error('write failed'))
    reply.raw.end()
  })
  await app.inject('/failing').catch(() => {})
  t.match(log.saying('response failed'), [{ level: 50, err: { message: 'write failed' } }])
})

t.test('without the logController of the options, Fastify writes its two lines', async (t) => {
  const log = new CapturedLog()
  const { logController: _, ...part } = transportSecurityServerOptions()
  const app = Fastify({ ...part, logger: { stream: log.stream } })
  await app.register(transportSecurity, { remoteAddress: 'full', dangerouslyAllowHttp: true })
  log.text = ''
  app.get('/', async () => ({}))
  await app.inject('/?token=S3CRET')
  t.match(log.lines, [
    { req: { method: 'GET', url: '/', remoteAddress: '127.0.0.1' }, msg: 'incoming request' },
    { res: { statusCode: 200 }, msg: 'request completed' }
  ])
  t.strictSame(Object.keys(log.lines[0]?.['req'] as object), ['method', 'url', 'remoteAddress'])
})

async function listenersOf(app: FastifyInstance) {
  app.get('/count', (_request, reply) => reply.send(reply.raw.listenerCount('close')))
  return (await app.inject('/count')).body
}

t.test('writes no lines and adds no listeners above the level info and without a logger', async (t) => {
  const log = new CapturedLog()
  const without = await listenersOf(Fastify())
  t.equal(await listenersOf(await service(log, { logger: { stream: log.stream, level: 'warn' } })), without)
  t.equal(await listenersOf(await service(log, { logger: false })), without)
  t.equal(log.text, '')
  t.not(await listenersOf(await service(log)), without)
})

async function shown(remoteAddress: TransportSecurityOptions['remoteAddress'], forwarded: string) {
  const log = new CapturedLog()
  const app = Fastify({ ...transportSecurityServerOptions(), trustProxy: ['127.0.0.1'], logger: { stream: log.stream } })
  await app.register(transportSecurity, { remoteAddress, dangerouslyAllowHttp: true })
  log.text = ''
  await app.inject({ url: '/', headers: { 'x-forwarded-for': forwarded } })
  return log.lines[0]?.['remoteAddress']
}

t.test('remoteAddress truncates, omits or shows the client’s address [S12]', async (t) => {
  for (const [address, network] of [
    ['203.0.113.77', '203.0.113.0'],
    ['::ffff:203.0.113.77', '203.0.113.0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::'],
    ['2001:db8::7', '2001:db8::'],
    ['::1', '::'],
    ['fe80::1%eth0', 'fe80::'],
    ['unknown', undefined],
    ['<script>', undefined]
  ] as const) {
    t.equal(await shown(undefined, address), network, address)
    t.equal(await shown('none', address), undefined)
  }
  t.equal(await shown('full', '203.0.113.77'), '203.0.113.77')
  t.equal(await shown('full', 'unknown'), undefined)
})

t.test('a trustProxy function that throws removes the address from the line and does not crash the process', async (t) => {
  const log = new CapturedLog()
  const app = await service(log, {
    trustProxy: () => {
      throw new Error('broken')
    }
  })
  t.equal((await app.inject({ url: '/', headers: { 'x-forwarded-for': '203.0.113.77' } })).statusCode, 200)
  t.match(log.lines, [{ url: '/', statusCode: 200, remoteAddress: undefined }])
})

t.test('writes a line for each request of a persistent connection', async (t) => {
  const log = new CapturedLog()
  const app = await service(log)
  await app.listen({ host: '127.0.0.1', port: 0 })
  log.text = ''
  const head = 'GET / HTTP/1.1\r\nHost: localhost\r\n'
  await responseOf(send(app, `${head}\r\n${head}Connection: close\r\n\r\n`))
  t.match(log.lines, [{ msg: 'request completed' }, { msg: 'request completed' }])
  t.equal(new Set(log.lines.map(({ reqId }) => reqId)).size, 2)
})
