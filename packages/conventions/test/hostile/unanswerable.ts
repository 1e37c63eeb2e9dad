import type { OutgoingHttpHeaders } from 'node:http2'
import type { Case } from './case.ts'
import { get, request } from './request-bytes.ts'

/** What can not be answered in the envelope, and why; each leaves the process alive unless it says otherwise. */
export interface Unanswerable extends Pick<Case, 'row' | 'server' | 'tls' | 'host' | 'methods'> {
  /** What happens: the first column of the page. */
  readonly name: string
  readonly reason: string
  /** What the client gets instead. */
  readonly outcome: 'an incomplete answer' | 'no answer' | 'the words of another'
  readonly send?: Case['send']
  /** Sent over HTTP/2 instead. */
  readonly http2?: { readonly headers: OutgoingHttpHeaders; readonly body?: string }
  /** The server leaves the connection open. */
  readonly staysOpen?: true
  readonly endsProcess?: true
}

const underway =
  'The status line and a part of the body are already sent. The connection is cut, so that nobody takes the part for the whole.'
const keptOut = 'The handler took the response out of the hands of Fastify and of every plugin.'
const protocol = 'The HTTP/2 library refuses the stream before there is a request.'
const slow = `GET /v1/probe HTTP/1.1\r\nHost: api.example.com\r\n\r\n`

export const unanswerable: readonly Unanswerable[] = [
  {
    name: 'A stream fails after its first byte',
    row: 36,
    reason: underway,
    outcome: 'an incomplete answer',
    send: get('/v1/streams/after-first-byte')
  },
  {
    name: 'A stream stalls after its first byte until the handler timeout',
    row: 36,
    reason: underway,
    outcome: 'an incomplete answer',
    send: get('/v1/streams/stalled')
  },
  {
    name: 'A handler writes to `reply.raw` and then throws',
    row: 36,
    reason: underway,
    outcome: 'an incomplete answer',
    send: get('/v1/raw/write-then-throw')
  },
  { name: 'A handler ends `reply.raw` itself', row: 28, reason: keptOut, outcome: 'the words of another', send: get('/v1/raw/end') },
  {
    name: 'A handler calls `reply.hijack()` and writes',
    row: 28,
    reason: keptOut,
    outcome: 'the words of another',
    send: get('/v1/raw/hijack-and-write')
  },
  {
    name: 'A handler calls `reply.hijack()` and throws',
    row: 28,
    reason: `${keptOut} Nobody ends the response; write a route that hijacks so that it always does.`,
    outcome: 'no answer',
    staysOpen: true,
    send: get('/v1/raw/hijack-and-throw')
  },
  {
    name: 'A handler destroys `reply.raw`',
    row: 28,
    reason: 'The connection is gone.',
    outcome: 'no answer',
    send: get('/v1/raw/destroy')
  },
  {
    name: 'A client resets the connection',
    row: 7,
    reason: 'The connection is gone.',
    outcome: 'no answer',
    send: [get('/v1/never/async'), { end: 'reset' }]
  },
  {
    name: 'A connection on which no byte ever comes',
    row: 7,
    reason:
      'There is no request to answer, when a `connectionTimeout` of the service ends it. The limit for headers, set by default, is answered 408.',
    outcome: 'no answer',
    server: 'idle-connections',
    send: '',
    methods: ['UNKNOWN']
  },
  {
    name: 'More requests on one connection than `maxRequestsPerSocket`',
    row: 15,
    reason: 'Node answers an empty 503 of its own. Leave the option out, which is the default, and let a proxy bound connections.',
    outcome: 'the words of another',
    server: 'few-requests',
    // Node says that it closes, and does not.
    send: [slow + slow, { answers: 2 }, { end: 'reset' }],
    methods: ['GET', 'GET']
  },
  {
    name: 'More connections than `server.maxConnections`',
    row: 16,
    reason: 'Node closes the connection before it reads from it.',
    outcome: 'no answer',
    server: 'no-connections',
    send: get('/v1/things')
  },
  {
    name: 'A malformed request to the second address of `localhost`',
    row: 53,
    reason: 'Fastify opens a second server for it, which no plugin can reach. Listen on one explicit address; a warning at boot says so.',
    outcome: 'the words of another',
    server: 'two-addresses',
    host: '127.0.0.2',
    send: 'garbage\r\n\r\n',
    methods: ['UNKNOWN']
  },
  {
    name: 'A TLS client that offers only HTTP/1.1 to a server of HTTP/2 alone',
    row: 52,
    reason: 'The handshake fails: no protocol is agreed on. Set `allowHTTP1: true` to answer it.',
    outcome: 'no answer',
    server: 'http2',
    tls: { alpn: 'http/1.1' },
    send: get('/v1/things')
  },
  {
    name: 'Bytes after the preface of HTTP/2 that are no frames',
    row: 50,
    reason: protocol,
    outcome: 'the words of another',
    server: 'http2',
    tls: { alpn: 'h2' },
    send: `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'garbage'.repeat(10)}`,
    methods: ['UNKNOWN']
  },
  { name: 'An HTTP/2 method with spaces', row: 50, reason: protocol, outcome: 'no answer', http2: { headers: { ':method': 'B R E W' } } },
  {
    name: 'An HTTP/2 path that begins without a slash',
    row: 50,
    reason: protocol,
    outcome: 'no answer',
    http2: { headers: { ':path': 'things' } }
  },
  {
    name: 'An HTTP/2 body that is not as long as its `content-length`',
    row: 50,
    reason: protocol,
    outcome: 'no answer',
    http2: {
      headers: { ':method': 'POST', ':path': '/v1/anything', 'content-type': 'application/json', 'content-length': '5' },
      body: '{}'
    }
  },
  {
    name: 'HTTP/2 headers of 70,000 bytes',
    row: 50,
    reason: protocol,
    outcome: 'no answer',
    http2: { headers: { 'x-inner': 'a'.repeat(70_000) } }
  },
  {
    name: 'A promise that rejects outside of every request',
    row: 54,
    reason:
      'No request is known to have failed. Node ends the process, unless the service handles the event: log it, finish what is in flight, exit.',
    outcome: 'the words of another',
    send: request('GET', '/v1/floating/rejection'),
    endsProcess: true
  }
]
