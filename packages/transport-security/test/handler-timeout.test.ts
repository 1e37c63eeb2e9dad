import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import transportSecurity, { type TransportSecurityOptions, transportServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type RouteHandlerMethod, type RouteShorthandOptions } from 'fastify'
import t from 'tap'
import { localHttp } from './local-http.ts'
import { answerOf, send } from './raw-request.ts'

type Handler = RouteHandlerMethod
const never: Handler = () => new Promise(() => {})

/** Takes longer than the limit: until a request that came later has exceeded it. */
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
  const app = Fastify(transportServerOptions())
  t.teardown(() => app.close())
  await app.register(transportSecurity, { ...localHttp, ...options })
  return app
}

async function answer(handler: Handler, route: RouteShorthandOptions = {}) {
  const app = await start()
  app.get('/never', never)
  app.get('/', route, handler)
  return app.inject('/')
}

t.test('a handler that never answers is answered 503 with Retry-After', async (t) => {
  const late = await answer(never)
  t.equal(late.statusCode, 503)
  t.match(late.headers, { 'retry-after': '5', 'x-frame-options': 'DENY', 'request-id': /./ })
  t.match(late.json(), { code: 'HANDLER_TIMEOUT' })
})

t.test('so is a hook that never goes on', async (t) => {
  const app = await start()
  app.get('/', { preHandler: () => {} }, async () => 'never')
  t.equal((await app.inject('/')).statusCode, 503)
})

t.test('request.signal tells a handler to stop', async (t) => {
  let aborted = false
  await answer(async (request) => {
    request.signal.addEventListener('abort', () => (aborted = true))
    await new Promise(() => {})
  })
  t.equal(aborted, true)
})

t.test('a handler that answers when it is told to stop has the last word', async (t) => {
  const told = await answer((request, reply) => {
    request.signal.addEventListener('abort', () => void reply.send('as far as I got'))
  })
  t.strictSame([told.statusCode, told.body], [200, 'as far as I got'])
})

t.test('a route has a limit of its own by handlerTimeout, and hooks of its own still run', async (t) => {
  let asked = false
  const onRequest: RouteShorthandOptions['onRequest'] = (_request, _reply, done) => {
    asked = true
    done()
  }
  const own = await answer(slow, { handlerTimeout: 5000, onRequest })
  t.strictSame([own.statusCode, own.body, asked], [200, 'slow', true])
})

t.test('answers of many requests at once come in time or not, each for itself', async (t) => {
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

t.test('an answer that has begun may take as long as it takes', async (t) => {
  const streamed = await answer(async ({ server }, reply) => reply.send(Readable.from(slowParts(server))))
  t.strictSame([streamed.statusCode, streamed.body], [200, 'ab'])
})

t.test('a response that was begun past Fastify and never ended is cut', async (t) => {
  const app = await start()
  app.get('/', (_request, reply) => {
    reply.raw.write('begun')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const bytes = await answerOf(send(app, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'))
  t.match(bytes, /begun/)
  t.notMatch(bytes, /503/)
})

t.test('a handler that took the response over is left alone', async (t) => {
  const taken = await answer(({ server }, reply) => {
    reply.hijack()
    void exceedLimit(server).then(() => reply.raw.end('mine'))
  })
  t.strictSame([taken.statusCode, taken.body], [200, 'mine'])
})

t.test('a client that leaves aborts request.signal and runs onRequestAbort, with a body and without', async (t) => {
  for (const [name, bytes] of Object.entries({
    GET: 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    POST: 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
  })) {
    const app = await start({ handlerTimeoutSeconds: 5 })
    const heard: string[] = []
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    const handler: Handler = async (request) => {
      request.signal.addEventListener('abort', () => {
        heard.push('signal')
        left.resolve()
      })
      asked.resolve()
      await left.promise
    }
    if (name === 'GET')
      app.addHook('onRequestAbort', (_request, done) => {
        heard.push('hook')
        done()
      })
    app.get('/', handler)
    app.post('/', handler)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = send(app, bytes)
    await asked.promise
    socket.destroy()
    await once(socket, 'close')
    await left.promise
    t.ok(heard.includes('signal'), `${name}: signal`)
    if (name === 'GET') t.ok(heard.includes('hook'), 'GET: hook')
  }
})

function get(...names: string[]) {
  return names.map((name) => `GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
}

t.test('a client that leaves is told of to each request that it had sent ahead, and to none that was answered', async (t) => {
  const app = await start({ handlerTimeoutSeconds: 600 })
  const told: string[] = []
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  app.get('/:name', async (request) => {
    const { name } = request.params as { name: string }
    request.signal.addEventListener('abort', () => {
      told.push(name)
      if (told.length === 2) left.resolve()
    })
    if (name === 'd') asked.resolve()
    if (name === 'b') await goOn.promise
    if (name > 'b') await left.promise
    return name
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = send(app, get('a'))
  await once(socket, 'data')
  socket.write(get('a', 'b'))
  await once(socket, 'data')
  goOn.resolve()
  await once(socket, 'data')
  socket.write(get('c', 'd'))
  await asked.promise
  socket.destroy()
  await left.promise
  await new Promise(setImmediate)
  t.strictSame(told, ['c', 'd'])
})

t.test('a connection has one listener for all of its requests, and responses none', async (t) => {
  const app = await start()
  const told: unknown[] = []
  const closed = Promise.withResolvers<void>()
  app.server.on('connection', (socket) => socket.on('close', () => setImmediate(closed.resolve)))
  app.get('/', async ({ raw }, reply) => {
    raw.on('close', () => told.push(raw.aborted))
    return [raw.socket.listenerCount('close'), reply.raw.listenerCount('close')]
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = send(app, '')
  const counts: string[] = []
  for (let round = 0; round < 5; round += 1) {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    counts.push(/\[.*\]/.exec(String((await once(socket, 'data'))[0]))?.[0] ?? '')
  }
  socket.destroy()
  await closed.promise
  t.notOk(told.includes(true), 'what was answered is not aborted')
  t.equal(new Set(counts).size, 1)
  const stock = Fastify()
  stock.get('/', async (_request, reply) => reply.raw.listenerCount('close'))
  await stock.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => stock.close())
  const bare = await answerOf(send(stock, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'))
  t.equal(JSON.parse(counts[0] ?? '')[1], Number(bare.split('\r\n\r\n')[1]))
})

t.test('a process whose answer is awaited lives until the limit, and one that waits for nothing ends', async (t) => {
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

t.test('a limit that makes no sense stops the start', async (t) => {
  await t.rejects(start({ handlerTimeoutSeconds: 0 }), /handlerTimeoutSeconds is 0/)
  await t.rejects(start({ handlerTimeoutSeconds: -1 }), /handlerTimeoutSeconds is -1/)
})
