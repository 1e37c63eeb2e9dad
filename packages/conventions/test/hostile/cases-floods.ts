import { type Case, cases, type Expected } from './case.ts'
import { get, host, post, postChunked, rawGet, rawPost } from './request-bytes.ts'

const malformed: Expected = { status: 400, code: 'MALFORMED_REQUEST', closes: true }
const headersTooLarge: Expected = { status: 431, code: 'HEADERS_TOO_LARGE', closes: true }
const tooLong: Expected = { status: 414, code: 'URI_TOO_LONG' }
const tooLarge: Expected = { status: 413, code: 'PAYLOAD_TOO_LARGE' }
const ok: Expected = { status: 200 }

/** Requests beyond a limit, and pipelined requests around an error. */
export const floodCases: readonly Case[] = [
  ...cases(3, headersTooLarge, {
    'a header of 20,000 bytes': get('/v1/things', `X-Inner: ${'a'.repeat(20_000)}`),
    'headers of 20,000 bytes': get('/v1/things', ...Array.from({ length: 200 }, (_, index) => `X-${index}: ${'a'.repeat(90)}`)),
    '5,000 short headers': get('/v1/things', ...Array.from({ length: 5000 }, () => 'a:b')),
    'a cookie of 100,000 bytes': get('/v1/things', `Cookie: ${'a'.repeat(100_000)}`),
    'a header name of 20,000 bytes': get('/v1/things', `${'a'.repeat(20_000)}: 1`),
    'trailers of 20,000 bytes': postChunked('/v1/anything', `2\r\n{}\r\n0\r\nX-Inner: ${'a'.repeat(20_000)}\r\n\r\n`)
  }),
  { name: 'a URI of 9,000 bytes', row: 3, send: get(`/v1/things?${'a'.repeat(9000)}`), methods: ['GET'], expect: tooLong },
  { name: 'a path of 9,000 bytes', row: 3, send: get(`/v1/${'things/'.repeat(1300)}`), methods: ['GET'], expect: tooLong },
  {
    name: 'a URI of 20,000 bytes',
    row: 3,
    send: get(`/v1/things?${'a'.repeat(20_000)}`),
    methods: ['GET'],
    expect: { ...tooLong, closes: true }
  },
  {
    name: 'a URI of 200,000 bytes',
    row: 3,
    send: get(`/v1/things?${'a'.repeat(200_000)}`),
    methods: ['GET'],
    expect: { ...tooLong, closes: true }
  },
  {
    name: 'a long URI in POST',
    row: 3,
    send: post(`/v1/things?${'a'.repeat(20_000)}`, '{}'),
    methods: ['POST'],
    expect: { ...tooLong, closes: true }
  },
  ...cases(12, tooLarge, {
    'a body beyond the limit': post('/v1/small', `"${'a'.repeat(100)}"`),
    'a body of 2 MB': post('/v1/anything', `"${'a'.repeat(2_000_000)}"`),
    'a chunked body beyond the limit': postChunked('/v1/small', `64\r\n"${'a'.repeat(98)}"\r\n0\r\n\r\n`),
    'a chunked body of 2 MB': postChunked('/v1/anything', `${(2_000_000).toString(16)}\r\n${' '.repeat(2_000_000)}\r\n0\r\n\r\n`),
    'a Content-Length of 1 TB': rawPost('Content-Length: 1000000000000', ''),
    'Expect: 100-continue with too large a body': rawPost('Expect: 100-continue\r\nContent-Length: 2000000', '')
  }),
  { name: 'Expect: 100-continue', row: 12, send: post('/v1/anything', '{}', 'Expect: 100-continue'), expect: ok },
  {
    name: 'Expect: 100-continue on an unknown path',
    row: 12,
    send: post('/v1/nowhere', '{}', 'Expect: 100-continue'),
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  },
  {
    name: 'the expectation of a teapot',
    row: 11,
    send: get('/v1/things', 'Expect: teapot'),
    expect: { status: 417, code: 'EXPECTATION_FAILED' }
  },
  ...cases(
    11,
    { status: [200, 417], code: 'EXPECTATION_FAILED' },
    {
      'an empty expectation': get('/v1/things', 'Expect: '),
      'two expectations': get('/v1/things', 'Expect: 100-continue, teapot')
    }
  ),
  {
    name: 'an expectation on an unknown path',
    row: 11,
    send: get('/nowhere', 'Expect: teapot'),
    expect: { status: [404, 417], code: ['EXPECTATION_FAILED', 'RESOURCE_NOT_FOUND'] }
  },
  {
    name: 'garbage after a good request',
    row: 1,
    send: [rawGet(''), { responses: 1 }, 'garbage\r\n\r\n'],
    methods: ['GET', 'UNKNOWN'],
    expect: { ...malformed, before: [200] }
  },
  {
    name: 'garbage pipelined behind a good request',
    row: 1,
    send: `${rawGet('')}garbage\r\n\r\n`,
    methods: ['GET', 'UNKNOWN'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true, before: [200] }
  },
  {
    name: 'garbage pipelined behind a slow failure',
    row: 1,
    send: `GET /v1/never/async HTTP/1.1\r\n${host}\r\ngarbage\r\n\r\n`,
    methods: ['GET', 'UNKNOWN'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true, before: [503] }
  },
  {
    name: 'a good request behind a 404',
    row: 25,
    send: `GET /nowhere HTTP/1.1\r\n${host}\r\n${rawGet('Connection: close')}`,
    methods: ['GET', 'GET'],
    expect: { ...ok, before: [404] }
  },
  {
    name: 'a good request behind a 422 with a body',
    row: 39,
    send: `${rawPost('Content-Length: 2', '{}').replace('/anything', '/things')}${rawGet('Connection: close')}`,
    methods: ['POST', 'GET'],
    expect: { ...ok, before: [422] }
  },
  {
    name: 'a good request behind a 500',
    row: 34,
    send: `GET /v1/throws/null HTTP/1.1\r\n${host}\r\n${rawGet('Connection: close')}`,
    methods: ['GET', 'GET'],
    expect: { ...ok, before: [500] }
  },
  {
    name: 'ten pipelined failures',
    row: 34,
    send: `${`GET /v1/throws/string HTTP/1.1\r\n${host}\r\n`.repeat(9)}${get('/v1/throws/string').toString()}`,
    methods: Array.from({ length: 10 }, () => 'GET'),
    expect: { status: 500, code: 'INTERNAL_ERROR', before: Array.from({ length: 9 }, () => 500) }
  }
]
