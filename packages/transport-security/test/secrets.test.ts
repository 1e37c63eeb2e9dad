import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'
import { responseOf, send } from './raw-request.ts'

const secret = 'page=2&access_token=S3CRET'

// The ways to create the server and its logger.
const services: Record<string, (log: CapturedLog) => FastifyServerOptions> = {
  'the logger of plain Fastify': ({ stream }) => ({ logger: { level: 'trace', stream } }),
  'transportSecurityServerOptions(), then a logger': ({ stream }) => ({
    ...transportSecurityServerOptions(),
    logger: { level: 'trace', stream }
  }),
  'two lines per request': ({ stream }) => {
    const { logController: _, ...part } = transportSecurityServerOptions()
    return { ...part, logger: { level: 'trace', stream } }
  },
  'the service’s own pino logger': ({ stream }) => ({
    ...transportSecurityServerOptions(),
    loggerInstance: pino({ level: 'trace' }, stream)
  })
}

function addRoutes(app: FastifyInstance) {
  app.get('/', (request, reply) => {
    request.log.info({ req: request }, `handling ${request.url}`)
    request.log.info(request.raw)
    app.log.info({ req: request.raw }, 'from the server log')
    reply.send({})
  })
  app.get('/broken', (request) => {
    throw new Error(`no upstream at ${request.url}`, { cause: new Error('postgres://shop:S3CRET@db.internal/orders refused') })
  })
  app.get('/twice', (request, reply) => {
    reply.send('first')
    reply.send(request.url)
  })
}

for (const [name, optionsFor] of Object.entries(services)) {
  t.test(`no line shows a credential of the URL, with ${name} [S12] [U7]`, async (t) => {
    const log = new CapturedLog()
    const app = Fastify({
      ...optionsFor(log),
      frameworkErrors(error, request, reply) {
        request.log.warn({ err: error, req: request }, error.message)
        reply.raw.writeHead(400).end()
      }
    })
    t.teardown(() => app.close())
    await app.register(transportSecurity, localHttp)
    addRoutes(app)
    await app.listen({ host: '127.0.0.1', port: 0 })

    for (const target of [
      `/?${secret}`,
      `/#${secret}`,
      `/broken?${secret}`,
      `/twice?${secret}`,
      `/unknown?${secret}`,
      `/%zz?${secret}`,
      'http://user:S3CRET@evil.example/unknown?page=2'
    ]) {
      const before = log.lines.length
      await responseOf(send(app, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer S3CRET\r\nConnection: close\r\n\r\n`))
      const written = JSON.stringify(log.lines.slice(before))
      t.match(written, 'page=2', `${target}: the rest of the URL is present`)
    }
    await responseOf(send(app, `GET /?${secret} HTTP/9.9\r\nAuthorization: Bearer S3CRET\r\n\r\n`))
    t.match(log.saying('client error'), [{ level: 10, err: { code: 'HPE_INVALID_VERSION' } }])

    t.notMatch(log.text, 'S3CRET')
    t.notMatch(log.text, Buffer.from('S3CRET').join(','), 'not as the bytes of a packet either')
  })
}

t.test('logs only type, code, message, stack and causes of an error [S12]', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ logger: log })
  await app.register(transportSecurity, localHttp)
  class DatabaseError extends Error {
    code = '23505'
    detail = 'Key (email)=(ada@example.com) already exists.'
  }
  const error = new DatabaseError('duplicate key', { cause: new TypeError('below', { cause: 'the reason' }) })
  app.log.error({ err: error }, 'failed')
  app.log.error(error)
  for (const line of log.lines.slice(-2)) {
    t.strictSame(Object.keys(line['err'] as object), ['type', 'code', 'message', 'stack', 'cause'])
    t.match(line['err'], {
      type: 'DatabaseError',
      code: '23505',
      message: /^duplicate key: below: the reason$/,
      stack: /^Error: duplicate key\n +at /,
      cause: { type: 'TypeError', message: 'below', stack: /./, cause: 'the reason' }
    })
  }
  t.notMatch(log.text, 'ada@example.com')
  app.log.error(new Error('postgres://shop:S3CRET@db.internal/orders?a=1&token=S3CRET refused'))
  t.match(log.lines.at(-1), { err: { message: 'postgres://db.internal/orders?a=1 refused' } })
})

t.test('logs any thrown value, including circular causes and throwing getters', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ logger: log })
  await app.register(transportSecurity, localHttp)
  const circle: Error & { cause?: unknown } = new Error('round')
  circle.cause = circle
  const trap = Object.defineProperty(new Error('trap'), 'message', {
    get: () => {
      throw new Error('sprung')
    }
  })
  for (const err of [circle, trap, 'text ?token=S3CRET', 42, null, Symbol('odd'), Object.create(null), { stack: 7 }])
    app.log.error({ err }, 'thrown')
  const shown = log.saying('thrown').map(({ err }) => err)
  t.match(shown[0], { message: /^round$/, cause: { cause: { cause: { message: 'round' } } } })
  t.strictSame(
    shown.slice(1, 6),
    ['[cannot be shown]', 'text ', 42, null, 'Symbol(odd)'].map((value) => (value === 'text ' ? 'text ' : String(value)))
  )
  t.strictSame(shown.slice(6), [{ message: 'undefined' }, { type: 'Object', message: 'undefined' }])
})

function broken(): never {
  throw new Error('broken serializer')
}

t.test('a serializer that throws hides its value and does not crash the process', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ logger: { stream: log.stream, serializers: { user: broken, order: broken } } })
  await app.register(transportSecurity, localHttp)
  app.get('/', (request, reply) => {
    request.log.info({ user: 1, order: 1 }, 'from the handler')
    reply.send({})
  })
  app.get('/route', { logSerializers: { req: broken } }, async () => ({}))
  await app.register(
    async (child) => {
      child.get('/child', async () => ({}))
    },
    { logSerializers: { req: broken } }
  )
  for (const url of ['/', '/route', '/child']) t.equal((await app.inject(url)).statusCode, 200)

  const [plain, route, child] = log.saying('incoming request')
  t.match(plain, { req: { url: '/' } })
  t.match([route, child], [{ req: '[cannot be shown]' }, { req: '[cannot be shown]' }])
  t.match(log.saying('from the handler'), [{ user: '[cannot be shown]', order: '[cannot be shown]' }])
})

t.test('warns about a logger that is not pino, and its request line has no secrets either [S12]', async (t) => {
  const written: unknown[] = []
  const write = (...line: unknown[]) => void written.push(line)
  const logger = {
    level: 'info',
    silent() {},
    trace() {},
    debug() {},
    info: write,
    warn: write,
    error: write,
    fatal: write,
    child: () => logger2
  }
  const logger2 = { ...logger }
  const app = Fastify({ ...transportSecurityServerOptions(), loggerInstance: logger })
  await app.register(transportSecurity, localHttp)
  app.get('/', async () => ({}))
  await app.inject(`/?${secret}`)
  t.match(written, [
    [/the logger is not a pino logger/],
    [/options\.dangerouslyAllowHttp allows plain HTTP from this machine/],
    [{ method: 'GET', url: '/?page=2', statusCode: 200 }, 'request completed']
  ])
})
