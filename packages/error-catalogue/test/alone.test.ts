import { type AddressInfo, connect } from 'node:net'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { contribute } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify, { type FastifyServerOptions } from 'fastify'
import t from 'tap'

function logInto(lines: string[]): NonNullable<FastifyServerOptions['logger']> {
  return { level: 'warn', stream: { write: (line: string) => void lines.push(line) } }
}

function fail(): never {
  throw new Error('option failed')
}

t.test('sends every error in the envelope with stock Fastify [E4]', async (t) => {
  movedDate(t, Date.UTC(2026, 0, 2, 3, 4, 5))
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue)
  app.get('/fails', async () => {
    throw new Error('the disk /dev/sda1 is full')
  })

  const failed = await app.inject('/fails')
  t.equal(failed.statusCode, 500)
  t.strictSame(failed.json(), {
    error: {
      status: 500,
      error: 'Internal Server Error',
      message: 'The service failed to process the request. If it happens again, report the Request-Id.',
      code: 'INTERNAL_ERROR',
      retry: 'later',
      effect: 'none'
    },
    _links: [{ rel: 'self', href: 'http://localhost/fails', method: 'GET' }],
    _meta: { version: 'v1', timestamp: '2026-01-02T03:04:05.000Z' }
  })
  t.match(failed.headers, {
    'content-type': 'application/json; charset=utf-8',
    'content-language': 'en',
    'cache-control': 'no-store',
    vary: 'accept-language',
    'request-id': 'req-1'
  })
  t.match((await app.inject('/unknown?token=abc&a=1')).json(), {
    error: { status: 404, error: 'Not Found', code: 'RESOURCE_NOT_FOUND' },
    _links: [{ rel: 'self', href: 'http://localhost/unknown?a=1', method: 'GET' }]
  })
})

t.test('does not change success responses', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  await app.register(errorCatalogue)
  app.get('/', async () => ({ a: 1 }))
  app.get('/response', async () => new Response('plain', { status: 202 }))
  app.get('/empty', (_request, reply) => reply.code(204).send())
  t.strictSame((await app.inject('/')).json(), { a: 1 })
  t.match(await app.inject('/response'), { statusCode: 202, body: 'plain' })
  t.match(await app.inject('/empty'), { statusCode: 204, body: '' })
})

t.test('responds in the envelope with the constant headers to a URL that the router rejects [X6]', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  contribute(app, 'earlyHeaders', ({ id }) => ({ 'request-id': String(id), 'x-split': 'a\r\nb' }))
  await app.register(errorCatalogue)
  app.get('/things/:id', async () => 'thing')

  const broken = await app.inject('/things/%zz')
  t.match(broken.json(), { error: { status: 400, code: 'MALFORMED_URI' }, _links: [{ rel: 'self', method: 'GET' }] })
  t.match(broken.headers, { 'request-id': /^req-/, 'content-language': 'en' })
  t.notOk('x-split' in broken.headers, 'a header that Node.js rejects is omitted')
  const long = await app.inject(`/things/${'1'.repeat(257)}`)
  t.match(long.json().error, { status: 414, error: 'URI Too Long', code: 'URI_TOO_LONG' })
  t.equal((await app.inject(`/things/${'1'.repeat(256)}`)).statusCode, 200)
})

t.test('without its server options it logs a warning once and still handles other errors', async (t) => {
  const lines: string[] = []
  const app = Fastify({ logger: logInto(lines) })
  app.get('/early', { config: { validationCode: 'NOT_IN_ANY_LIST' } }, async () => 'early')
  await app.register(errorCatalogue)
  app.post('/late', { schema: { body: { type: 'object', properties: { a: { type: 'integer' } } } } }, async () => 'late')

  t.match((await app.inject({ method: 'POST', url: '/late', payload: { a: '1', b: 2 } })).json().error, {
    status: 422,
    errors: [
      { field: 'body.a', message: 'must be of type integer' },
      { field: 'body.b', message: 'is not a known field' }
    ]
  })
  t.equal((await app.inject('/early')).statusCode, 200)
  t.match((await app.inject('/nowhere')).json().error, { code: 'RESOURCE_NOT_FOUND' })
  t.equal(lines.filter((line) => line.includes('Pass errorCatalogueServerOptions() to Fastify()')).length, 1)
})

t.test('uses VALIDATION_FAILED for a route with an unknown validationCode that was registered before the plugin', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  app.post(
    '/early',
    { config: { validationCode: 'NOT_IN_ANY_LIST' }, schema: { body: { type: 'object', required: ['a'] } } },
    async () => 'early'
  )
  await app.register(errorCatalogue)
  t.match((await app.inject({ method: 'POST', url: '/early', payload: {} })).json().error, { code: 'VALIDATION_FAILED' })
})

t.test('with its server options only, errors have no envelope and are never a success', async (t) => {
  const app = Fastify({ ...errorCatalogueServerOptions() })
  t.match(await app.inject('/%zz'), { statusCode: 400, body: '' })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.end('nonsense\r\n\r\n')
  t.equal((await socket.toArray()).join(''), '')
})

t.test('invalid options stop the start with a one-line message', async (t) => {
  for (const [options, message] of [
    [{ locales: [] }, /options\.locales is empty/],
    [{ publicUrl: 'api.example.com' }, /publicUrl is the invalid URL "api.example.com"/]
  ] as const) {
    await t.rejects(async () => Fastify().register(errorCatalogue, options), message)
  }
})

t.test('logs the error of a function in the options that throws, and uses the defaults', async (t) => {
  const lines: string[] = []
  const app = Fastify({ ...errorCatalogueServerOptions(), logger: logInto(lines) })
  await app.register(errorCatalogue, { locale: fail, version: fail })
  contribute(app, 'earlyHeaders', fail)
  t.match((await app.inject('/nowhere')).json(), { error: { code: 'RESOURCE_NOT_FOUND' }, _meta: { version: 'v1' } })
  t.match((await app.inject('/%zz')).json(), { error: { status: 400, code: 'MALFORMED_URI' } })
  t.match(lines.join(''), /the headers of a response that bypasses the hooks could not be set/)
  t.match(lines.join(''), /a function in the options threw an error, so the default response is sent/)
})

t.test('logs failures of the service as errors, but not errors that any client can cause', async (t) => {
  const lines: string[] = []
  const app = Fastify({ ...errorCatalogueServerOptions(), logger: logInto(lines) })
  await app.register(errorCatalogue)
  app.get('/:status', async (request) => {
    const { status } = request.params as { status: string }
    throw Object.assign(new Error(`thrown ${status}`), { statusCode: Number(status) })
  })
  for (const status of [404, 500, 501, 503, 505]) await app.inject(`/${status}`)
  t.strictSame(
    lines.map((line) => JSON.parse(line).err.message),
    ['thrown 500', 'thrown 503']
  )
})
