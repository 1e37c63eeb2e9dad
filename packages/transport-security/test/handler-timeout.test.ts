import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { turns } from '@concordat/test-harness/until'
import transportSecurity, { type TransportSecurityOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type RouteHandlerMethod, type RouteShorthandOptions } from 'fastify'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

type Handler = RouteHandlerMethod
const never: Handler = () => new Promise(() => {})

/** Waits longer than the limit: until a later request has exceeded it. */
const exceedLimit = (app: FastifyInstance) => app.inject('/never')

const slow: Handler = async ({ server }) => {
  await exceedLimit(server)
  return 'slow'
}

async function* slowParts(app: FastifyInstance) {
  yield 'a'
  await exceedLimit(app)
  yield 'b'
}

async function start(options: TransportSecurityOptions = { handlerTimeoutSeconds: 0.05 }): Promise<FastifyInstance> {
  const app = Fastify(transportSecurityServerOptions())
  t.teardown(() => app.close())
  await app.register(transportSecurity, { ...localHttp, ...options })
  return app
}

async function response(handler: Handler, route: RouteShorthandOptions = {}) {
  const app = await start()
  app.get('/never', never)
  app.get('/', route, handler)
  return app.inject('/')
}

t.test('returns 503 with Retry-After when a handler never responds', async (t) => {
  const late = await response(never)
  t.equal(late.statusCode, 503)
  t.match(late.headers, { 'retry-after': '5', 'x-frame-options': 'DENY', 'request-id': /./ })
  t.match(late.json(), { code: 'HANDLER_TIMEOUT' })
})

t.test('returns 503 when a hook never continues', async (t) => {
  const app = await start()
  app.get('/', { preHandler: () => {} }, async () => 'never')
  t.equal((await app.inject('/')).statusCode, 503)
})

t.test('aborts request.signal on timeout', async (t) => {
  let aborted = false
  await response(async (request) => {
    request.signal.addEventListener('abort', () => (aborted = true))
    await new Promise(() => {})
  })
  t.equal(aborted, true)
})

t.test('sends the response of a handler that responds when request.signal aborts', async (t) => {
  const received = await response((request, reply) => {
    request.signal.addEventListener('abort', () => void reply.send('as far as I got'))
  })
  t.strictSame([received.statusCode, received.body], [200, 'as far as I got'])
})

t.test('handlerTimeout sets the limit of a route, and the hooks of the route still run', async (t) => {
  let requested = false
  const onRequest: RouteShorthandOptions['onRequest'] = (_request, _reply, done) => {
    requested = true
    done()
  }
  const own = await response(slow, { handlerTimeout: 5000, onRequest })
  t.strictSame([own.statusCode, own.body, requested], [200, 'slow', true])
})

t.test('applies the limit to each of many concurrent requests', async (t) => {
  const app = await start()
  app.get('/:wait', async (request) => {
    const { wait } = request.params as { wait: string }
    if (wait === 'never') await new Promise(() => {})
    return wait
  })
  const paths = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? '/never' : '/now'))
  const statuses = await Promise.all(paths.map(async (path) => (await app.inject(path)).statusCode))
  t.strictSame(
    statuses,
    paths.map((path) => (path === '/never' ? 503 : 200))
  )
})

t.test('responds at the first check after the limit: five seconds for a limit of four', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const app = await start({ handlerTimeoutSeconds: 4 })
  app.get('/never', never)
  await app.ready()
  let status: number | undefined
  const response = app.inject('/never').then(({ statusCode }) => (status = statusCode))
  await turns()
  mock.timers.tick(4000)
  await turns()
  t.equal(status, undefined)
  mock.timers.tick(1000)
  t.equal(await response, 503)
})

