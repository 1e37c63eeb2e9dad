import { isApiError } from '@concordat/api-error'
import batch, { type BatchOptions, type BatchRoute, batchErrors } from '@concordat/batch'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

/** A batch at `/v1/batches` for `/v1/things`, and a function that sends it and tells what was wrong, and what was carried out. */
async function refusing(t: Test, route: Partial<BatchRoute> = {}, options: BatchOptions = {}) {
  const calls: string[] = []
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(batch, options)
  app.setErrorHandler((error, _request, reply) =>
    reply.code(isApiError(error) ? error.statusCode : 500).send(isApiError(error) ? error.errors : String(error))
  )
  await app.register(
    async (v1) => {
      v1.all('/*', async ({ url }) => {
        calls.push(url)
        return {}
      })
      v1.batch('/batches', { paths: ['/things', '/batches'], maximumOperations: 4, ...route })
      v1.batch('/things/batches', { paths: ['/things'] })
    },
    { prefix: '/v1' }
  )
  const send = async (body: unknown) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/batches',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(body)
    })
    const json = answer.json<{ readonly field: string; readonly message: string }[]>()
    return {
      status: answer.statusCode,
      json,
      problems: answer.statusCode === 422 ? json.map(({ field, message }) => `${field} ${message}`) : []
    }
  }
  return { calls, send }
}

const good = { id: 'a', method: 'GET', path: '/v1/things' }

t.test('everything that is wrong is told at once, and nothing is carried out [B1] [X3]', async (t) => {
  const { calls, send } = await refusing(t)
  const answer = await send({
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
  t.equal(answer.status, 422)
  t.strictSame(answer.problems, [
    'body.more is not a known field',
    'body.atomic must be true or false',
    'body.operations must be a list of 1 to 4 operations',
    'body.operations.1.id is already the id of an earlier operation',
    'body.operations.1.method must be one of GET, POST, PUT, PATCH, DELETE',
    'body.operations.1.path must be a URI path that starts with a slash',
    'body.operations.2.extra is not a known field',
    'body.operations.2 is not a known field',
    'body.operations.2.id must be 1 to 64 characters: letters, digits and . _ ~ -',
    'body.operations.2.body must be absent: DELETE has no body',
    'body.operations.2.path must be /v1/things, /v1/batches or below',
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
    'body.operations.3.headers.If-Match must be visible characters, at most 4096',
    'body.operations.3.headers.accept must be visible characters, at most 4096',
    'body.operations.3.headers.ACCEPT was sent more than once',
    'body.operations.3.headers is not allowed as a header of an operation'
  ])
  t.strictSame(calls, [])
})

t.test('a batch that is none is refused', async (t) => {
  const { calls, send } = await refusing(t)
  t.strictSame((await send([])).problems, ['body must be an object'])
  t.strictSame((await send(null)).problems, ['body must be an object'])
  t.strictSame((await send({})).problems, ['body.operations must be a list of 1 to 4 operations'])
  t.strictSame((await send({ operations: [] })).problems, ['body.operations must be a list of 1 to 4 operations'])
  t.strictSame((await send({ operations: [1, { ...good, headers: [] }] })).problems, [
    'body.operations.0 must be an object',
    'body.operations.1.headers must be an object'
  ])
  t.strictSame((await send({ operations: [good], atomic: true })).problems, ['body.atomic must be false: this batch is never atomic'])
  t.strictSame(calls, [])
  t.equal((await send({ operations: [good], atomic: false })).status, 200)
  t.strictSame(calls, ['/v1/things'])
})

t.test('what has to be atomic can not be asked to be otherwise', async (t) => {
  const transactions = { run: async (_request: unknown, work: () => Promise<void>) => work(), includes: () => true }
  const { send } = await refusing(t, { atomic: 'always' }, { transactions })
  t.strictSame((await send({ operations: [good], atomic: false })).problems, ['body.atomic must be true: this batch is always atomic'])
  t.equal((await send({ operations: [good] })).status, 200)
})

t.test('a path means what it says, and nothing that the router would read as another', async (t) => {
  const { calls, send } = await refusing(t, { maximumOperations: 100 })
  const bad = [
    '/v1/thingsx',
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
    '/V1/things',
    '',
    '/v1/things/batches',
    '/v1/things/BATCHES/',
    '/v1/things/b%61tches',
    '/v1/batches?x=1',
    `/v1/things/${'x'.repeat(8192)}`,
    7
  ]
  const answer = await send({ operations: bad.map((path, index) => ({ ...good, id: String(index), path })) })
  t.strictSame(
    answer.json.map(({ field }) => field),
    bad.map((_, index) => `body.operations.${index}.path`)
  )
  t.strictSame(calls, [])
  const fine = ['/v1/things?a[gte]=1&b=%2F..', '/v1/things/', "/v1/things/a.b~c_d-e/%C3%B1/!$&'()*+,=:@"]
  t.equal((await send({ operations: fine.map((path, index) => ({ ...good, id: String(index), path })) })).status, 200)
  t.strictSame(calls, fine)
})

t.test('whatever path is let through, the router reads it below the allowed one', async (t) => {
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
  t.pass('no path has escaped')
})

const withTransaction: object = { transaction: true }

t.test('nonsense in the options stops the boot with one line', async (t) => {
  const refused: [string, BatchOptions, Partial<BatchRoute>][] = [
    ['has the paths []', {}, { paths: [] }],
    ['has the paths ["things"]', {}, { paths: ['things'] }],
    ['has the methods ["HEAD"]', {}, { methods: ['HEAD'] }],
    ['has the methods []', {}, { methods: [] }],
    ['has atomic "often"', {}, { atomic: 'often' as 'always' }],
    ['there is nothing to undo with', {}, { atomic: 'byRequest' }],
    ['has the status 201', {}, { status: 201 as 200 }],
    ['has config.transaction', {}, { config: withTransaction }],
    ['has maximumOperations 0', {}, { maximumOperations: 0 }],
    ['has maximumOperations 1001', {}, { maximumOperations: 1001 }],
    ['has maximumAnswerBytes 1.5', {}, { maximumAnswerBytes: 1.5 }],
    ['has maximumSeconds -1', {}, { maximumSeconds: -1 }],
    ['transactions has no run', { transactions: {} as never }, {}],
    ['operationKey is no function', { operationKey: 'key' as never }, {}],
    ['operationHeaders has "authorization"', { operationHeaders: ['authorization'] }, {}],
    [
      'operationHeaders has "x-forwarded-for", which comes from the request',
      { operationHeaders: ['x-forwarded-for'], forwardedHeaders: [] },
      {}
    ],
    ['operationHeaders has "host"', { operationHeaders: ['host'] }, {}],
    ['operationHeaders has "prefer", which comes from the request', { forwardedHeaders: ['prefer'] }, {}],
    ['forwardedHeaders has "content-length"', { forwardedHeaders: ['content-length'] }, {}],
    ['outcomeHeaders has "Location"', { outcomeHeaders: ['Location'] }, {}],
    ['outcomeHeaders has "set-cookie"', { outcomeHeaders: ['set-cookie'] }, {}]
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

t.test('each text is there in both languages', (t) => {
  for (const { message } of Object.values(batchErrors.definitions)) t.hasProps(message, ['en', 'es'])
  for (const message of Object.values(batchErrors.fieldMessages)) t.hasProps(message, ['en', 'es'])
  t.end()
})
