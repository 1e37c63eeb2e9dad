import type { OutgoingHttpHeaders } from 'node:http2'
import type { Case } from './case.ts'
import { get, request } from './request-bytes.ts'

/** A failure that cannot have a response in the envelope, and why. The process stays alive unless `endsProcess` is set. */
export interface WithoutResponse extends Pick<Case, 'row' | 'server' | 'tls' | 'host' | 'methods'> {
  /** What happens: the first column of the page. */
  readonly name: string
  readonly reason: string
  /** What the client receives instead. */
  readonly outcome: 'an incomplete response' | 'no response' | 'a response without the envelope'
  readonly send?: Case['send']
  /** Sent over HTTP/2 instead. */
  readonly http2?: { readonly headers: OutgoingHttpHeaders; readonly body?: string }
  /** The server leaves the connection open. */
  readonly staysOpen?: true
  readonly endsProcess?: true
}

const underway =
  'The status line and a part of the body are already sent. The connection is closed, so that the client detects the incomplete body.'
const keptOut = 'The handler took control of the response from Fastify and from every plugin.'
const protocol = 'The HTTP/2 library refuses the stream before there is a request.'
const slow = `GET /v1/probe HTTP/1.1\r\nHost: api.example.com\r\n\r\n`

export const withoutResponse: readonly WithoutResponse[] = [
  {
    name: 'A stream fails after its first byte',
    row: 36,
    reason: underway,
    outcome: 'an incomplete response',
    send: get('/v1/streams/after-first-byte')
  },
  {
    name: 'A stream stalls after its first byte until the handler timeout',
    row: 36,
    reason: underway,
    outcome: 'an incomplete response',
    send: get('/v1/streams/stalled')
  },
  {
    name: 'A handler writes to `reply.raw` and then throws',
    row: 36,
    reason: underway,
    outcome: 'an incomplete response',
    send: get('/v1/raw/write-then-throw')
  },
  {
    name: 'A handler ends `reply.raw` itself',
    row: 28,
    reason: keptOut,
    outcome: 'a response without the envelope',
    send: get('/v1/raw/end')
  },
  {
    name: 'A handler calls `reply.hijack()` and writes',
    row: 28,
    reason: keptOut,
    outcome: 'a response without the envelope',
    send: get('/v1/raw/hijack-and-write')
  },
  {
    name: 'A handler calls `reply.hijack()` and throws',
    row: 28,
    reason: `${keptOut} The response is never ended: a route that hijacks must always end it.`,
    outcome: 'no response',
    staysOpen: true,
    send: get('/v1/raw/hijack-and-throw')
  },
  {
    name: 'A handler destroys `reply.raw`',
    row: 28,
    reason: 'The connection is closed.',
    outcome: 'no response',
    send: get('/v1/raw/destroy')
  },
  {
    name: 'A client resets the connection',
    row: 7,
    reason: 'The connection is closed.',
    outcome: 'no response',
    send: [get('/v1/never/async'), { end: 'reset' }]
  },
  {
    name: 'A connection on which the client sends no bytes',
    row: 7,
    reason: 'A `connectionTimeout` of the service ends it before there is a request. The default limit for headers responds with 408.',
    outcome: 'no response',
    server: 'idle-connections',
    send: '',
    methods: ['UNKNOWN']
  },
  {
    name: 'More requests on one connection than `maxRequestsPerSocket`',
    row: 15,
    reason: 'Node.js sends its own empty 503. Leave the option unset, which is the default, and limit connections in a proxy.',
    outcome: 'a response without the envelope',
    server: 'few-requests',
    // Node.js announces that it closes the connection, but does not close it.
    send: [slow + slow, { responses: 2 }, { end: 'reset' }],
    methods: ['GET', 'GET']
  },
  {
    name: 'More than 100 requests that wait on one HTTP/1 connection',
    row: 15,
    reason:
      'The requests of a connection are processed one after the other. The connection is closed, because memory for those that wait is limited.',
    outcome: 'no response',
    send: slow.replace('probe', 'never/async') + slow.repeat(101),
    methods: Array.from({ length: 102 }, () => 'GET')
  },
  {
    name: 'More connections than `server.maxConnections`',
    row: 16,
    reason: 'Node.js closes the connection before it reads from it.',
    outcome: 'no response',
    server: 'no-connections',
    send: get('/v1/things')
  },
  {
    name: 'A TLS client that offers only HTTP/1.1 to an HTTP/2-only server',
    row: 52,
    reason: 'The handshake fails because no protocol is agreed on. Set `allowHTTP1: true` to accept the client.',
    outcome: 'no response',
    server: 'http2',
    tls: { alpn: 'http/1.1' },
    send: get('/v1/things')
  },
  {
    name: 'Bytes after the HTTP/2 preface that are not frames',
    row: 50,
    reason: protocol,
    outcome: 'a response without the envelope',
    server: 'http2',
    tls: { alpn: 'h2' },
    send: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'garbage'.repeat(10)}`,
    methods: ['UNKNOWN']
  },
  { name: 'An HTTP/2 method with spaces', row: 50, reason: protocol, outcome: 'no response', http2: { headers: { ':method': 'B R E W' } } },
  {
    name: 'An HTTP/2 path without a leading slash',
    row: 50,
    reason: protocol,
    outcome: 'no response',
    http2: { headers: { ':path': 'things' } }
  },
  {
    name: 'An HTTP/2 body whose length differs from its `content-length`',
    row: 50,
    reason: protocol,
    outcome: 'no response',
    http2: {
      headers: { ':method': 'POST', ':path': '/v1/anything', 'content-type': 'application/json', 'content-length': '5' },
      body: '{}'
    }
  },
  {
    name: 'HTTP/2 headers of 70,000 bytes',
    row: 50,
    reason: protocol,
    outcome: 'no response',
    http2: { headers: { 'x-inner': 'a'.repeat(70_000) } }
  },
  {
    name: 'A promise that rejects outside of any request',
    row: 54,
    reason: 'It belongs to no request. Node.js ends the process unless the service handles it: log, complete requests in flight, exit.',
    outcome: 'a response without the envelope',
    send: request('GET', '/v1/floating/rejection'),
    endsProcess: true
  }
]
