import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import type { Case, Expected } from './case.ts'
import { canary, checkResponse, publicUrl } from './check-response.ts'
import { get, post } from './request-bytes.ts'
import { parseResponses, type ReceivedResponse } from './response.ts'
import { checkReceived, leakIn, runCase } from './run-battery.ts'

const expected: Expected = { status: 422, code: 'VALIDATION_FAILED', fields: ['body.name'] }
const requestLine = { method: 'POST', target: '/v1/things' }

const goodBody = {
  error: {
    status: 422,
    error: 'ValidationError',
    message: 'Fix the fields.',
    code: 'VALIDATION_FAILED',
    retry: 'changed',
    effect: 'none',
    errors: [{ field: 'body.name', message: 'is required' }]
  },
  _links: [{ rel: 'self', href: `${publicUrl}/v1/things`, method: 'POST' }],
  _meta: { version: 'v1', timestamp: '2026-01-01T00:00:00.000Z' }
}

const goodHeaders: Record<string, string> = {
  'request-id': '0b5fd4a6-0000-4000-8000-000000000000',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'",
  date: 'Thu, 01 Jan 2026 00:00:00 GMT',
  'cache-control': 'no-store',
  'content-type': 'application/json; charset=utf-8',
  'content-language': 'en',
  vary: 'accept, accept-language'
}

function response(headers: Record<string, string | undefined> = {}, body: unknown = goodBody, status = 422): ReceivedResponse {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const all = { ...goodHeaders, 'content-length': String(bytes.length), ...headers }
  const present = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { protocol: 'HTTP/1.1', status, headers: present, body: bytes }
}

const problemsOf = (found: ReceivedResponse, wanted = expected) => checkResponse(found, wanted, requestLine, new Set())

t.test('a response that meets the contract has no problem', async (t) => {
  t.same(problemsOf(response()), [])
})

t.test('each header that is missing or wrong is a problem', async (t) => {
  for (const name of [...Object.keys(goodHeaders), 'content-length']) {
    t.not(problemsOf(response({ [name]: undefined })).length, 0, `without ${name}`)
    t.not(problemsOf(response({ [name]: 'wrong' })).length, 0, `a wrong ${name}`)
  }
  for (const name of ['server', 'x-powered-by', 'etag', 'last-modified', 'content-encoding', 'content-disposition', 'trailer']) {
    t.not(problemsOf(response({ [name]: 'a' })).length, 0, `with ${name}`)
  }
  t.not(problemsOf(response({ vary: 'accept-languages' })).length, 0, 'a Vary that is only similar')
  const twice = response()
  t.not(problemsOf({ ...twice, headers: [...twice.headers, ['vary', 'accept-language']] }).length, 0, 'a header twice')
})

t.test('each member of the envelope that is missing or wrong is a problem', async (t) => {
  const { error, _links, _meta } = goodBody
  const [self] = _links
  const spoilt: Record<string, unknown> = {
    'no JSON': 'oops',
    'a list': [goodBody],
    'a fourth member': { ...goodBody, data: {} },
    'no error': { _links, _meta },
    'no _links': { error, _meta },
    'no _meta': { error, _links },
    'another status': { ...goodBody, error: { ...error, status: 400 } },
    'another phrase': { ...goodBody, error: { ...error, error: 'Bad Request' } },
    'another code': { ...goodBody, error: { ...error, code: 'OTHER' } },
    'another retry': { ...goodBody, error: { ...error, retry: 'soon' } },
    'another effect': { ...goodBody, error: { ...error, effect: 'some' } },
    'no message': { ...goodBody, error: { ...error, message: '' } },
    'a placeholder without a value': { ...goodBody, error: { ...error, message: 'At most {limit} are allowed.' } },
    'a stack': { ...goodBody, error: { ...error, stack: 'at' } },
    'no errors': { ...goodBody, error: { ...error, errors: undefined } },
    'empty errors': { ...goodBody, error: { ...error, errors: [] } },
    'another field': { ...goodBody, error: { ...error, errors: [{ field: 'body.size', message: 'is required' }] } },
    'a field too many': { ...goodBody, error: { ...error, errors: [...error.errors, { field: 'body.size', message: 'is required' }] } },
    'an entry with more': { ...goodBody, error: { ...error, errors: [{ ...error.errors[0], params: {} }] } },
    'a version in words': { ...goodBody, _meta: { ..._meta, version: '1.0' } },
    'a local time': { ...goodBody, _meta: { ..._meta, timestamp: '2026-01-01T00:00:00' } },
    'no links': { ...goodBody, _links: [] },
    'no self link': { ...goodBody, _links: [{ ...self, rel: 'next' }] },
    'a relative link': { ...goodBody, _links: [{ ...self, href: '/v1/things' }] },
    "another host's link": { ...goodBody, _links: [{ ...self, href: 'https://evil.example/v1/things' }] },
    "another path's link": { ...goodBody, _links: [{ ...self, href: `${publicUrl}/v1/other` }] },
    "another method's link": { ...goodBody, _links: [{ ...self, method: 'GET' }] }
  }
  for (const [name, body] of Object.entries(spoilt)) t.not(problemsOf(response({}, body)).length, 0, name)
})

