import type { Case, Expected } from './case.ts'
import { get, post, request } from './request-bytes.ts'

const notFound: Expected = { status: 404, code: 'RESOURCE_NOT_FOUND' }
const badUri: Expected = { status: 400, code: 'MALFORMED_URI' }
const thingsAllow = 'GET, HEAD, OPTIONS, POST'
const oneAllow = 'DELETE, GET, HEAD, OPTIONS'

const refused: Expected = { status: 405, code: 'METHOD_NOT_ALLOWED', allow: thingsAllow }

/** URLs that the router refuses, and unknown URLs. */
export const uriCases: readonly Case[] = [
  ...['%', '%z', '%zz', '%0', 'a%', '%%', '%ff', '%c0%af', '%ed%a0%80', '%e2%82', '%f5%80%80%80', 'a%2'].map(
    (segment): Case => ({ name: `the segment ${segment}`, row: 18, send: get(`/v1/things/${segment}`), expect: badUri })
  ),
  {
    name: 'a broken escape outside of a version',
    row: 18,
    send: get('/%zz'),
    expect: { status: [400, 404], code: ['MALFORMED_URI', 'RESOURCE_NOT_FOUND'] }
  },
  { name: 'a broken escape in POST', row: 18, send: post('/v1/things/%zz', '{'), expect: badUri },
  { name: 'a broken escape in HEAD', row: 18, send: request('HEAD', '/v1/things/%zz'), expect: badUri },
  {
    name: 'the absolute form without a host',
    row: 18,
    send: get('http://'),
    expect: { status: [400, 404], code: ['MALFORMED_URI', 'MALFORMED_REQUEST', 'RESOURCE_NOT_FOUND'] }
  },
  {
    name: 'the absolute form of another host',
    row: 18,
    send: get('http://evil.example/v1/nowhere'),
    expect: { status: [404, 421], code: ['RESOURCE_NOT_FOUND', 'MISDIRECTED_REQUEST'] }
  },
  {
    name: 'an identifier of 300 characters',
    row: 19,
    send: get(`/v1/things/${'a'.repeat(300)}`),
    expect: { status: 414, code: 'URI_TOO_LONG' }
  },
  {
    name: 'an identifier of 300 characters in DELETE',
    row: 19,
    send: request('DELETE', `/v1/things/${'a'.repeat(300)}`),
    expect: { status: 414, code: 'URI_TOO_LONG' }
  },
  {
    name: 'an identifier of 5,000 characters',
    row: 19,
    send: get(`/v1/things/${'a'.repeat(5000)}`),
    methods: ['GET'],
    expect: { status: 414, code: 'URI_TOO_LONG' }
  },
  { name: 'an identifier that its schema refuses', row: 21, send: get('/v1/things/ONE'), expect: notFound },
  { name: 'an identifier with an encoded slash', row: 21, send: get('/v1/things/a%2fb'), expect: notFound },
  { name: 'an identifier with an encoded NUL', row: 21, send: get('/v1/things/a%00'), expect: notFound },
  { name: 'an identifier with an encoded line break', row: 21, send: get('/v1/things/a%0d%0aX-Injected:%20b'), expect: notFound },
  { name: 'dots for a path', row: 21, send: get('/v1/../../etc/passwd'), expect: notFound },
  { name: 'encoded dots for a path', row: 21, send: get('/v1/%2e%2e/%2e%2e/etc/passwd'), expect: notFound },
  { name: 'a script for a path', row: 21, send: get('/v1/<script>alert(1)</script>'), expect: notFound },
  { name: 'quotes in a path', row: 21, send: get('/v1/"quoted"'), expect: notFound },
  { name: 'two slashes', row: 21, send: get('//v1//things'), expect: notFound },
  { name: 'only slashes', row: 21, send: get('////'), expect: notFound },
  { name: 'a path that looks like another host', row: 21, send: get('//evil.example/v1/things'), expect: notFound },
  { name: 'a backslash', row: 21, send: get('/v1\\things'), expect: notFound },
  { name: 'an unknown path', row: 25, send: get('/nowhere'), expect: notFound },
  { name: 'an unknown path of a version', row: 25, send: get('/v1/nowhere'), expect: notFound },
  { name: 'an unknown path in HEAD', row: 25, send: request('HEAD', '/v1/nowhere'), expect: notFound },
  { name: 'a path in capitals', row: 25, send: get('/v1/THINGS'), expect: notFound },
  { name: 'a favicon', row: 25, send: get('/favicon.ico'), expect: notFound },
  {
    name: 'a fragment in the target',
    row: 25,
    send: get('/v1/nowhere#top'),
    expect: { status: 400, code: 'MALFORMED_REQUEST' }
  },
  {
    name: 'credentials in the query of an unknown path',
    row: 25,
    send: get('/v1/nowhere?access_token=abc'),
    expect: { status: [400, 404], code: ['RESOURCE_NOT_FOUND', 'CREDENTIALS_IN_URI'] }
  }
]

