// In a process of its own: it loads another version of Fastify for all modules.
import { once } from 'node:events'
import { registerHooks } from 'node:module'
import { type AddressInfo, connect } from 'node:net'
import { turns, until } from '@concordat/test-harness/until'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import tooOld from 'fastify-too-old'
import t from 'tap'

// The lowest version that the packages accept is the lowest one without known holes that they rely on not to have. Every module of this
// process gets it; all other tests run with the latest version.
const lowest = import.meta.resolve('fastify-floor')
registerHooks({ resolve: (specifier, context, next) => next(specifier === 'fastify' ? lowest : specifier, context) })
const { default: Fastify } = await import('fastify')
const { default: conventions, serverOptions } = await import('@concordat/conventions')

const options = { publicUrl: 'https://api.example.com', authentication: false, versions: { 1: {} }, paginationQuery: false } as const
const Thing = Type.Object({ name: Type.String({ minLength: 2 }) })

t.test('the preset works with the lowest version of Fastify that it accepts', async (t) => {
  const app = Fastify(serverOptions())
  t.equal(app.version, '5.12.1')
  t.teardown(() => app.close())
  await app.register(conventions, { ...options, transportSecurity: { dangerouslyAllowHttp: true }, idempotency: false })
  await app.apiVersion(1, async (v1) => {
    v1.post('/things', { schema: { body: Thing, response: { 201: Thing } } }, async ({ body }, reply) => reply.created('/things/a', body))
    v1.get('/things/:id', { schema: { response: { 200: Thing } } }, async () => ({ name: 'Tea' }))
  })
  const send = async (method: 'GET' | 'POST' | 'HEAD' | 'OPTIONS', url: string, payload?: string, type = 'application/json') => {
    const sent = payload === undefined ? {} : { payload, headers: { 'content-type': type } }
    return app.inject({ method, url, ...sent })
  }
  t.match((await send('GET', '/v1/things/a')).json(), { data: { name: 'Tea' }, _meta: { version: 'v1' } })
  t.equal((await send('POST', '/v1/things', '{"name":"Tea"}')).statusCode, 201)
  t.equal((await send('POST', '/v1/things', '{"name":"T"}')).statusCode, 422)
  // A media type that only begins like JSON must not pass without validation.
  for (const type of ['application/json\t; charset=utf-8', ' application/json', 'application/json;a'])
    t.notOk((await send('POST', '/v1/things', '{"name":"T"}', type)).statusCode < 400, type)
  t.equal((await send('POST', '/v1/things', '{', 'text/plain')).statusCode, 415)
  t.equal((await send('GET', '/nowhere')).json().error.code, 'RESOURCE_NOT_FOUND')
  t.equal((await send('OPTIONS', '/v1/things')).headers.allow, 'OPTIONS, POST')
})

t.test('with that version too, request.signal and onRequestAbort follow the response to a request with a body', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, { ...options, transportSecurity: { dangerouslyAllowHttp: true }, idempotency: false })
  const events: unknown[] = []
  app.addHook('onRequestAbort', async (_request) => void events.push('hook'))
  app.post('/things', { schema: { body: Thing } }, async ({ signal }) => {
    signal.addEventListener('abort', () => events.push('signal'))
    await turns()
    events.push(signal.aborted)
    await once(signal, 'abort')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('POST /things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":"Tea"}')
  await until(() => events.length > 0)
  socket.destroy()
  await until(() => events.length > 2)
  await turns()
  t.strictSame([events[0], ...events.slice(1).toSorted()], [false, 'hook', 'signal'])
})

t.test('an older version stops the start, and the message names the versions', async (t) => {
  const app = tooOld() as unknown as FastifyInstance
  t.teardown(() => app.close())
  await t.rejects(async () => app.register(conventions, options), {
    message: /expected '\^5\.12\.1' fastify version, '5\.12\.0' is installed/
  })
})
