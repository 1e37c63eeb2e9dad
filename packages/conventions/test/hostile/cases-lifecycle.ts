import type { Case, Expected } from './case.ts'
import { get, post, request } from './request-bytes.ts'

const internal: Expected = { status: 500, code: 'INTERNAL_ERROR' }
const late: Expected = { status: 408, code: 'REQUEST_TIMEOUT', closes: true }
const start = 'GET /v1/things HTTP/1.1\r\nHost: api.example.com\r\n'
const body = 'POST /v1/anything HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"a":'

// The same requests to every server whose options throw before Fastify can run hooks.
const atThrowing = (server: string): Case[] => [
  { name: `GET at ${server}`, row: 22, server, send: get('/v1/things'), expect: internal },
  { name: `POST at ${server}`, row: 22, server, send: post('/v1/anything', '{}'), expect: internal },
  { name: `HEAD at ${server}`, row: 22, server, send: request('HEAD', '/v1/things'), expect: internal },
  { name: `an unknown path at ${server}`, row: 22, server, send: get('/nowhere'), expect: internal }
]

/** Fastify destroys the request whose URL is rewritten to something else than a text. On Node.js 22 that ends its connection. */
export const destroysRewritten: boolean = process.versions.node.startsWith('22.')
// On later versions, such a value rewrites nothing.
const rewritten: Case = {
  name: 'a URL rewritten to a number',
  row: 23,
  server: 'rewrite-to-number',
  send: get('/v1/things'),
  expect: { status: 200 }
}

/** Servers whose own options fail, and second addresses of a server. */
export const optionCases: readonly Case[] = [
  ...['request-id-throws', 'rewrite-throws'].flatMap(atThrowing),
  ...(destroysRewritten ? [] : [rewritten]),
  // Without a route, no query is parsed.
  ...atThrowing('query-parser-throws').slice(0, 3),
  // A failure of the log does not affect the response.
  ...atThrowing('serializer-throws').map(
    (theCase, index): Case => ({ ...theCase, expect: index === 3 ? { status: 404, code: 'RESOURCE_NOT_FOUND' } : { status: 200 } })
  ),
  { name: 'a constraint that fails', row: 20, server: 'constraint-fails', send: get('/v1/things'), expect: internal },
  { name: 'a constraint that fails in POST', row: 20, server: 'constraint-fails', send: post('/v1/anything', '{'), expect: internal },
  {
    name: 'garbage at the first address',
    row: 53,
    server: 'two-addresses',
    send: 'garbage\r\n\r\n',
    expect: { status: 400, code: 'MALFORMED_REQUEST', closes: true }
  },
  {
    name: 'garbage at the second address',
    row: 53,
    server: 'two-addresses',
    host: '127.0.0.2',
    send: 'garbage\r\n\r\n',
    expect: { status: 400, code: 'MALFORMED_REQUEST', closes: true }
  },
  {
    name: 'a failure at the second address',
    row: 53,
    server: 'two-addresses',
    host: '127.0.0.2',
    send: get('/v1/nowhere'),
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  },
  {
    name: 'no Host at the second address',
    row: 53,
    server: 'two-addresses',
    host: '127.0.0.2',
    send: 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'MISSING_HOST' }
  }
]

/** Clients that are too slow, and plain HTTP on a TLS port. */
export const slowCases: readonly Case[] = [
  { name: 'half a request line', row: 6, server: 'slow-headers', send: 'GET /v1/thi', methods: ['UNKNOWN'], expect: late },
  { name: 'headers that never end', row: 6, server: 'slow-headers', send: `${start}X-Slow: 1`, methods: ['UNKNOWN'], expect: late },
  {
    name: 'headers that drip',
    row: 6,
    server: 'slow-headers',
    send: [start, ...Array.from({ length: 8 }, () => ['X: 1\r\n', { pauseMs: 50 }] as const).flat()],
    methods: ['UNKNOWN'],
    expect: late
  },
  { name: 'a body that never ends', row: 6, server: 'slow-body', send: body, expect: late },
  {
    name: 'a body that drips',
    row: 6,
    server: 'slow-body',
    send: [body, ...Array.from({ length: 8 }, () => ['1', { pauseMs: 50 }] as const).flat()],
    expect: late
  },
  {
    name: 'a connection that falls silent in its head',
    row: 7,
    server: 'idle-connections',
    send: `${start}X-Slow: 1`,
    methods: ['UNKNOWN'],
    expect: late
  },
  { name: 'a connection that falls silent in its body', row: 7, server: 'idle-connections', send: body, expect: late },
  {
    name: 'plain HTTP at the TLS port',
    row: 51,
    server: 'https',
    send: get('/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: 403, code: 'HTTPS_REQUIRED', closes: true }
  },
  {
    name: 'plain HTTP at the port of HTTP/2',
    row: 51,
    server: 'http2',
    send: get('/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: 403, code: 'HTTPS_REQUIRED', closes: true }
  },
  {
    name: 'TLS without a protocol name at the port of HTTP/2',
    row: 52,
    server: 'http2',
    tls: {},
    send: get('/v1/things'),
    methods: ['UNKNOWN'],
    expect: { status: [403, 505], code: ['HTTPS_REQUIRED', 'HTTP_VERSION_NOT_SUPPORTED'], closes: true }
  },
  {
    name: 'garbage through TLS',
    row: 1,
    server: 'https',
    tls: {},
    send: 'garbage\r\n\r\n',
    expect: { status: 400, code: 'MALFORMED_REQUEST', closes: true }
  },
  {
    name: 'no Host through TLS',
    row: 8,
    server: 'https',
    tls: {},
    send: 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'MISSING_HOST' }
  },
  {
    name: 'an unknown path through TLS',
    row: 25,
    server: 'https',
    tls: {},
    send: get('/v1/nowhere'),
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  },
  {
    name: 'garbage by HTTP/1 at a server of both',
    row: 1,
    server: 'http2-with-http1',
    tls: { alpn: 'http/1.1' },
    send: 'garbage\r\n\r\n',
    expect: { status: 400, code: 'MALFORMED_REQUEST', closes: true }
  },
  {
    name: 'no Host by HTTP/1 at a server of both',
    row: 8,
    server: 'http2-with-http1',
    tls: { alpn: 'http/1.1' },
    send: 'GET /v1/things HTTP/1.1\r\nConnection: close\r\n\r\n',
    expect: { status: 400, code: 'MISSING_HOST' }
  },
  {
    name: 'a teapot by HTTP/1 at a server of both',
    row: 11,
    server: 'http2-with-http1',
    tls: { alpn: 'http/1.1' },
    send: get('/v1/things', 'Expect: teapot'),
    expect: { status: 417, code: 'EXPECTATION_FAILED' }
  }
]
