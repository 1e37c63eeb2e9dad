import batch from '@concordat/batch'
import { isApiError } from '@concordat/plugin-kit/api-error'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

type BatchRoute = Parameters<FastifyInstance['batch']>[1]

/** Starts a batch at `/v1/batches` for `/v1/things`. Returns the executed operations and a function that sends a batch. */
async function refusing(t: Test, route: Partial<BatchRoute> = {}, published: Partial<Contracts> = {}) {
  const calls: string[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(batch)
  publish(app, published)
  app.setErrorHandler((error, _request, reply) =>
    reply.code(isApiError(error) ? error.statusCode : 500).send(isApiError(error) ? error.errors : String(error))
  )
  await app.register(
    async (v1) => {
      v1.all('/*', async ({ url }) => {
        calls.push(url)
        return {}
      })
      v1.batch('/batches', { paths: ['/things', '/batches'], ...route })
      v1.batch('/things/batches', { paths: ['/things'] })
    },
    { prefix: '/v1' }
  )
  const send = async (body: unknown) => {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/batches',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body)
    })
    const json = response.json<{ readonly field: string; readonly message: string }[]>()
    return {
      status: response.statusCode,
      json,
      problems: response.statusCode === 422 ? json.map(({ field, message }) => `${field} ${message}`) : []
    }
  }
  return { calls, send }
}

const good = { id: 'a', method: 'GET', path: '/v1/things' }

t.test('reports all problems in one response, and executes nothing [B1] [X3]', async (t) => {
  const { calls, send } = await refusing(t)
  const response = await send({
    operations: [
      good,
      { ...good, method: 'get', path: 'v1/things' },
      { id: 'b c', method: 'DELETE', path: '/v1/others', body: {}, extra: 1, 'odd name': 2 },
      {
        id: 'd',
        method: 'PUT',
        path: '/v1/batches',
        body: 1,
        headers: {
          Authorization: 'Bearer x',
          Host: 'evil.example',
          'X-Forwarded-For': '10.0.0.1',
          'X-Forwarded-Proto': 'https',
          'x-request-id': '1234567890123456',
          Forwarded: 'for=10.0.0.1',
          Cookie: 'a=b',
          'Content-Length': '3',
          'Content-Type': 'text/plain',
          'If-Match': 1,
          accept: 'a\r\nb: c',
          Accept: 'application/json',
          ACCEPT: 'application/json',
          'bad header': 'x'
        }
      },
      'no operation'
    ],
    atomic: 'yes',
    more: true
  })
  t.equal(response.status, 422)
  t.strictSame(response.problems, [
    'body.more is not a known field',
    'body.atomic must be true or false',
    'body.operations.1.id is already the id of an earlier operation',
    'body.operations.1.method must be one of GET, POST, PUT, PATCH, DELETE',
    'body.operations.1.path must be a URI path that starts with a slash',
    'body.operations.2.extra is not a known field',
    'body.operations.2 is not a known field',
    'body.operations.2.id must be 1 to 64 characters: letters, digits and . _ ~ -',
    'body.operations.2.body must be omitted: DELETE has no body',
    'body.operations.2.path must be one of these paths or a path below one of them: /v1/things, /v1/batches',
    'body.operations.3.path is a batch: batches cannot be nested',
    'body.operations.3.headers.Authorization applies to the whole batch: send it as a header of the request',
    'body.operations.3.headers.Host applies to the whole batch: send it as a header of the request',
    'body.operations.3.headers.X-Forwarded-For applies to the whole batch: send it as a header of the request',
    'body.operations.3.headers.X-Forwarded-Proto applies to the whole batch: send it as a header of the request',
    'body.operations.3.headers.x-request-id is not allowed as a header of an operation',
    'body.operations.3.headers.Forwarded is not allowed as a header of an operation',
    'body.operations.3.headers.Cookie is not allowed as a header of an operation',
    'body.operations.3.headers.Content-Length is not allowed as a header of an operation',
    'body.operations.3.headers.Content-Type must be a JSON media type: the body of an operation is JSON',
    'body.operations.3.headers.If-Match must have at most 4,096 characters, all of them allowed in an HTTP header',
    'body.operations.3.headers.accept must have at most 4,096 characters, all of them allowed in an HTTP header',
    'body.operations.3.headers.ACCEPT was sent more than once',
    'body.operations.3.headers is not allowed as a header of an operation',
    'body.operations.4 must be an object'
  ])
  t.strictSame(calls, [])
})

t.test('rejects a body that is not a valid batch', async (t) => {
  const { calls, send } = await refusing(t)
  t.strictSame((await send([])).problems, ['body must be an object'])
  t.strictSame((await send(null)).problems, ['body must be an object'])
  t.strictSame((await send({})).problems, ['body.operations must be an array of 1 to 100 operations'])
  t.strictSame((await send({ operations: [] })).problems, ['body.operations must be an array of 1 to 100 operations'])
  const many = Array.from({ length: 101 }, (_, index) => ({ ...good, id: String(index) }))
  t.strictSame((await send({ operations: many })).problems, ['body.operations must be an array of 1 to 100 operations'])
  t.strictSame((await send({ operations: [1, { ...good, headers: [] }] })).problems, [
    'body.operations.0 must be an object',
    'body.operations.1.headers must be an object'
  ])
  t.strictSame((await send({ operations: [good], atomic: true })).problems, ['body.atomic must be false: this batch is never atomic'])
  t.strictSame(calls, [])
  t.equal((await send({ operations: [good], atomic: false })).status, 200)
  t.strictSame(calls, ['/v1/things'])
})

