import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type CheckedResponse, responseChecker } from '@concordat/openapi/testing'
import t from 'tap'
import { documentOf, errors, type Loose, shop } from './shop.ts'

const id = '018f4e2a-7c1b-7d3e-9a5f-0123456789ab'
const order = { id, total: '12.50', status: 'paid', placedAt: '2026-01-31T12:00:00.000Z' }
const link = { rel: 'self', href: 'https://shop.example/v1/orders', method: 'GET' }
const meta = { version: 'v1', timestamp: '2026-01-31T12:00:00.000Z' }
const one = { data: order, _links: [link], _meta: meta }
const page = { data: [order], _links: [link], _meta: { ...meta, pagination: { page: 1, perPage: 25, totalItems: 1 } } }
const notFound = {
  error: { status: 404, error: 'Not Found', message: 'Nothing is here.', code: 'RESOURCE_NOT_FOUND', retry: 'never', effect: 'none' },
  _links: [],
  _meta: meta
}

const document = await documentOf({ errors, errorsOf: () => ['RESOURCE_NOT_FOUND', 'TOKEN_EXPIRED'] }, shop)
const check = responseChecker(document)

function response(more: Partial<Omit<CheckedResponse, 'body'>>, body: unknown = one): CheckedResponse {
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
const incomplete = {
  method: 'POST',
  url: '/v1/orders',
  status: 201,
  headers: { ...json, location: `https://shop.example/v1/orders/${id}`, 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete' }
}
const { status: _status, ...statusless } = order
const fine: [title: string, response: CheckedResponse][] = [
  ['a resource', response({})],
  ['a URL with a query', response({ url: `/v1/orders/${id}?colour=red` })],
  ['a body in gzip', response({ headers: { ...json, 'content-encoding': 'gzip' } }, gzipSync(JSON.stringify(one)))],
  ['a body in Brotli', response({ headers: { ...json, 'content-encoding': 'br' } }, brotliCompressSync(JSON.stringify(one)))],
  ['a response to HEAD without a body', response({ method: 'HEAD' }, '')],
  ['a list', response({ url: '/v1/orders', headers: json }, page)],
  ['a projection', response({ url: '/v1/orders?fields=id', headers: json }, { ...page, data: [{ id }] })],
  ['a 304', response({ status: 304, headers: { etag: '"1"' } }, '')],
  ['a 204', response({ method: 'DELETE', status: 204, headers: {} }, '')],
  ['an error', response({ status: 404, headers: json }, notFound)],
  ['an image', response({ url: `/v1/orders/${id}/images/${id}`, headers: { 'content-type': 'image/png' } }, Buffer.from([1, 2]))],
  ['a 404 for an unknown path', response({ url: '/v1/nothing', status: 404, headers: json }, notFound)],
  [
    'a 405 for an unsupported method',
    response({ url: '/v1/orders', method: 'DELETE', status: 405, headers: { ...json, allow: 'GET' } }, notFound)
  ],
  ['a response to OPTIONS', response({ method: 'OPTIONS', status: 204, headers: { allow: 'GET' } }, '')],
  ['a 404 to HEAD for an unknown path', response({ url: '/v1/nothing', method: 'HEAD', status: 404, headers: {} }, '')]
]
for (const body of [{ ...one, data: { id } }, { ...one, data: statusless }, ''])
  fine.push(['an incomplete replay', response(incomplete, body)])
for (const [title, given] of fine) t.test(`finds no problem in ${title}`, async (t) => t.strictSame(check(given), []))

const wrong: [title: string, response: CheckedResponse, problem: RegExp][] = [
  ['a status code', response({ status: 206 }), /GET \/v1\/orders\/\S+ 206: the status code is not described/],
  ['an error code', response({ status: 409, headers: json }, { error: { code: 'OTHER' } }), /its code is OTHER/],
  [
    'another error code of a described status code',
    response({ status: 404, headers: json }, { ...notFound, error: { ...notFound.error, code: 'X' } }),
    /allowed values/
  ],
  ['a media type', response({ headers: { 'content-type': 'text/csv' } }), /the media type text\/csv is not described/],
  ['a header', response({ headers: { ...json, 'x-colour': 'red' } }), /the header x-colour is not described/],
  ['an unknown field', response({}, { ...one, data: { ...order, colour: 'red' } }), /\/data must NOT have unevaluated properties.*colour/],
  [
    'an unknown field of an error',
    response({ status: 404, headers: json }, { ...notFound, error: { ...notFound.error, stack: '…' } }),
    /stack/
  ],
  ['a resource with a missing field', response({}, { ...one, data: statusless }), /required property 'status'/],
  [
    'a list item with a missing field',
    response({ url: '/v1/orders', headers: json }, { ...page, data: [statusless] }),
    /required property 'status'/
  ],
  [
    'a field of the wrong type in a projection',
    response({ url: '/v1/orders?fields=id', headers: json }, { ...page, data: [{ id: 7 }] }),
    /must be string/
  ],
  ['an unknown field of an incomplete replay', response(incomplete, { ...one, data: { id, colour: 'red' } }), /unevaluated/],
  ['a whole response that is not', response({ ...incomplete, headers: json }, { ...one, data: { id } }), /required property 'status'/],
  ['a value in a format', response({}, { ...one, data: { ...order, placedAt: 'today' } }), /date-time/],
  ['a body', response({ method: 'DELETE', status: 204, headers: {} }, 'x'), /it has a body/],
  ['a body in a response to HEAD', response({ method: 'HEAD' }), /it has a body/],
  ['a success for an unknown path', response({ url: '/v1/nothing' }), /no operation describes this response/],
  [
    'an error in another shape',
    response({ url: '/v1/nothing', status: 404, headers: json }, { message: 'x' }),
    /required property 'error'/
  ],
  ['an error in HTML', response({ url: '/v1/nothing', status: 404, headers: { 'content-type': 'text/html' } }, 'x'), /not JSON/]
]
for (const [title, given, problem] of wrong) {
  t.test(`reports ${title} that does not match the document`, async (t) => {
    const problems = check(given)
    t.ok(problems.length > 0)
    t.match(problems.join('\n'), problem)
  })
}

t.test('supports status code ranges and required headers', async (t) => {
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
  const checkOwn = responseChecker(own)
  t.strictSame(checkOwn(response({ headers: { ...json, 'x-count': '7' } })), [])
  t.match(checkOwn(response({ headers: { ...json, 'x-count': 'many' } })).join(), /header x-count:.*must be integer/)
  t.match(checkOwn(response({ headers: json })).join(), /the header x-count is missing/)
  t.strictSame(
    checkOwn(response({ url: '/v1/orders/latest', status: 500, headers: {} }, '')),
    [],
    'a literal segment wins over a parameter'
  )
  t.strictSame(
    checkOwn(response({ url: '/v1/nothing', status: 404, headers: json }, 'whatever')),
    [],
    'the document does not define the shape of errors'
  )
})
