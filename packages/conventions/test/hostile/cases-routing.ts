import { type Case, cases, type Expected } from './case.ts'
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
  ...cases(18, badUri, {
    'a broken escape in POST': post('/v1/things/%zz', '{'),
    'a fragment in the absolute form': get('http://api.example.com/v1/things#top'),
    'a broken escape in HEAD': request('HEAD', '/v1/things/%zz')
  }),
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
  ...cases(
    19,
    { status: 414, code: 'URI_TOO_LONG' },
    {
      'an identifier of 300 characters': get(`/v1/things/${'a'.repeat(300)}`),
      'an identifier of 300 characters in DELETE': request('DELETE', `/v1/things/${'a'.repeat(300)}`)
    }
  ),
  {
    name: 'an identifier of 5,000 characters',
    row: 19,
    send: get(`/v1/things/${'a'.repeat(5000)}`),
    methods: ['GET'],
    expect: { status: 414, code: 'URI_TOO_LONG' }
  },
  ...cases(21, notFound, {
    'an identifier that its schema refuses': get('/v1/things/ONE'),
    'an identifier with an encoded slash': get('/v1/things/a%2fb'),
    'an identifier with an encoded NUL': get('/v1/things/a%00'),
    'an identifier with an encoded line break': get('/v1/things/a%0d%0aX-Injected:%20b'),
    'dots for a path': get('/v1/../../etc/passwd'),
    'encoded dots for a path': get('/v1/%2e%2e/%2e%2e/etc/passwd'),
    'a script for a path': get('/v1/<script>alert(1)</script>'),
    'quotes in a path': get('/v1/"quoted"'),
    'two slashes': get('//v1//things'),
    'only slashes': get('////'),
    'a path that looks like another host': get('//evil.example/v1/things'),
    'a backslash': get('/v1\\things')
  }),
  ...cases(25, notFound, {
    'an unknown path': get('/nowhere'),
    'an unknown path of a version': get('/v1/nowhere'),
    'an unknown path in HEAD': request('HEAD', '/v1/nowhere'),
    'a path in capitals': get('/v1/THINGS'),
    'a favicon': get('/favicon.ico')
  }),
  ...['/v1/nowhere#top', '/v1/things#top', '/v1/things?a=1#top', '/v1/things#', '#', '/#/v1'].map(
    (target): Case => ({
      name: `the fragment of ${target}`,
      row: 25,
      send: get(target),
      methods: ['GET'],
      expect: { status: 400, code: 'MALFORMED_REQUEST' }
    })
  ),
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
  ...cases(
    25,
    { status: 405, code: 'METHOD_NOT_ALLOWED', allow: oneAllow },
    {
      'PUT on one thing': request('PUT', '/v1/things/one'),
      'POST on one thing': post('/v1/things/one', '{}')
    }
  ),
  ...cases(
    25,
    { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'OPTIONS, PATCH, POST, PUT' },
    {
      'GET where only writing is known': get('/v1/anything'),
      'HEAD where only writing is known': request('HEAD', '/v1/anything')
    }
  ),
  {
    name: 'POST on the root',
    row: 25,
    send: post('/', '{}'),
    expect: { status: 405, code: 'METHOD_NOT_ALLOWED', allow: 'GET, HEAD, OPTIONS' }
  },
  ...cases(24, notFound, {
    'broken JSON to an unknown path': post('/v1/nowhere', '{"a":'),
    'too large a body to an unknown path': post('/v1/nowhere', `"${'a'.repeat(1_100_000)}"`),
    'an unknown media type to an unknown path': request('POST', '/v1/nowhere', { headers: ['Content-Type: text/csv'], body: 'a,b' })
  }),
  ...cases(
    24,
    { status: 405, code: 'METHOD_NOT_ALLOWED', allow: thingsAllow },
    {
      'broken JSON with a wrong method': request('PUT', '/v1/things', { headers: ['Content-Type: application/json'], body: '{' }),
      'an unknown media type with a wrong method': request('PATCH', '/v1/things', { headers: ['Content-Type: a/b'], body: 'x' })
    }
  ),
  ...cases(
    26,
    { status: 204, allow: thingsAllow },
    {
      OPTIONS: request('OPTIONS', '/v1/things'),
      'OPTIONS with a body': request('OPTIONS', '/v1/things', { headers: ['Content-Type: application/json'], body: '{' })
    }
  ),
  { name: 'OPTIONS on one thing', row: 26, send: request('OPTIONS', '/v1/things/one'), expect: { status: 204, allow: oneAllow } },
  { name: 'OPTIONS *', row: 26, send: request('OPTIONS', '*'), expect: { status: 204, headers: { allow: /GET/ } } },
  { name: 'OPTIONS on an unknown path', row: 26, send: request('OPTIONS', '/v1/nowhere'), expect: notFound },
  { name: 'OPTIONS on a broken escape', row: 26, send: request('OPTIONS', '/v1/things/%zz'), expect: badUri },
  {
    name: 'GET *',
    row: 26,
    send: get('*'),
    expect: { status: [400, 404], code: ['MALFORMED_REQUEST', 'MALFORMED_URI', 'RESOURCE_NOT_FOUND'] }
  },
  ...cases(27, notFound, {
    'callNotFound in a handler': get('/v1/calls-not-found/handler'),
    'callNotFound in a hook': get('/v1/calls-not-found/hook'),
    'callNotFound in HEAD': request('HEAD', '/v1/calls-not-found/handler')
  }),
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