t.test('a wrong status, a missing Allow, Retry-After or close, and a repeated Request-Id are problems', async (t) => {
  t.match(problemsOf(response(), { ...expected, status: 400 }).join(), /status 422/)
  t.match(problemsOf(response({}, goodBody, 405)).join(), /Allow/)
  t.match(problemsOf(response({}, goodBody, 503)).join(), /Retry-After/)
  t.match(problemsOf(response(), { ...expected, allow: 'GET' }).join(), /Allow/)
  const ids = new Set<string>()
  checkResponse(response(), expected, requestLine, ids)
  t.match(checkResponse(response(), expected, requestLine, ids).join(), /used before/)
  const received = { bytes: Buffer.alloc(0), responses: [response()], interim: [], flaw: undefined, closed: false }
  t.match(checkReceived(received, { ...expected, closes: true }, requestLine, { ids: new Set() }).join(), /stays open/)
  t.match(checkReceived({ ...received, responses: [] }, expected, requestLine, { ids: new Set() }).join(), /no response/)
  t.match(
    checkReceived({ ...received, responses: [response(), response()] }, expected, requestLine, { ids: new Set() }).join(),
    /2 responses/
  )
})

t.test('finds internal text in every form', async (t) => {
  t.same(leakIn(Buffer.from('HTTP/1.1 500 Oh')), [])
  for (const leak of [canary, `x-inner: ${canary}\r\n`, Buffer.from(canary).toString('base64')])
    t.not(leakIn(Buffer.from(leak)).length, 0, leak)
})

t.test('bytes that two clients could parse differently are a flaw', async (t) => {
  const good = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
  t.equal(parseResponses(Buffer.from(good), ['GET']).flaw, undefined)
  t.equal(
    parseResponses(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'), [
      'GET'
    ]).responses[0]?.body.toString(),
    '{}'
  )
  const bad = [
    'oops',
    'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
    good.replace('1.1', '1.0'),
    good.replace(': 2', ': 3'),
    good.replace(': 2', ': 2, 2'),
    good.replace('Content-Length', 'Content Length'),
    good.replace('Length: 2\r\n', 'Length: 2\r\nContent-Length: 2\r\n'),
    good.replace('Length: 2\r\n', 'Length: 2\r\nTransfer-Encoding: chunked\r\n'),
    good.replace('Content-Length: 2\r\n', ''),
    `${good}more`,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{}\r\n0\r\n\r\n'
  ]
  for (const bytes of bad) t.not(parseResponses(Buffer.from(bytes), ['GET']).flaw, undefined, JSON.stringify(bytes))
})

t.test('Fastify without the preset does not pass', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/v1/throws', () => {
    throw new Error(canary)
  })
  app.post('/v1/things', () => ({}))
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send({ error: { status: 500 } }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const cases: Case[] = [
    { name: 'garbage', row: 1, send: 'garbage\r\n\r\n', expect: { status: 400, code: 'MALFORMED_REQUEST', closes: true } },
    { name: 'an unknown path', row: 25, send: get('/nowhere'), expect: { status: 404, code: 'RESOURCE_NOT_FOUND' } },
    { name: 'a throw', row: 34, send: get('/v1/throws'), expect: { status: 500, code: 'INTERNAL_ERROR' } },
    { name: 'broken JSON', row: 39, send: post('/v1/things', '{'), expect: { status: 400, code: 'MALFORMED_JSON' } },
    {
      name: 'invalid UTF-8',
      row: 40,
      send: post('/v1/things', Buffer.from([0x22, 0xff, 0x22])),
      expect: { status: 400, code: 'INVALID_UTF8' }
    },
    {
      name: 'no Host',
      row: 8,
      send: 'GET /v1/throws HTTP/1.1\r\nConnection: close\r\n\r\n',
      expect: { status: 400, code: 'MISSING_HOST' }
    },
    { name: 'a broken escape', row: 18, send: get('/%zz'), expect: { status: 400, code: 'MALFORMED_URI' } }
  ]
  for (const theCase of cases) {
    const { problems } = await runCase({ port: () => port }, theCase, { ids: new Set() })
    t.ok(problems.length > 3, `${theCase.name}: ${problems.length} problems`)
  }
})
