import transportSecurity, { type TransportSecurityServerOptions, transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { CapturedLog } from './captured-log.ts'

const proxy = '10.0.0.5'
const made = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

async function service(log: CapturedLog, options: TransportSecurityServerOptions = {}, server: FastifyServerOptions = {}) {
  const app = Fastify({ ...transportSecurityServerOptions({ trustProxy: [proxy], ...options }), logger: { stream: log.stream }, ...server })
  await app.register(transportSecurity, { dangerouslyAllowHttp: true })
  log.text = ''
  app.get('/', async ({ log }) => {
    log.info('from the handler')
    return {}
  })
  app.get('/broken', async () => {
    throw new Error('broken')
  })
  return app
}

async function idGiven(
  headers: Record<string, string | string[]>,
  remoteAddress = proxy,
  options: TransportSecurityServerOptions = { requestIdFrom: 'proxy' }
) {
  const log = new CapturedLog()
  const app = await service(log, options)
  const { headers: response } = await app.inject({ url: '/', headers: headers as Record<string, string>, remoteAddress })
  t.equal(log.saying('request completed')[0]?.['reqId'], response['request-id'], 'the log has the same id')
  return response['request-id']
}

t.test('requestIdFrom proxy uses the id of a trusted proxy, a UUID or 16 to 64 plain characters [H2] [S10]', async (t) => {
  for (const id of ['0197a3c5-6f2e-7c41-9d3a-5b8e2f10c7d4', 'abcdefgh_IJKLM-9', 'a'.repeat(64)]) {
    t.equal(await idGiven({ 'x-request-id': id }), id)
    t.equal(await idGiven({ 'x-request-id': id, 'request-id': 'another-one-of-some-length' }), id)
  }
})

t.test('replaces an id in another format, from any other peer, or without requestIdFrom proxy [H2]', async (t) => {
  const id = '0197a3c5-6f2e-7c41-9d3a-5b8e2f10c7d4'
  for (const bad of [
    '',
    'short',
    'a'.repeat(65),
    `${id} `.repeat(2),
    `${id}, ${id}`,
    '"><script>alert(1)</script>',
    `${id}\u0131`,
    'a.b.c.d.e.f.g.h.i.j'
  ])
    t.match(await idGiven({ 'x-request-id': bad }), made, bad)
  t.match(await idGiven({ 'request-id': id }), made, 'a header that a proxy passes on')
  t.match(await idGiven({ 'x-request-id': [id, id] }), made, 'twice')
  t.match(await idGiven({ 'x-request-id': id }, '198.51.100.7'), made)
  t.match(await idGiven({ 'x-request-id': id }, proxy, {}), made)
  t.match(await idGiven({}), made)
  t.match(await idGiven({ 'x-request-id': id }, proxy, { trustProxy: [proxy], requestIdFrom: 'service' }), made)
})

t.test('rejects an invalid requestIdFrom', async (t) => {
  t.throws(() => transportSecurityServerOptions({ requestIdFrom: 'proxy' }), {
    name: 'TypeError',
    message: /options\.requestIdFrom is 'proxy', but options\.trustProxy is empty/
  })
  t.throws(() => transportSecurityServerOptions({ requestIdFrom: 'client' as 'proxy' }), {
    name: 'TypeError',
    message: /options\.requestIdFrom must be "proxy" or "service", but is "client"\./
  })
})

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

t.test('all log lines of a request have its trace, including errors [S11]', async (t) => {
  const log = new CapturedLog()
  const app = await service(log)
  const headers = { traceparent: `00-${traceId}-${parentId}-01` }
  for (const url of ['/', '/broken', '/unknown']) await app.inject({ url, headers })
  t.equal(log.lines.length, 5)
  for (const line of log.lines) t.match(line, { traceId, parentId, reqId: made })
})

t.test('ignores a traceparent in any other format', async (t) => {
  const log = new CapturedLog()
  const app = await service(log)
  for (const traceparent of [
    '',
    traceId,
    `01-${traceId}-${parentId}-01`,
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-extra`,
    `00-${traceId}-${parentId}`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    ` 00-${traceId}-${parentId}-zz`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`
  ])
    await app.inject({ url: '/', headers: { traceparent } })
  t.equal(log.lines.length, 22)
  t.notMatch(log.text, /traceId|parentId|0af765/i)
})

t.test('accepts a traceparent without a logger', async (t) => {
  const app = await service(new CapturedLog(), {}, { logger: false })
  t.equal((await app.inject({ url: '/', headers: { traceparent: `00-${traceId}-${parentId}-01` } })).statusCode, 200)
})
