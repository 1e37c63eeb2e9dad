import type { Expected, Http2Case } from './case.ts'
import { hookPaths } from './failing-hooks.ts'

const internal: Expected = { status: 500, code: 'INTERNAL_ERROR' }
const notFound: Expected = { status: 404, code: 'RESOURCE_NOT_FOUND' }
const unsupported: Expected = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }
const timedOut: Expected = { status: 503, code: 'HANDLER_TIMEOUT' }
const json = { 'content-type': 'application/json' }

const failing = (path: string, row: number, expect: Expected = internal): Http2Case => ({
  name: `${path} over HTTP/2`,
  row,
  headers: { ':path': `/v1/${path}` },
  expect
})

/** Everything that differs over HTTP/2, and a sample of what must be the same. */
export const http2Cases: readonly Http2Case[] = [
  ...[
    'error',
    'string',
    'null',
    'undefined',
    'getter-throws',
    'proxy-throws',
    'stack-throws',
    'circular',
    'status-200',
    'status-999',
    'headers-cr-lf'
  ].map((thrown) => failing(`throws/${thrown}`, 34)),
  ...hookPaths.filter((path) => path.endsWith('/rejects')).map((path) => failing(`hooks/${path}`, 31)),
  ...['missing-required', 'string', 'status-700', 'stream-fails-at-once', 'serializer-throws'].map((payload) =>
    failing(`payloads/${payload}`, 33)
  ),
  ...['html', 'stream', 'response'].map((own) => failing(`own-errors/${own}`, 28)),
  failing('fails/after-early-hints', 34),
  failing('fails/after-headers-were-set', 34),
  failing('child-handlers/throws/fails', 30),
  failing('never/async', 37, timedOut),
  failing('nowhere', 25, notFound),
  failing('things/%zz', 18, { status: 400, code: 'MALFORMED_URI' }),
  failing(`things/${'a'.repeat(300)}`, 19, { status: 414, code: 'URI_TOO_LONG' }),
  failing(`things?${'a'.repeat(9000)}`, 3, { status: 414, code: 'URI_TOO_LONG' }),
  failing('things/ONE', 21, notFound),
  {
    name: 'an unknown version over HTTP/2',
    row: 0,
    headers: { ':path': '/v9/things' },
    expect: { status: 404, code: 'VERSION_NOT_FOUND' }
  },
  { name: 'an unknown path in HEAD over HTTP/2', row: 25, headers: { ':method': 'HEAD', ':path': '/v1/nowhere' }, expect: notFound },
  { name: 'a failing HEAD over HTTP/2', row: 34, headers: { ':method': 'HEAD', ':path': '/v1/throws/error' }, expect: internal },
  {
    name: 'a wrong method over HTTP/2',
    row: 25,
    headers: { ':method': 'DELETE' },
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'GET, HEAD, OPTIONS, POST' }
  },
  {
    name: 'a wrong method with a broken body over HTTP/2',
    row: 24,
    headers: { ':method': 'PUT', ...json },
    body: '{',
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED' }
  },
  { name: 'OPTIONS over HTTP/2', row: 26, headers: { ':method': 'OPTIONS' }, expect: { status: 204, allow: 'GET, HEAD, OPTIONS, POST' } },
  {
    name: 'OPTIONS * over HTTP/2',
    row: 26,
    headers: { ':method': 'OPTIONS', ':path': '*' },
    expect: { status: 204, headers: { allow: /GET/ } }
  },
  ...['BREW', 'get', 'Get', 'A'.repeat(200), 'PROPFINDX', '__proto__', 'constructor'].map(
    (method): Http2Case => ({
      name: `the method ${method.slice(0, 20)} over HTTP/2`,
      row: 49,
      headers: { ':method': method },
      expect: { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }
    })
  ),
  {
    name: 'an unknown method with a body over HTTP/2',
    row: 49,
    headers: { ':method': 'BREW', ...json },
    body: '{',
    expect: { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }
  },
  {
    name: 'an unknown method on an unknown path over HTTP/2',
    row: 49,
    headers: { ':method': 'BREW', ':path': '/nowhere' },
    expect: { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }
  },
  {
    name: 'CONNECT over HTTP/2',
    row: 13,
    headers: { ':method': 'CONNECT', ':path': undefined, ':scheme': undefined },
    expect: { status: [405, 501], code: ['METHOD_NOT_ALLOWED', 'METHOD_NOT_IMPLEMENTED'] }
  },
  {
    name: 'a body without a type or length over HTTP/2',
    row: 48,
    headers: { ':method': 'POST', ':path': '/v1/anything' },
    body: '{}',
    expect: unsupported
  },
  {
    name: 'a PATCH without a type or length over HTTP/2',
    row: 48,
    headers: { ':method': 'PATCH', ':path': '/v1/anything' },
    body: '{}',
    expect: unsupported
  },
  {
    name: 'a body without a type over HTTP/2',
    row: 47,
    headers: { ':method': 'POST', ':path': '/v1/anything', 'content-length': '2' },
    body: '{}',
    expect: unsupported
  },
  {
    name: 'plain text over HTTP/2',
    row: 46,
    headers: { ':method': 'POST', ':path': '/v1/anything', 'content-type': 'text/plain' },
    body: '{}',
    expect: unsupported
  },
  {
    name: 'broken JSON over HTTP/2',
    row: 39,
    headers: { ':method': 'POST', ':path': '/v1/anything', ...json },
    body: '{',
    expect: { status: 400, code: 'MALFORMED_JSON' }
  },
  {
    name: 'an empty body over HTTP/2',
    row: 39,
    headers: { ':method': 'POST', ':path': '/v1/things', ...json },
    body: '',
    expect: { status: 400, code: 'EMPTY_BODY' }
  },
  {
    name: 'invalid UTF-8 over HTTP/2',
    row: 40,
    headers: { ':method': 'POST', ':path': '/v1/anything', ...json },
    body: Buffer.from('"\xff"', 'latin1'),
    expect: { status: 400, code: 'INVALID_UTF8' }
  },
  {
    name: '100,000 levels over HTTP/2',
    row: 42,
    headers: { ':method': 'POST', ':path': '/v1/anything', ...json },
    body: '['.repeat(100_000) + ']'.repeat(100_000),
    expect: { status: 400, code: 'JSON_TOO_DEEP' }
  },
  {
    name: 'invalid fields over HTTP/2',
    row: 39,
    headers: { ':method': 'POST', ...json },
    body: '{"more":1}',
    expect: { status: 422, code: 'VALIDATION_FAILED', fields: ['body.more', 'body.name', 'body.size'] }
  },
  {
    name: 'too large a body over HTTP/2',
    row: 12,
    headers: { ':method': 'POST', ':path': '/v1/small', ...json },
    body: `"${'a'.repeat(100)}"`,
    expect: { status: 413, code: 'PAYLOAD_TOO_LARGE' }
  },
  {
    name: 'the expectation of a teapot over HTTP/2',
    row: 11,
    headers: { expect: 'teapot' },
    expect: { status: 417, code: 'EXPECTATION_FAILED' }
  },
  { name: 'an unwanted media type over HTTP/2', row: 0, headers: { accept: 'text/html' }, expect: { status: 406, code: 'NOT_ACCEPTABLE' } },
  {
    name: 'a coding of the body over HTTP/2',
    row: 44,
    headers: { ':method': 'POST', ':path': '/v1/anything', ...json, 'content-encoding': 'gzip' },
    body: '{}',
    expect: { status: 415, code: 'UNSUPPORTED_CONTENT_ENCODING' }
  },
  {
    name: 'a path beyond ASCII over HTTP/2',
    row: 1,
    headers: { ':path': '/v1/th\u00edngs' },
    expect: { status: [400, 404], code: ['MALFORMED_URI', 'RESOURCE_NOT_FOUND'] }
  },
  {
    name: 'no authority over HTTP/2',
    row: 8,
    headers: { ':authority': undefined },
    expect: { status: [200, 400], code: ['MISSING_HOST', 'MALFORMED_REQUEST'] }
  }
]
