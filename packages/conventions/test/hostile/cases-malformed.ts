import { type Case, cases, type Expected } from './case.ts'
import { get, host, post, rawGet, request } from './request-bytes.ts'

const malformed: Expected = { status: 400, code: 'MALFORMED_REQUEST', closes: true }
const ok: Expected = { status: 200 }

// A TLS 1.2 ClientHello, which a client sends if it assumes an https port.
const clientHello = Buffer.from(
  '16030100a5010000a10303e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00002acca8cca9c02fc030c02bc02cc013c009c014c00a009c009d002f0035c012000a0100004e',
  'hex'
)

/** Bytes that are not a request, or not a well-formed request. */
export const malformedCases: readonly Case[] = [
  ...cases(1, malformed, {
    'a line of garbage': 'garbage\r\n\r\n',
    'binary garbage': Buffer.from(Array.from({ length: 256 }, (_, index) => index)),
    'random bytes above 127': Buffer.alloc(64, 0xf7),
    'a TLS ClientHello on the plain port': clientHello,
    'a line of SSH': 'SSH-2.0-OpenSSH_9.6\r\n',
    'a line of SMTP': 'EHLO mail.example.com\r\n',
    'a line of Redis': '*1\r\n$4\r\nPING\r\n',
    'a proxy protocol line': `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${rawGet('')}`,
    'a header without a colon': rawGet('No-Colon'),
    'a header without a name': rawGet(': value'),
    'a space in a header name': rawGet('X Inner: 1'),
    'a space before the colon': rawGet('X-Inner : 1'),
    'a NUL in a header': rawGet('X-Inner: a\0b'),
    'a control character in a header': rawGet('X-Inner: a\x01b'),
    'a bare CR in a header': rawGet('X-Inner: a\rb'),
    'an obsolete line fold': rawGet('X-Inner: a\r\n b'),
    'a fold before the first header': `GET /v1/things HTTP/1.1\r\n ${host}\r\n`,
    'a target without a slash': `GET things HTTP/1.1\r\n${host}\r\n`
  }),
  { name: 'an HTTP response', row: 1, send: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', methods: ['UNKNOWN'], expect: malformed },
  {
    name: 'no version',
    row: 9,
    send: 'GET /v1/things\r\n\r\n',
    methods: ['GET'],
    expect: { status: 505, code: 'HTTP_VERSION_NOT_SUPPORTED' }
  },
  { name: 'a version in words', row: 1, send: `GET /v1/things HTTP/one\r\n${host}\r\n`, methods: ['GET'], expect: malformed },
  { name: 'another protocol', row: 1, send: `GET /v1/things ICY/1.0\r\n${host}\r\n`, methods: ['GET'], expect: malformed },
  {
    name: 'RTSP',
    row: 1,
    send: `DESCRIBE /v1/things RTSP/1.0\r\n${host}CSeq: 1\r\n\r\n`,
    methods: ['DESCRIBE'],
    expect: { status: [400, 501], code: ['MALFORMED_REQUEST', 'METHOD_NOT_IMPLEMENTED'], closes: true }
  },
  {
    name: 'GET with the protocol RTSP',
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
  {
    name: 'the preface of HTTP/2',
    row: 1,
    send: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    methods: ['PRI', 'UNKNOWN'],
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
  ...cases(
    8,
    { status: 400, code: 'MISSING_HOST' },
    {
      'HTTP/1.1 without Host': 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
      'a POST without Host': 'POST /v1/things HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
      'an unknown path without Host': 'GET /nowhere HTTP/1.1\r\nConnection: close\r\n\r\n'
    }
  ),
  ...['', 'a b', 'a"b', 'a/b', 'a,b c', 'a<script>', '%zz', '[::1', '[1]', '::1', 'user@a.example', 'a:port', 'a:65536', 'a:1:2'].map(
    (value): Case => ({
      name: `Host: ${value}`,
      row: 8,
      send: `GET /v1/things HTTP/1.1\r\nHost: ${value}\r\nConnection: close\r\n\r\n`,
      expect: { status: 400, code: 'INVALID_HOST' }
    })
  ),
  {
    name: 'an absolute target with an empty Host',
    row: 8,
    send: 'GET http://evil.example/v1/things HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'INVALID_HOST' }
  },
  ...cases(
    9,
    { status: 400, code: 'DUPLICATE_HEADER' },
    {
      'two Host headers': get('/v1/things', 'Host: evil.example'),
      'two Host headers that differ in case': get('/v1/things', 'HOST: api.example.com')
    }
  ),
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
  ...cases(14, ok, {
    'an upgrade to websocket': `GET /v1/things HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    'an upgrade to h2c': `GET /v1/things HTTP/1.1\r\n${host}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n\r\n`
  }),
  {
    name: 'an upgrade to websocket on an unknown path',
    row: 14,
    send: `GET /nowhere HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  }
]