t.test('a body that does not arrive in time gets 408, its connection is closed, and nothing is logged as an error', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const log = new CapturedLog()
  const app = Fastify({ ...transportSecurityServerOptions(), logger: { level: 'warn', stream: log.stream } })
  t.teardown(() => app.close())
  await app.register(transportSecurity, { ...localHttp, handlerTimeoutSeconds: 4 })
  app.post('/', async () => 'never')
  app.get('/', never)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const begun = once(app.server, 'request')
  const late = responseOf(
    send(app, 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":')
  )
  await begun
  await turns()
  mock.timers.tick(5000)
  t.match(await late, /^HTTP\/1.1 408 .*connection: close.*"code":"REQUEST_TIMEOUT"/is)
  t.strictSame(
    log.lines.filter(({ level }) => Number(level) > 40),
    []
  )
  const other = once(app.server, 'request')
  const waiting = responseOf(send(app, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'))
  await other
  await turns()
  mock.timers.tick(5000)
  t.match(await waiting, /^HTTP\/1.1 503 /)
})

t.test('the limit of a handler begins when the body is there', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const app = await start({ handlerTimeoutSeconds: 4 })
  const called = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  app.post('/', async () => {
    called.resolve()
    await finish.promise
    return 'done'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const begun = once(app.server, 'request')
  const socket = send(
    app,
    'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{'
  )
  const received = responseOf(socket)
  await begun
  await turns()
  mock.timers.tick(3000)
  socket.write('}')
  await called.promise
  mock.timers.tick(3000)
  finish.resolve()
  t.match(await received, /^HTTP\/1.1 200 .*done/s)
})

t.test('does not limit a response that has begun', async (t) => {
  const streamed = await response(async ({ server }, reply) => reply.send(Readable.from(slowParts(server))))
  t.strictSame([streamed.statusCode, streamed.body], [200, 'ab'])
})

t.test('closes the connection of a raw response that was begun and never ended', async (t) => {
  const app = await start()
  app.get('/', (_request, reply) => {
    reply.raw.write('begun')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const bytes = await responseOf(send(app, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  t.match(bytes, /begun/)
  t.notMatch(bytes, /503/)
})

t.test('does not limit a hijacked reply', async (t) => {
  const taken = await response(({ server }, reply) => {
    reply.hijack()
    void exceedLimit(server).then(() => reply.raw.end('mine'))
  })
  t.strictSame([taken.statusCode, taken.body], [200, 'mine'])
})

function get(...names: string[]) {
  return names.map((name) => `GET /${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')
}

t.test('a client that disconnects aborts the request that is processed, and no other of the connection', async (t) => {
  const app = await start({ handlerTimeoutSeconds: 600 })
  const received: string[] = []
  const requested = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  app.get('/:name', async (request) => {
    const { name } = request.params as { name: string }
    request.signal.addEventListener('abort', () => {
      received.push(name)
      left.resolve()
    })
    if (name === 'c') requested.resolve()
    if (name > 'b') await left.promise
    return name
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = send(app, get('a'))
  await once(socket, 'data')
  socket.write(get('a', 'b', 'c', 'd'))
  await requested.promise
  socket.destroy()
  await left.promise
  await turns()
  t.strictSame(received, ['c'])
})

t.test('adds one listener per connection, and none per response', async (t) => {
  const app = await start()
  const received: unknown[] = []
  const closed = Promise.withResolvers<void>()
  app.server.on('connection', (socket) => socket.on('close', () => setImmediate(closed.resolve)))
  app.get('/', async ({ raw }, reply) => {
    raw.on('close', () => received.push(raw.aborted))
    return [raw.socket.listenerCount('close'), reply.raw.listenerCount('close')]
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = send(app, '')
  const counts: string[] = []
  for (let round = 0; round < 5; round += 1) {
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    counts.push(/\[.*\]/.exec(String((await once(socket, 'data'))[0]))?.[0] ?? '')
  }
  socket.destroy()
  await closed.promise
  t.notOk(received.includes(true), 'a request with a response is not aborted')
  t.equal(new Set(counts).size, 1)
  const stock = Fastify()
  stock.get('/', async (_request, reply) => reply.raw.listenerCount('close'))
  await stock.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => stock.close())
  const bare = await responseOf(send(stock, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'))
  t.equal(JSON.parse(counts[0] ?? '')[1], Number(bare.split('\r\n\r\n')[1]))
})

t.test('a process stays alive for a pending response until the limit, and ends when nothing is pending', async (t) => {
  const program = `
    import transportSecurity from '@concordat/transport-security'
    import Fastify from 'fastify'
    const app = Fastify()
    await app.register(transportSecurity, { dangerouslyAllowHttp: 'loopback', handlerTimeoutSeconds: 0.2 })
    app.get('/', () => new Promise(() => {}))
    app.get('/now', async () => 'now')
    await app.inject('/now')
    console.log((await app.inject('/')).statusCode)`
  const child = spawnSync(process.execPath, ['--conditions=@concordat/source', '--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    timeout: 60_000
  })
  t.strictSame([child.stdout, child.status], ['503\n', 0], child.stderr)
})

t.test('rejects an invalid handlerTimeoutSeconds at start', async (t) => {
  await t.rejects(start({ handlerTimeoutSeconds: 0 }), /options\.handlerTimeoutSeconds must be a number from 0\.001 to 86400, but is 0\.$/)
  await t.rejects(
    start({ handlerTimeoutSeconds: -1 }),
    /options\.handlerTimeoutSeconds must be a number from 0\.001 to 86400, but is -1\.$/
  )
})

t.test('sends the response of Fastify to a method that runs no hooks before it', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ ...transportSecurityServerOptions(), logger: { stream: log.stream } })
  await app.register(transportSecurity, localHttp)
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.match(await responseOf(send(app, 'PLAY / RTSP/1.0\r\nConnection: close\r\n\r\n')), /^HTTP\/1\.1 404 .*FST_ERR_NOT_FOUND/s)
  t.strictSame(
    log.lines.filter(({ level }) => level === 50),
    []
  )
})