t.test('rejects atomic: false for a batch that is always atomic', async (t) => {
  const transactions = {
    runAsOne: async <Result>(_request: unknown, work: () => Promise<Result>) => work(),
    transactionOf: () => ({ beforeCommit: () => {}, isRolledBack: true }),
    currentTransaction: () => undefined
  }
  const { send } = await refusing(t, { atomic: 'always' }, { transactions })
  t.strictSame((await send({ operations: [good], atomic: false })).problems, ['body.atomic must be true: this batch is always atomic'])
  t.equal((await send({ operations: [good] })).status, 200)
})

t.test('rejects paths that the router could read as another path', async (t) => {
  const { calls, send } = await refusing(t)
  const nested = ['/v1/things/batches', '/v1/things/BATCHES/', '/v1/things/b%61tches', '/v1/batches?x=1']
  const foreign = ['/v1/thingsx', '/V1/things']
  const ambiguous = [
    '/v1/things/../users',
    '/v1/things/./a',
    '/v1/things/..',
    '/v1/things/%2e%2e/users',
    '/v1/things/%2E./users',
    '/v1/things//users',
    '/v1/things/a%2fb',
    '/v1/things/a%5Cb',
    '/v1/things\\..\\users',
    '/v1/things/%00',
    '/v1/things/%zz',
    '/v1/things/a#b',
    '/v1/things;a/..',
    '/v1/things/a%3fb',
    '/v1/things/ a',
    '/v1/things/ñ',
    '//evil.example/v1/things',
    'https://evil.example/v1/things',
    '',
    `/v1/things/${'x'.repeat(8192)}`,
    7
  ]
  const bad = [...nested, ...foreign, ...ambiguous]
  const response = await send({ operations: bad.map((path, index) => ({ ...good, id: String(index), path })) })
  const problems = [
    ...nested.map(() => 'is a batch: batches cannot be nested'),
    ...foreign.map(() => 'must be one of these paths or a path below one of them: /v1/things, /v1/batches'),
    ...ambiguous.map(() => 'must be a URI path that starts with a slash')
  ]
  t.strictSame(
    response.problems,
    problems.map((problem, index) => `body.operations.${index}.path ${problem}`)
  )
  t.strictSame(calls, [])
  const fine = ['/v1/things?a[gte]=1&b=%2F..', '/v1/things/', "/v1/things/a.b~c_d-e/%C3%B1/!$&'()*+,=:@"]
  t.equal((await send({ operations: fine.map((path, index) => ({ ...good, id: String(index), path })) })).status, 200)
  t.strictSame(calls, fine)
})

t.test('the router reads every accepted path below the allowed path', async (t) => {
  const { calls, send } = await refusing(t)
  const piece = constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2F',
    '//',
    'v1',
    'things',
    'batches',
    '?',
    '#',
    ';',
    '\\',
    'a',
    '%',
    '%25',
    '%2',
    ':',
    '@'
  )
  await assert(
    asyncProperty(array(piece, { maxLength: 8 }), async (pieces) => {
      calls.length = 0
      const { status } = await send({ operations: [{ ...good, path: `/v1/things${pieces.join('')}` }] })
      return status === 422 ? calls.length === 0 : calls.every((url) => new URL(url, 'http://x').pathname.startsWith('/v1/things'))
    }),
    { numRuns: 200 }
  )
  t.pass('no path escaped')
})

const withBytes: object = { maxRequestBytes: 100 }
const withTransaction: object = { transaction: true }

t.test('rejects invalid options at boot with a one-line message', async (t) => {
  const refused: [string, object, Partial<BatchRoute>][] = [
    ['paths must be a non-empty array of the paths that operations may use, for example ["/orders"], but is []', {}, { paths: [] }],
    [
      'paths must be a non-empty array of the paths that operations may use, for example ["/orders"], but is ["things"]',
      {},
      { paths: ['things'] }
    ],
    ['atomic must be "never" or "byRequest" or "always", but is "often"', {}, { atomic: 'often' as 'always' }],
    ['atomic requires transactions. Register a plugin that runs them first', {}, { atomic: 'byRequest' }],
    ['config.transaction must not be set on a batch', {}, { config: withTransaction }],
    ['options.forwardedHeaders is unknown', { forwardedHeaders: ['prefer'] }, {}],
    ['options.maxRequestBytes is unknown. Set bodyLimit of the service.', {}, withBytes]
  ]
  for (const [line, options, route] of refused) {
    const app = Fastify()
    const boot = async () => {
      await app.register(batch, options)
      app.batch('/batches', { paths: ['/things'], ...route })
    }
    await t.rejects(boot(), { name: 'TypeError', message: new RegExp(`^batch: [^\n]*${line.replaceAll(/[[\]().]/g, '\\$&')}[^\n]*$`) })
  }
})
