import { type Case, cases, type Expected } from './case.ts'
import { host, postChunked, rawPost } from './request-bytes.ts'

const malformed: Expected = { status: 400, code: 'MALFORMED_REQUEST', closes: true }
const tooLarge: Expected = { status: 413, code: 'PAYLOAD_TOO_LARGE' }
const ok: Expected = { status: 200 }
const smuggled = `GET /v1/probe HTTP/1.1\r\n${host}\r\n`

/** Framing that two servers in sequence could parse differently. */
export const framingCases: readonly Case[] = [
  ...cases(2, malformed, {
    'Content-Length and Transfer-Encoding': rawPost('Content-Length: 4\r\nTransfer-Encoding: chunked', `0\r\n\r\n${smuggled}`),
    'Transfer-Encoding and Content-Length': rawPost('Transfer-Encoding: chunked\r\nContent-Length: 4', `0\r\n\r\n${smuggled}`),
    'two equal Content-Lengths': rawPost('Content-Length: 2\r\nContent-Length: 2', '{}'),
    'two different Content-Lengths': rawPost('Content-Length: 2\r\nContent-Length: 40', `{}${smuggled}`),
    'a list of Content-Lengths': rawPost('Content-Length: 2, 2', '{}'),
    'a negative Content-Length': rawPost('Content-Length: -1', '{}'),
    'a Content-Length with a sign': rawPost('Content-Length: +2', '{}'),
    'a hexadecimal Content-Length': rawPost('Content-Length: 0x2', '{}'),
    'an empty Content-Length': rawPost('Content-Length: ', '{}'),
    'a Content-Length in words': rawPost('Content-Length: two', '{}'),
    'a Content-Length beyond 64 bits': rawPost(`Content-Length: ${'9'.repeat(30)}`, '{}'),
    'chunked before gzip': rawPost('Transfer-Encoding: chunked, gzip', '0\r\n\r\n'),
    'a space before the colon of Transfer-Encoding': rawPost('Transfer-Encoding : chunked', '0\r\n\r\n'),
    'a vertical tab before chunked': rawPost('Transfer-Encoding: \x0bchunked', '0\r\n\r\n'),
    'a chunk size that is not a number': postChunked('/v1/anything', 'zz\r\n{}\r\n0\r\n\r\n'),
    'a chunk size beyond 64 bits': postChunked('/v1/anything', `${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n`),
    'a negative chunk size': postChunked('/v1/anything', '-2\r\n{}\r\n0\r\n\r\n'),
    'a chunk that is longer than its size': postChunked('/v1/anything', '2\r\n{}{}\r\n0\r\n\r\n'),
    'a chunk size that ends in a bare LF': postChunked('/v1/anything', '2\n{}\r\n0\r\n\r\n'),
    'a trailer that is not a header': postChunked('/v1/anything', '2\r\n{}\r\n0\r\nno colon\r\n\r\n'),
    'a chunked body that ends too soon': [postChunked('/v1/anything', '40\r\n{}'), { end: 'half' }]
  }),
  ...cases(
    2,
    { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'] },
    {
      'only the coding gzip': rawPost('Transfer-Encoding: gzip', '{}'),
      'the coding identity': rawPost('Transfer-Encoding: identity', '{}')
    }
  ),
  {
    name: 'a misspelt coding',
    row: 2,
    send: rawPost('Transfer-Encoding: xchunked', '0\r\n\r\n'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'the coding twice',
    row: 9,
    send: rawPost('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nConnection: close', '2\r\n{}\r\n0\r\n\r\n'),
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'TRANSFER_CODING_NOT_IMPLEMENTED'] }
  },
  ...cases(
    2,
    { status: [200, 400], code: 'MALFORMED_REQUEST' },
    {
      'a space in a chunk size': postChunked('/v1/anything', '2 \r\n{}\r\n0\r\n\r\n'),
      'a trailer that would be a Content-Length': postChunked('/v1/anything', '2\r\n{}\r\n0\r\nContent-Length: 40\r\n\r\n')
    }
  ),
  {
    name: 'a trailer that would be a Host',
    row: 2,
    send: postChunked('/v1/anything', '2\r\n{}\r\n0\r\nHost: evil.example\r\n\r\n'),
    expect: ok
  },
  {
    name: 'a body that ends too soon',
    row: 2,
    send: [rawPost('Content-Length: 40', '{}'), { end: 'half' }],
    expect: { status: 400, code: ['MALFORMED_REQUEST', 'CONTENT_LENGTH_MISMATCH'], closes: true }
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
