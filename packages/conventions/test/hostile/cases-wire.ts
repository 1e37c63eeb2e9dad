import type { Case, Expected } from './case.ts'
import { get, post, postChunked, request } from './request-bytes.ts'

const malformed: Expected = { status: 400, code: 'MALFORMED_REQUEST', closes: true }
const notImplemented: Expected = { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }
const headersTooLarge: Expected = { status: 431, code: 'HEADERS_TOO_LARGE', closes: true }
const tooLong: Expected = { status: 414, code: 'URI_TOO_LONG' }
const tooLarge: Expected = { status: 413, code: 'PAYLOAD_TOO_LARGE' }
const ok: Expected = { status: 200 }

const host = 'Host: api.example.com\r\n'
const json = 'Content-Type: application/json\r\n'
const head = (lines: string) => `GET /v1/things HTTP/1.1\r\n${host}${lines}\r\n\r\n`

// A TLS 1.2 ClientHello, as a client sends it that takes the port for an https one.
const clientHello = Buffer.from(
  '16030100a5010000a10303e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00002acca8cca9c02fc030c02bc02cc013c009c014c00a009c009d002f0035c012000a0100004e',
  'hex'
)

/** Bytes that are no request, or no well-formed one (rows 1, 8, 9, 10, 14 and 51 for the wrong protocol). */
export const malformedCases: readonly Case[] = [
  { name: 'a line of garbage', row: 1, send: 'garbage\r\n\r\n', expect: malformed },
  { name: 'binary garbage', row: 1, send: Buffer.from(Array.from({ length: 256 }, (_, index) => index)), expect: malformed },
  { name: 'random bytes above 127', row: 1, send: Buffer.alloc(64, 0xf7), expect: malformed },
  { name: 'a TLS ClientHello on the plain port', row: 1, send: clientHello, expect: malformed },
  { name: 'a line of SSH', row: 1, send: 'SSH-2.0-OpenSSH_9.6\r\n', expect: malformed },
  { name: 'a line of SMTP', row: 1, send: 'EHLO mail.example.com\r\n', expect: malformed },
  { name: 'a line of Redis', row: 1, send: '*1\r\n$4\r\nPING\r\n', expect: malformed },
  { name: 'a proxy protocol line', row: 1, send: `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${head('')}`, expect: malformed },
  { name: 'an HTTP answer', row: 1, send: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', methods: ['UNKNOWN'], expect: malformed },
  {
    name: 'no version',
    row: 9,
    send: 'GET /v1/things\r\n\r\n',
    methods: ['GET'],
    expect: { status: 505, code: 'HTTP_VERSION_NOT_SUPPORTED' }
  },
  { name: 'a version in words', row: 1, send: `GET /v1/things HTTP/one\r\n${host}\r\n`, expect: malformed },
  { name: 'another protocol', row: 1, send: `GET /v1/things ICY/1.0\r\n${host}\r\n`, expect: malformed },
  {
    name: 'RTSP',
    row: 1,
    send: `DESCRIBE /v1/things RTSP/1.0\r\n${host}CSeq: 1\r\n\r\n`,
    methods: ['DESCRIBE'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'GET in the words of RTSP',
    row: 1,
    send: `GET /v1/things RTSP/1.0\r\n${host}\r\n`,
    methods: ['GET'],
    expect: { status: [200, 400, 505], code: ['MALFORMED_REQUEST', 'HTTP_VERSION_NOT_SUPPORTED'] }
  },
  {
    name: 'a source of ICE',
    row: 1,
    send: `SOURCE /v1/things ICE/1.0\r\n${host}\r\n`,
    methods: ['SOURCE'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  { name: 'a line that ends in a bare LF', row: 1, send: `GET /v1/things HTTP/1.1\n${host}\r\n`, methods: ['GET'], expect: malformed },
  { name: 'a line that ends in a bare CR', row: 1, send: `GET /v1/things HTTP/1.1\r${host}\r\n`, methods: ['GET'], expect: malformed },
  { name: 'a header without a colon', row: 1, send: head('No-Colon'), expect: malformed },
  { name: 'a header without a name', row: 1, send: head(': value'), expect: malformed },
  { name: 'a space in a header name', row: 1, send: head('X Inner: 1'), expect: malformed },
  { name: 'a space before the colon', row: 1, send: head('X-Inner : 1'), expect: malformed },
  { name: 'a NUL in a header', row: 1, send: head('X-Inner: a\0b'), expect: malformed },
  { name: 'a control character in a header', row: 1, send: head('X-Inner: a\x01b'), expect: malformed },
  { name: 'a bare CR in a header', row: 1, send: head('X-Inner: a\rb'), expect: malformed },
  { name: 'an obsolete line fold', row: 1, send: head('X-Inner: a\r\n b'), expect: malformed },
  { name: 'a fold before the first header', row: 1, send: `GET /v1/things HTTP/1.1\r\n ${host}\r\n`, expect: malformed },
  { name: 'a path beyond ASCII', row: 1, send: Buffer.from(`GET /v1/thíngs HTTP/1.1\r\n${host}\r\n`), methods: ['GET'], expect: malformed },
  { name: 'a NUL in the path', row: 1, send: `GET /v1/th\0ings HTTP/1.1\r\n${host}\r\n`, methods: ['GET'], expect: malformed },
  { name: 'a space in the path', row: 1, send: `GET /v1/my things HTTP/1.1\r\n${host}\r\n`, methods: ['GET'], expect: malformed },
  {
    name: 'two spaces after the method',
    row: 1,
    send: `GET  /v1/things HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    methods: ['GET'],
    expect: { status: [200, 400], code: 'MALFORMED_REQUEST' }
  },
  { name: 'a tab after the method', row: 1, send: `GET\t/v1/things HTTP/1.1\r\n${host}\r\n`, methods: ['UNKNOWN'], expect: malformed },
  { name: 'a target without a slash', row: 1, send: `GET things HTTP/1.1\r\n${host}\r\n`, expect: malformed },
  {
    name: 'the preface of HTTP/2',
    row: 1,
    send: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    expect: { status: [400, 505], code: ['MALFORMED_REQUEST', 'HTTP_VERSION_NOT_SUPPORTED'], closes: true }
  },
  {
    name: 'HTTP/3.0',
    row: 1,
    send: `GET /v1/things HTTP/3.0\r\n${host}\r\n`,
    expect: { status: 505, code: 'HTTP_VERSION_NOT_SUPPORTED', closes: true }
  },
  {
    name: 'HTTP/1.9',
    row: 1,
    send: `GET /v1/things HTTP/1.9\r\n${host}\r\n`,
    expect: { status: [400, 505], code: ['MALFORMED_REQUEST', 'HTTP_VERSION_NOT_SUPPORTED'], closes: true }
  },
  {
    name: 'HTTP/1.1 without Host',
    row: 8,
    send: 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'MISSING_HOST' }
  },
  {
    name: 'a POST without Host',
    row: 8,
    send: 'POST /v1/things HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
    expect: { status: 400, code: 'MISSING_HOST' }
  },
  {
    name: 'an unknown path without Host',
    row: 8,
    send: 'GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'MISSING_HOST' }
  },
  { name: 'two Host headers', row: 9, send: get('/v1/things', 'Host: evil.example'), expect: { status: 400, code: 'DUPLICATE_HEADER' } },
  {
    name: 'HTTP/0.9',
    row: 9,
    send: ['GET /v1/things\r\n', { end: 'half' }],
    methods: ['UNKNOWN'],
    expect: { status: [400, 505], code: ['MALFORMED_REQUEST', 'HTTP_VERSION_NOT_SUPPORTED'] }
  },
  {
    name: 'HTTP/0.9 by number',
    row: 9,
    send: `GET /v1/things HTTP/0.9\r\n${host}\r\n`,
    expect: { status: 505, code: 'HTTP_VERSION_NOT_SUPPORTED' }
  },
  {
    name: 'two transfer codings',
    row: 9,
    send: request('POST', '/v1/things', { headers: ['Transfer-Encoding: gzip, chunked'], body: '0\r\n\r\n' }),
    expect: { status: 501, code: 'TRANSFER_CODING_NOT_IMPLEMENTED' }
  },
  {
    name: 'two Authorization headers',
    row: 10,
    send: get('/v1/things', 'Authorization: Bearer a', 'Authorization: Bearer b'),
    expect: { status: 400, code: 'DUPLICATE_HEADER' }
  },
  {
    name: 'two Content-Type headers',
    row: 10,
    send: post('/v1/anything', '{}', 'Content-Type: text/plain'),
    expect: { status: [400, 415], code: ['DUPLICATE_HEADER', 'UNSUPPORTED_MEDIA_TYPE'] }
  },
  {
    name: 'two Host headers that differ in case',
    row: 9,
    send: get('/v1/things', 'HOST: api.example.com'),
    expect: { status: 400, code: 'DUPLICATE_HEADER' }
  },
  {
    name: 'an upgrade to websocket',
    row: 14,
    send: `GET /v1/things HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    expect: ok
  },
  {
    name: 'an upgrade to h2c',
    row: 14,
    send: `GET /v1/things HTTP/1.1\r\n${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n\r\n`,
    expect: ok
  },
  {
    name: 'an upgrade to websocket on an unknown path',
    row: 14,
    send: `GET /nowhere HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  }
]

const smuggled = `GET /v1/probe HTTP/1.1\r\n${host}\r\n`
const framed = (lines: string, body: string) => `POST /v1/anything HTTP/1.1\r\n${host}${json}${lines}\r\n\r\n${body}`

/** Framing that two servers in a row could read differently (rows 2 and 4). */
export const framingCases: readonly Case[] = [
  {
    name: 'Content-Length and Transfer-Encoding',
    row: 2,
    send: framed('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${smuggled}`),
    expect: malformed
  },
  {
    name: 'Transfer-Encoding and Content-Length',
    row: 2,
    send: framed('Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${smuggled}`),
    expect: malformed
  },
  { name: 'two equal Content-Lengths', row: 2, send: framed('Content-Length: 2\r\nContent-Length: 2', '{}'), expect: malformed },
  {
    name: 'two different Content-Lengths',
    row: 2,
    send: framed('Content-Length: 2\r\nContent-Length: 40', `{}${smuggled}`),
    expect: malformed
  },
  { name: 'a list of Content-Lengths', row: 2, send: framed('Content-Length: 2, 2', '{}'), expect: malformed },
  { name: 'a negative Content-Length', row: 2, send: framed('Content-Length: -1', '{}'), expect: malformed },
  { name: 'a Content-Length with a sign', row: 2, send: framed('Content-Length: +2', '{}'), expect: malformed },
  { name: 'a hexadecimal Content-Length', row: 2, send: framed('Content-Length: 0x2', '{}'), expect: malformed },
  { name: 'an empty Content-Length', row: 2, send: framed('Content-Length: ', '{}'), expect: malformed },
  { name: 'a Content-Length in words', row: 2, send: framed('Content-Length: two', '{}'), expect: malformed },
  { name: 'a Content-Length beyond 64 bits', row: 2, send: framed(`Content-Length: ${'9'.repeat(30)}`, '{}'), expect: malformed },
  {
    name: 'only the coding gzip',
    row: 2,
    send: framed('Transfer-Encoding: gzip', '{}'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'] }
  },
  { name: 'chunked before gzip', row: 2, send: framed('Transfer-Encoding: chunked, gzip', '0\r\n\r\n'), expect: malformed },
  {
    name: 'a misspelt coding',
    row: 2,
    send: framed('Transfer-Encoding: xchunked', '0\r\n\r\n'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'the coding twice',
    row: 9,
    send: framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nConnection: close', '2\r\n{}\r\n0\r\n\r\n'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'] }
  },
  {
    name: 'the coding identity',
    row: 2,
    send: framed('Transfer-Encoding: identity', '{}'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'] }
  },
  {
    name: 'a space before the colon of Transfer-Encoding',
    row: 2,
    send: framed('Transfer-Encoding : chunked', '0\r\n\r\n'),
    expect: malformed
  },
  { name: 'a vertical tab before chunked', row: 2, send: framed('Transfer-Encoding: \x0bchunked', '0\r\n\r\n'), expect: malformed },
  { name: 'a chunk size that is no number', row: 2, send: postChunked('/v1/anything', 'zz\r\n{}\r\n0\r\n\r\n'), expect: malformed },
  {
    name: 'a chunk size beyond 64 bits',
    row: 2,
    send: postChunked('/v1/anything', `${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`),
    expect: malformed
  },
  { name: 'a negative chunk size', row: 2, send: postChunked('/v1/anything', '-2\r\n{}\r\n0\r\n\r\n'), expect: malformed },
  { name: 'a chunk that is longer than its size', row: 2, send: postChunked('/v1/anything', '2\r\n{}{}\r\n0\r\n\r\n'), expect: malformed },
  { name: 'a chunk size that ends in a bare LF', row: 2, send: postChunked('/v1/anything', '2\n{}\r\n0\r\n\r\n'), expect: malformed },
  {
    name: 'a space in a chunk size',
    row: 2,
    send: postChunked('/v1/anything', '2 \r\n{}\r\n0\r\n\r\n'),
    expect: { status: [200, 400], code: 'MALFORMED_REQUEST' }
  },
  { name: 'a trailer that is no header', row: 2, send: postChunked('/v1/anything', '2\r\n{}\r\n0\r\nno colon\r\n\r\n'), expect: malformed },
  {
    name: 'a trailer that would be a Content-Length',
    row: 2,
    send: postChunked('/v1/anything', '2\r\n{}\r\n0\r\nContent-Length: 40\r\n\r\n'),
    expect: { status: [200, 400], code: 'MALFORMED_REQUEST' }
  },
  {
    name: 'a trailer that would be a Host',
    row: 2,
    send: postChunked('/v1/anything', '2\r\n{}\r\n0\r\nHost: evil.example\r\n\r\n'),
    expect: ok
  },
  {
    name: 'a body that ends too soon',
    row: 2,
    send: [framed('Content-Length: 40', '{}'), { end: 'half' }],
    expect: { status: 400, code: ['MALFORMED_REQUEST', 'CONTENT_LENGTH_MISMATCH'], closes: true }
  },
  {
    name: 'a chunked body that ends too soon',
    row: 2,
    send: [postChunked('/v1/anything', '40\r\n{}'), { end: 'half' }],
    expect: malformed
  },
  {
    name: 'a head that ends too soon',
    row: 2,
    send: ['GET /v1/things HTTP/1.1\r\nHos', { end: 'half' }],
    methods: ['UNKNOWN'],
    expect: malformed
  },
  { name: 'a chunk extension', row: 4, send: postChunked('/v1/anything', '2;name=value\r\n{}\r\n0\r\n\r\n'), expect: ok },
  {
    name: 'a chunk extension of 20,000 bytes',
    row: 4,
    send: postChunked('/v1/anything', `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
    expect: { ...tooLarge, closes: true }
  },
  {
    name: 'many chunk extensions',
    row: 4,
    send: postChunked('/v1/anything', `${`1;${'x'.repeat(5000)}\r\n1\r\n`.repeat(6)}0\r\n\r\n`),
    expect: { status: [200, 413], code: 'PAYLOAD_TOO_LARGE' }
  }
]

/** Too much of something (rows 3 and 12), and pipelined requests around an error. */
export const floodCases: readonly Case[] = [
  { name: 'a header of 20,000 bytes', row: 3, send: get('/v1/things', `X-Inner: ${'a'.repeat(20_000)}`), expect: headersTooLarge },
  {
    name: 'headers of 20,000 bytes',
    row: 3,
    send: get('/v1/things', ...Array.from({ length: 200 }, (_, index) => `X-${index}: ${'a'.repeat(90)}`)),
    expect: headersTooLarge
  },
  { name: '5,000 short headers', row: 3, send: get('/v1/things', ...Array.from({ length: 5000 }, () => 'a:b')), expect: headersTooLarge },
  { name: 'a cookie of 100,000 bytes', row: 3, send: get('/v1/things', `Cookie: ${'a'.repeat(100_000)}`), expect: headersTooLarge },
  { name: 'a header name of 20,000 bytes', row: 3, send: get('/v1/things', `${'a'.repeat(20_000)}: 1`), expect: headersTooLarge },
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
  {
    name: 'trailers of 20,000 bytes',
    row: 3,
    send: postChunked('/v1/anything', `2\r\n{}\r\n0\r\nX-Inner: ${'a'.repeat(20_000)}\r\n\r\n`),
    expect: headersTooLarge
  },
  { name: 'a body beyond the limit', row: 12, send: post('/v1/small', `"${'a'.repeat(100)}"`), expect: tooLarge },
  { name: 'a body of 2 MB', row: 12, send: post('/v1/anything', `"${'a'.repeat(2_000_000)}"`), expect: tooLarge },
  {
    name: 'a chunked body beyond the limit',
    row: 12,
    send: postChunked('/v1/small', `64\r\n"${'a'.repeat(98)}"\r\n0\r\n\r\n`),
    expect: tooLarge
  },
  {
    name: 'a chunked body of 2 MB',
    row: 12,
    send: postChunked('/v1/anything', `${(2_000_000).toString(16)}\r\n${' '.repeat(2_000_000)}\r\n0\r\n\r\n`),
    expect: tooLarge
  },
  { name: 'the announcement of a body of 1 TB', row: 12, send: framed('Content-Length: 1000000000000', ''), expect: tooLarge },
  {
    name: 'the wish to continue with too large a body',
    row: 12,
    send: framed('Expect: 100-continue\r\nContent-Length: 2000000', ''),
    expect: tooLarge
  },
  { name: 'the wish to continue', row: 12, send: post('/v1/anything', '{}', 'Expect: 100-continue'), expect: ok },
  {
    name: 'the wish to continue on an unknown path',
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
  {
    name: 'an empty expectation',
    row: 11,
    send: get('/v1/things', 'Expect: '),
    expect: { status: [200, 417], code: 'EXPECTATION_FAILED' }
  },
  {
    name: 'two expectations',
    row: 11,
    send: get('/v1/things', 'Expect: 100-continue, teapot'),
    expect: { status: [200, 417], code: 'EXPECTATION_FAILED' }
  },
  {
    name: 'an expectation on an unknown path',
    row: 11,
    send: get('/nowhere', 'Expect: teapot'),
    expect: { status: [404, 417], code: ['EXPECTATION_FAILED', 'RESOURCE_NOT_FOUND'] }
  },
  {
    name: 'garbage after a good request',
    row: 1,
    send: [head(''), { answers: 1 }, 'garbage\r\n\r\n'],
    methods: ['GET', 'UNKNOWN'],
    expect: { ...malformed, before: [200] }
  },
  {
    name: 'garbage pipelined behind a good request',
    row: 1,
    send: `${head('')}garbage\r\n\r\n`,
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
    send: `GET /nowhere HTTP/1.1\r\n${host}\r\n${head('Connection: close')}`,
    methods: ['GET', 'GET'],
    expect: { ...ok, before: [404] }
  },
  {
    name: 'a good request behind a 422 with a body',
    row: 39,
    send: `${framed('Content-Length: 2', '{}').replace('/anything', '/things')}${head('Connection: close')}`,
    methods: ['POST', 'GET'],
    expect: { ...ok, before: [422] }
  },
  {
    name: 'a good request behind a 500',
    row: 34,
    send: `GET /v1/throws/null HTTP/1.1\r\n${host}\r\n${head('Connection: close')}`,
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

/** Methods that Node's parser does not know (rows 5 and 13). */
export const parserMethodCases: readonly Case[] = [
  ...['BREW', 'get', 'Get', 'FOO', 'GETS', 'X', 'M-POST', 'VERSION-CONTROL'].map(
    (method): Case => ({
      name: `the method ${method}`,
      row: 5,
      send: request(method, '/v1/things'),
      expect: { ...notImplemented, closes: true }
    })
  ),
  { name: 'an unknown method on an unknown path', row: 5, send: request('BREW', '/nowhere'), expect: { ...notImplemented, closes: true } },
  {
    name: 'an unknown method with a body',
    row: 5,
    send: request('BREW', '/v1/things', { body: '{"a":1}' }),
    expect: { ...notImplemented, closes: true }
  },
  { name: 'an unknown method without Host', row: 5, send: 'BREW /v1/things HTTP/1.1\r\n\r\n', expect: { ...notImplemented, closes: true } },
  { name: 'an unknown method on the asterisk', row: 5, send: request('BREW', '*'), expect: { ...notImplemented, closes: true } },
  {
    name: 'a method of 40 letters',
    row: 5,
    send: request('A'.repeat(40), '/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'a method of 20,000 letters',
    row: 5,
    send: request('A'.repeat(20_000), '/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: [400, 431, 501], code: ['MALFORMED_REQUEST', 'HEADERS_TOO_LARGE', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'CONNECT',
    row: 13,
    send: `CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n`,
    expect: { status: [405, 501], code: ['METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'CONNECT to a path',
    row: 13,
    send: `CONNECT /v1/things HTTP/1.1\r\n${host}\r\n`,
    expect: { status: [400, 405, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  }
]