/** Unknown and invalid versions (rule V1). */
export const versionCases: readonly Case[] = [
  ...['/v9/things', '/v9', '/v0/things', '/v2/things', '/v01/things', '/V1/things', '/v1.2/things', '/v1.2.3/things'].map(
    (target): Case => ({ name: `the version of ${target}`, row: 0, send: get(target), expect: { status: 404, code: 'VERSION_NOT_FOUND' } })
  ),
  ...['/v-1/things', '/v/things', '/v1x/things', '/v1e0/things', '/v%31/nowhere', '/1/things'].map(
    (target): Case => ({ name: `the version of ${target}`, row: 0, send: get(target), expect: { status: 404, code: 'RESOURCE_NOT_FOUND' } })
  ),
  {
    name: 'a POST with a broken body to an unknown version',
    row: 24,
    send: post('/v9/things', '{'),
    expect: { status: 404, code: 'VERSION_NOT_FOUND' }
  },
  {
    name: 'a DELETE in an unknown version',
    row: 0,
    send: request('DELETE', '/v9/things'),
    expect: { status: 404, code: 'VERSION_NOT_FOUND' }
  }
]

/** Methods that a URL does not have, refused before the body is read. */
export const methodCases: readonly Case[] = [
  ...[
    'DELETE',
    'PUT',
    'PATCH',
    'TRACE',
    'PROPFIND',
    'PURGE',
    'LOCK',
    'MKCOL',
    'SEARCH',
    'SUBSCRIBE',
    'LINK',
    'REPORT',
    'M-SEARCH',
    'QUERY'
  ].map(
    (method): Case => ({
      name: `${method} where it is not known`,
      row: 25,
      send: request(method, '/v1/things'),
      // A method that Fastify cannot route is not implemented; another method is not allowed here.
      expect: ['DELETE', 'PUT', 'PATCH', 'TRACE', 'QUERY'].includes(method) ? refused : { status: 501, code: 'METHOD_NOT_IMPLEMENTED' }
    })
  ),
  {
    name: 'PUT on one thing',
    row: 25,
    send: request('PUT', '/v1/things/one'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: oneAllow }
  },
  {
    name: 'POST on one thing',
    row: 25,
    send: post('/v1/things/one', '{}'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: oneAllow }
  },
  {
    name: 'GET where only writing is known',
    row: 25,
    send: get('/v1/anything'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'OPTIONS, PATCH, POST, PUT' }
  },
  {
    name: 'HEAD where only writing is known',
    row: 25,
    send: request('HEAD', '/v1/anything'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'OPTIONS, PATCH, POST, PUT' }
  },
  {
    name: 'POST on the root',
    row: 25,
    send: post('/', '{}'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'GET, HEAD, OPTIONS' }
  },
  { name: 'broken JSON to an unknown path', row: 24, send: post('/v1/nowhere', '{"a":'), expect: notFound },
  { name: 'too large a body to an unknown path', row: 24, send: post('/v1/nowhere', `"${'a'.repeat(1_100_000)}"`), expect: notFound },
  {
    name: 'an unknown media type to an unknown path',
    row: 24,
    send: request('POST', '/v1/nowhere', { headers: ['Content-Type: text/csv'], body: 'a,b' }),
    expect: notFound
  },
  {
    name: 'broken JSON with a wrong method',
    row: 24,
    send: request('PUT', '/v1/things', { headers: ['Content-Type: application/json'], body: '{' }),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: thingsAllow }
  },
  {
    name: 'an unknown media type with a wrong method',
    row: 24,
    send: request('PATCH', '/v1/things', { headers: ['Content-Type: a/b'], body: 'x' }),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: thingsAllow }
  },
  { name: 'OPTIONS', row: 26, send: request('OPTIONS', '/v1/things'), expect: { status: 204, allow: thingsAllow } },
  { name: 'OPTIONS on one thing', row: 26, send: request('OPTIONS', '/v1/things/one'), expect: { status: 204, allow: oneAllow } },
  { name: 'OPTIONS *', row: 26, send: request('OPTIONS', '*'), expect: { status: 204, headers: { allow: /GET/ } } },
  { name: 'OPTIONS on an unknown path', row: 26, send: request('OPTIONS', '/v1/nowhere'), expect: notFound },
  {
    name: 'OPTIONS with a body',
    row: 26,
    send: request('OPTIONS', '/v1/things', { headers: ['Content-Type: application/json'], body: '{' }),
    expect: { status: 204, allow: thingsAllow }
  },
  { name: 'OPTIONS on a broken escape', row: 26, send: request('OPTIONS', '/v1/things/%zz'), expect: badUri },
  {
    name: 'GET *',
    row: 26,
    send: get('*'),
    expect: { status: [400, 404], code: ['MALFORMED_REQUEST', 'MALFORMED_URI', 'RESOURCE_NOT_FOUND'] }
  },
  { name: 'callNotFound in a handler', row: 27, send: get('/v1/calls-not-found/handler'), expect: notFound },
  { name: 'callNotFound in a hook', row: 27, send: get('/v1/calls-not-found/hook'), expect: notFound },
  { name: 'callNotFound in HEAD', row: 27, send: request('HEAD', '/v1/calls-not-found/handler'), expect: notFound },
  ...['html', 'throws', 'calls-not-found'].flatMap((handler): Case[] => [
    {
      name: `an unknown path below a not-found handler that is ${handler}`,
      row: 29,
      send: get(`/v1/own-not-found/${handler}/nowhere`),
      expect: handler === 'throws' ? { status: [404, 500], code: ['RESOURCE_NOT_FOUND', 'INTERNAL_ERROR'] } : notFound
    },
    {
      name: `callNotFound below a not-found handler that is ${handler}`,
      row: 27,
      send: get(`/v1/own-not-found/${handler}/things`),
      expect: handler === 'throws' ? { status: [404, 500], code: ['RESOURCE_NOT_FOUND', 'INTERNAL_ERROR'] } : notFound
    }
  ])
]
