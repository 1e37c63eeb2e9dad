import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { inEnvironment } from '@concordat/test-harness/environment'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'
import { localHttp } from './local-http.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-[47][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

t.test('plain Fastify with only this plugin responds with the headers and a Request-Id [U11] [H2]', async (t) => {
  const app = Fastify()
  await app.register(transportSecurity, localHttp)
  app.get('/', async () => ({ fine: true }))
  const response = await app.inject('/')
  t.strictSame(response.json(), { fine: true })
  t.match(response.headers, { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'request-id': uuid })
})

t.test('every response has a unique id that is also in its log lines, across processes too [H2] [S11]', async (t) => {
  const log = new CapturedLog()
  const processes = [Fastify({ logger: log }), Fastify({ logger: log })]
  const ids: unknown[] = []
  for (const app of processes) {
    await app.register(transportSecurity, localHttp)
    app.get('/', async () => ({}))
    for (let i = 0; i < 20; i++) ids.push((await app.inject('/')).headers['request-id'])
  }
  t.equal(new Set(ids).size, 40)
  t.strictSame(
    log.saying('request completed').map(({ reqId }) => reqId),
    ids
  )
})

t.test('does not replace the genReqId of the service', async (t) => {
  const app = Fastify({ genReqId: () => 'mine' })
  await app.register(transportSecurity, localHttp)
  t.equal((await app.inject('/')).headers['request-id'], 'mine')
})

t.test('a server that its options have not made stops the start in production, and logs one warning otherwise', async (t) => {
  const says =
    /^transport-security: Fastify was created without transportSecurityServerOptions\(\) or with another serverFactory, so .+ Create it with/
  const foreign: Record<string, FastifyServerOptions> = {
    'plain Fastify': {},
    'a serverFactory of the service': {
      ...transportSecurityServerOptions(),
      serverFactory: (handler: (request: IncomingMessage, response: ServerResponse) => void) => createServer(handler)
    }
  }
  for (const [name, options] of Object.entries(foreign)) {
    const log = new CapturedLog()
    await Fastify({ ...options, logger: { stream: log.stream } }).register(transportSecurity)
    t.match(log.lines, [{ level: 40, msg: says }], name)
    t.equal(log.lines.length, 1)
  }
  inEnvironment(t, 'production')
  for (const [name, options] of Object.entries(foreign))
    await t.rejects(async () => Fastify(options).register(transportSecurity), { name: 'TypeError', message: says }, name)
  await Fastify(transportSecurityServerOptions()).register(transportSecurity)
})

t.test('logs one warning for a server without time limits', async (t) => {
  const log = new CapturedLog()
  await Fastify({ ...transportSecurityServerOptions(), requestTimeout: 0, logger: log }).register(transportSecurity)
  await Fastify({ ...transportSecurityServerOptions(), logger: log }).register(transportSecurity)
  t.match(log.lines, [{ level: 40, msg: /the server must have a request timeout.*transportSecurityServerOptions/ }])
  t.equal(log.lines.length, 1)
})

t.test('in a child context it logs a warning, because it changes the whole server', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ ...transportSecurityServerOptions(), logger: log })
  await app.register(async (v2) => v2.register(transportSecurity), { prefix: '/v2' })
  await app.ready()
  t.match(log.lines, [{ level: 40, msg: /registered in a child context.*Register it on the root instance/ }])
  t.equal((await app.inject('/v1')).headers['request-id'], undefined)
})

t.test('no log line shows a credential, also for routes declared before the plugin [S12] [U7]', async (t) => {
  const log = new CapturedLog()
  const app = Fastify({ logger: log })
  app.get('/early', (request, reply) => {
    request.log.info({ req: request }, 'from the handler')
    app.log.info({ req: request }, 'from the server log')
    reply.send({})
  })
  app.register(transportSecurity, localHttp)
  for (const url of ['/early', '/unknown']) await app.inject(`${url}?page=2&access_token=S3CRET`)
  t.notMatch(log.text, 'S3CRET')
  t.equal(log.text.match(/page=2/g)?.length, 5, 'the lines are present, with the rest of the URL')
})
