import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Answer, answerChecker } from '@concordat/openapi/testing'
import t from 'tap'
import { documentOf, errors, type Loose, shop } from './shop.ts'

const id = '018f4e2a-7c1b-7d3e-9a5f-0123456789ab'
const order = { id, total: '12.50', status: 'paid', placedAt: '2026-01-31T12:00:00.000Z' }
const link = { rel: 'self', href: 'https://shop.example/v1/orders', method: 'GET' }
const meta = { version: 'v1', timestamp: '2026-01-31T12:00:00.000Z' }
const one = { data: order, _links: [link], _meta: meta }
const page = { data: [order], _links: [link], _meta: { ...meta, pagination: { page: 1, perPage: 25 } } }
const notFound = {
  error: { status: 404, error: 'Not Found', message: 'Nothing is here.', code: 'RESOURCE_NOT_FOUND' },
  _links: [],
  _meta: meta
}

const document = await documentOf({ errors, errorsOf: () => ['RESOURCE_NOT_FOUND', 'TOKEN_EXPIRED'] }, shop)
const check = answerChecker(document)

function answer(more: Partial<Omit<Answer, 'body'>>, body: unknown = one): Answer {
  return {
    method: 'GET',
    url: `/v1/orders/${id}`,
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'private, no-cache', etag: '"1"' },
    body: Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    ...more
  }
}

const json = { 'content-type': 'application/json' }
const fine: [title: string, answer: Answer][] = [
  ['a resource', answer({})],
  ['a URL with a query', answer({ url: `/v1/orders/${id}?colour=red` })],
  ['a body in gzip', answer({ headers: { ...json, 'content-encoding': 'gzip' } }, gzipSync(JSON.stringify(one)))],
  ['a body in Brotli', answer({ headers: { ...json, 'content-encoding': 'br' } }, brotliCompressSync(JSON.stringify(one)))],
  ['a response to HEAD without a body', answer({ method: 'HEAD' }, '')],
  ['a list', answer({ url: '/v1/orders', headers: json }, page)],
  ['a projection', answer({ url: '/v1/orders?fields=id', headers: json }, { ...page, data: [{ id }] })],
  ['a 304', answer({ status: 304, headers: { etag: '"1"' } }, '')],
  ['a 204', answer({ method: 'DELETE', status: 204, headers: {} }, '')],
  ['an error', answer({ status: 404, headers: json }, notFound)],
  ['an image', answer({ url: `/v1/orders/${id}/images/${id}`, headers: { 'content-type': 'image/png' } }, Buffer.from([1, 2]))],
  ['a 404 for an unknown path', answer({ url: '/v1/nothing', status: 404, headers: json }, notFound)],
  [
    'a 405 for an unsupported method',
    answer({ url: '/v1/orders', method: 'DELETE', status: 405, headers: { ...json, allow: 'GET' } }, notFound)
  ],
  ['a response to OPTIONS', answer({ method: 'OPTIONS', status: 204, headers: { allow: 'GET' } }, '')],
  ['a 404 to HEAD for an unknown path', answer({ url: '/v1/nothing', method: 'HEAD', status: 404, headers: {} }, '')]
]
for (const [title, given] of fine) t.test(`finds no problem in ${title}`, async (t) => t.strictSame(check(given), []))

const { status: _status, ...statusless } = order
const wrong: [title: string, answer: Answer, problem: RegExp][] = [
  ['a status code', answer({ status: 206 }), /GET \/v1\/orders\/\S+ 206: the status code is not described/],
  ['an error code', answer({ status: 409, headers: json }, { error: { code: 'OTHER' } }), /its code is OTHER/],
  [
    'another error code of a described status code',
    answer({ status: 404, headers: json }, { ...notFound, error: { ...notFound.error, code: 'X' } }),
    /allowed values/
  ],
  ['a media type', answer({ headers: { 'content-type': 'text/csv' } }), /the media type text\/csv is not described/],
  ['a header', answer({ headers: { ...json, 'x-colour': 'red' } }), /the header x-colour is not described/],
  ['an unknown field', answer({}, { ...one, data: { ...order, colour: 'red' } }), /\/data must NOT have unevaluated properties.*colour/],
  [
    'an unknown field of an error',
    answer({ status: 404, headers: json }, { ...notFound, error: { ...notFound.error, stack: '…' } }),
    /stack/
  ],
  ['a resource with a missing field', answer({}, { ...one, data: statusless }), /required property 'status'/],
  [
    'a list item with a missing field',
    answer({ url: '/v1/orders', headers: json }, { ...page, data: [statusless] }),
    /required property 'status'/
  ],
  [
    'a field of the wrong type in a projection',
    answer({ url: '/v1/orders?fields=id', headers: json }, { ...page, data: [{ id: 7 }] }),
    /must be string/
  ],
  ['a value in a format', answer({}, { ...one, data: { ...order, placedAt: 'today' } }), /date-time/],
  ['a body', answer({ method: 'DELETE', status: 204, headers: {} }, 'x'), /it has a body/],
  ['a body in a response to HEAD', answer({ method: 'HEAD' }), /it has a body/],
  ['a success for an unknown path', answer({ url: '/v1/nothing' }), /no operation describes this response/],
  ['an error in another shape', answer({ url: '/v1/nothing', status: 404, headers: json }, { message: 'x' }), /required property 'error'/],
  ['an error in HTML', answer({ url: '/v1/nothing', status: 404, headers: { 'content-type': 'text/html' } }, 'x'), /not JSON/]
]
for (const [title, given, problem] of wrong) {
  t.test(`reports ${title} that does not match the document`, async (t) => {
    const problems = check(given)
    t.ok(problems.length > 0)
    t.match(problems.join('\n'), problem)
  })
}

t.test('supports status code ranges, required headers and undescribed headers', async (t) => {
  const own: Loose = {
    openapi: '3.1.1',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/v1/orders/latest': { get: { responses: { default: { description: 'Any.' } } } },
      '/v1/orders/{id}': {
        get: {
          responses: {
            '2XX': {
              description: 'One.',
              headers: { 'X-Count': { required: true, schema: { type: 'integer' } } },
              content: { 'application/json': {} }
            }
          }
        }
      }
    }
  }
  const checkOwn = answerChecker(own, { undescribedHeaders: ['x-trace'] })
  t.strictSame(checkOwn(answer({ headers: { ...json, 'x-count': '7', 'x-trace': 'abc' } })), [])
  t.match(checkOwn(answer({ headers: { ...json, 'x-count': 'many' } })).join(), /header x-count:.*must be integer/)
  t.match(checkOwn(answer({ headers: json })).join(), /the header x-count is missing/)
  t.strictSame(checkOwn(answer({ url: '/v1/orders/latest', status: 500, headers: {} }, '')), [], 'a literal segment wins over a parameter')
  t.strictSame(
    checkOwn(answer({ url: '/v1/nothing', status: 404, headers: json }, 'whatever')),
    [],
    'the document does not define the shape of errors'
  )
})
