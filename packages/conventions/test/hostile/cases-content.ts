import { type Case, cases, type Expected } from './case.ts'
import { get, post, postChunked, request } from './request-bytes.ts'

const notAcceptable: Expected = { status: 406, code: 'NOT_ACCEPTABLE', headers: { vary: /\baccept\b(?!-)/ } }
const unsupported: Expected = { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }
const badCharset: Expected = { status: 415, code: 'UNSUPPORTED_CHARSET' }
const badCoding: Expected = { status: 415, code: 'UNSUPPORTED_CONTENT_ENCODING', headers: { 'accept-encoding': /./ } }
const badJson: Expected = { status: 400, code: 'MALFORMED_JSON' }
const badBytes: Expected = { status: 400, code: 'INVALID_UTF8' }
const tooDeep: Expected = { status: 400, code: 'JSON_TOO_DEEP' }
const ok: Expected = { status: 200 }

const withType = (type: string, body = '{}') => request('POST', '/v1/anything', { headers: [`Content-Type: ${type}`], body })
const invalid = (...fields: string[]): Expected => ({ status: 422, code: 'VALIDATION_FAILED', fields })
const unknownParameter = (field: string): Expected => ({ status: 422, code: 'INVALID_QUERY_PARAMETERS', fields: [field] })
const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** Media types, charsets and codings that a client accepts or sends. */
export const negotiationCases: readonly Case[] = [
  ...[
    'text/html',
    'application/xml',
    'image/*',
    'text/*, image/png',
    'application/json;q=0',
    'application/json;q=0, */*',
    '*/*;q=0',
    'application/vnd.api+json',
    'application/json; charset=utf-16',
    'application/json;q=0.0, text/html'
  ].map((accept): Case => ({ name: `Accept: ${accept}`, row: 0, send: get('/v1/things', `Accept: ${accept}`), expect: notAcceptable })),
  ...[
    '*/*',
    'application/*',
    'application/json; charset=utf-8',
    'text/html, */*;q=0.1',
    'APPLICATION/JSON',
    'application/json;version=1',
    '*',
    '',
    ',,,',
    `${'text/html,'.repeat(500)}*/*`
  ].map((accept): Case => ({ name: `Accept: ${accept.slice(0, 60)}`, row: 0, send: get('/v1/things', `Accept: ${accept}`), expect: ok })),
  ...cases(0, notAcceptable, {
    'Accept on a HEAD': request('HEAD', '/v1/things', { headers: ['Accept: text/html'] }),
    'Accept before a broken body': post('/v1/anything', '{', 'Accept: text/html')
  }),
  {
    name: 'Accept on an unknown path',
    row: 0,
    send: get('/v1/nowhere', 'Accept: text/html'),
    expect: { status: 404, code: 'RESOURCE_NOT_FOUND' }
  },
  {
    name: 'Accept: image/png on a failing route',
    row: 34,
    send: get('/v1/throws/string', 'Accept: image/png'),
    expect: { status: 406, code: 'NOT_ACCEPTABLE' }
  },
  ...[
    'text/plain',
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=a',
    'multipart/form-data',
    'application/octet-stream',
    'image/png',
    'json',
    'application/json, text/plain',
    'application/',
    '/',
    ';',
    'application/json/x'
  ].map(
    (type): Case => ({ name: `Content-Type: ${type}`, row: type === 'text/plain' ? 46 : 47, send: withType(type), expect: unsupported })
  ),
  ...cases(47, unsupported, {
    'an empty Content-Type': withType(''),
    'no Content-Type': request('POST', '/v1/anything', { body: '{}' }),
    'no Content-Type in PATCH': request('PATCH', '/v1/anything', { body: '{}' }),
    'no Content-Type in a chunked body': request('PUT', '/v1/anything', {
      headers: ['Transfer-Encoding: chunked'],
      body: '2\r\n{}\r\n0\r\n\r\n'
    }),
    'an unknown type in PUT': request('PUT', '/v1/anything', { headers: ['Content-Type: text/csv'], body: 'a,b' })
  }),
  {
    name: 'a Content-Type of 5,000 characters',
    row: 47,
    send: withType(`application/${'a'.repeat(5000)}`),
    methods: ['POST'],
    expect: unsupported
  },
  ...['utf-16', 'iso-8859-1', 'utf-7', 'utf-8x'].map(
    (charset): Case => ({
      name: `the charset ${charset}`,
      row: 45,
      send: withType(`application/json; charset=${charset}`),
      expect: badCharset
    })
  ),
  ...['utf-8', 'UTF-8', '"utf-8"'].map(
    (charset): Case => ({ name: `the charset ${charset}`, row: 45, send: withType(`application/json; charset=${charset}`), expect: ok })
  ),
  ...['gzip', 'br', 'deflate', 'zstd', 'gzip, br', 'compress', 'nonsense'].map(
    (coding): Case => ({
      name: `Content-Encoding: ${coding}`,
      row: 44,
      send: post('/v1/anything', '{}', `Content-Encoding: ${coding}`),
      expect: badCoding
    })
  ),
  { name: 'Content-Encoding: identity', row: 44, send: post('/v1/anything', '{}', 'Content-Encoding: identity'), expect: ok },
  {
    name: 'a gzip body that is not gzip',
    row: 44,
    send: post('/v1/anything', latin1('\x1f\x8b\x08\0\0\0\0\0'), 'Content-Encoding: gzip'),
    expect: badCoding
  }
]

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const deepObjects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)

/** Bodies that are not valid JSON, or not the expected JSON. */
export const jsonCases: readonly Case[] = [
  ...[
    '{',
    '{"a":',
    '{"a":1,}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    'NaN',
    '{"a":NaN}',
    'Infinity',
    '-',
    '01',
    '1.',
    '"open',
    '{} {}',
    '{}x',
    'undefined',
    'nul',
    '// comment\n{}',
    '{"a":\t"\t"}',
    '\0',
    '{}\0',
    '{"a":"line\nbreak"}',
    '"\\x41"',
    '"\\u00"'
  ].map((body): Case => ({ name: `the broken body ${JSON.stringify(body)}`, row: 39, send: post('/v1/anything', body), expect: badJson })),
  ...(
    [
      ['an empty body', (path) => post(path, '')],
      ['an empty chunked body', (path) => postChunked(path, '0\r\n\r\n')],
      ['a type without a body', (path) => request('POST', path, { headers: ['Content-Type: application/json'] })]
    ] as readonly (readonly [string, (path: string) => Case['send']])[]
  ).flatMap(([name, send]): Case[] => [
    { name, row: 39, send: send('/v1/things'), expect: { status: 400, code: 'EMPTY_BODY' } },
    { name: `${name} where the route declares none`, row: 39, send: send('/v1/anything'), expect: ok }
  ]),
  { name: 'a body of spaces', row: 39, send: post('/v1/anything', '   '), expect: { status: 400, code: ['MALFORMED_JSON', 'EMPTY_BODY'] } },
  ...cases(39, badJson, {
    __proto__: post('/v1/anything', '{"__proto__":{"a":1}}'),
    'an escaped __proto__': post('/v1/anything', '{"\\u005f_proto__":{"a":1}}'),
    'a nested __proto__': post('/v1/anything', '{"a":[{"__proto__":{"b":1}}]}'),
    'constructor.prototype': post('/v1/anything', '{"constructor":{"prototype":{"a":1}}}')
  }),
  { name: 'a harmless constructor', row: 39, send: post('/v1/anything', '{"constructor":"acme"}'), expect: ok },
  { name: 'a byte order mark', row: 39, send: post('/v1/anything', '\ufeff{}'), expect: { status: [200, 400], code: 'MALFORMED_JSON' } },
  {
    name: 'UTF-16',
    row: 39,
    send: post('/v1/anything', Buffer.from('{}', 'utf16le')),
    expect: { status: 400, code: ['MALFORMED_JSON', 'INVALID_UTF8'] }
  },
  ...cases(40, badBytes, {
    'UTF-16 with its mark': post('/v1/anything', Buffer.from('\ufeff{}', 'utf16le')),
    'a lone byte 255': post('/v1/anything', latin1('"\xff"')),
    'an overlong slash': post('/v1/anything', latin1('"\xc0\xaf"')),
    'a surrogate in UTF-8': post('/v1/anything', latin1('"\xed\xa0\x80"')),
    'a cut sequence': post('/v1/anything', latin1('"\xe2\x82"')),
    'Latin 1': post('/v1/anything', latin1('{"name":"Jos\xe9"}'))
  }),
  {
    name: 'a cut sequence across chunks',
    row: 40,
    send: postChunked('/v1/anything', latin1('2\r\n"\xe2\r\n2\r\n\x82"\r\n0\r\n\r\n')),
    expect: { status: 400, code: ['INVALID_UTF8', 'MALFORMED_JSON'] }
  },
  ...(
    [
      ['"\\ud800"', 'body'],
      ['"\\udc00"', 'body'],
      ['{"\\ud800":1}', 'body.\ufffd'],
      ['[{"a":"\\udbff"}]', 'body.0.a'],
      ['"\\u0000"', 'body'],
      ['{"a\\u0000":1}', 'body.a\ufffd'],
      ['"\\udc00\\ud800"', 'body'],
      ['{"a":1e999}', 'body.a'],
      ['[9007199254740993]', 'body.0']
    ] as const
  ).map(([body, field]): Case => ({ name: `the body ${body}`, row: 41, send: post('/v1/anything', body), expect: invalid(field) })),
  { name: 'a whole pair of surrogates', row: 41, send: post('/v1/anything', '"\\ud83d\\ude00"'), expect: ok },
  { name: '64 levels', row: 42, send: post('/v1/anything', deep(64)), expect: ok },
  ...cases(42, tooDeep, {
    '65 levels': post('/v1/anything', deep(65)),
    '65 levels of objects': post('/v1/anything', deepObjects(65)),
    '5,000 levels': post('/v1/anything', deep(5000)),
    '100,000 levels': post('/v1/anything', deep(100_000)),
    '80,000 levels of objects': post('/v1/anything', deepObjects(80_000)),
    '500,000 levels that never close': post('/v1/anything', '['.repeat(500_000))
  }),
  { name: 'a duplicate key', row: 43, send: post('/v1/anything', '{"a":1,"a":2}'), expect: { status: [200, 400], code: 'MALFORMED_JSON' } }
]

/** Well-formed input that the schemas refuse, with every invalid field. */
export const validationCases: readonly Case[] = [
  { name: 'an empty object', row: 39, send: post('/v1/things', '{}'), expect: invalid('body.name', 'body.size') },
  ...cases(39, invalid('body'), {
    'a null body': post('/v1/things', 'null'),
    'a number for a body': post('/v1/things', '42'),
    'a list for a body': post('/v1/things', '[]')
  }),
  {
    name: 'no body and no type',
    row: 39,
    send: request('POST', '/v1/things'),
    expect: { status: [400, 415, 422], code: ['EMPTY_BODY', 'UNSUPPORTED_MEDIA_TYPE', 'VALIDATION_FAILED'] }
  },
  { name: 'an unknown property', row: 39, send: post('/v1/things', '{"name":"a","size":1,"more":1}'), expect: invalid('body.more') },
  {
    name: 'three unknown properties',
    row: 39,
    send: post('/v1/things', '{"name":"a","size":1,"x":1,"y":2,"z":3}'),
    expect: invalid('body.x', 'body.y', 'body.z')
  },
  ...cases(39, invalid('body.size'), {
    'a number as text': post('/v1/things', '{"name":"a","size":"1"}'),
    'null for a number': post('/v1/things', '{"name":"a","size":null}'),
    'a list for a number': post('/v1/things', '{"name":"a","size":[5]}'),
    'a huge number': post('/v1/things', '{"name":"a","size":1e400}'),
    'a fraction': post('/v1/things', '{"name":"a","size":1.5}')
  }),
  { name: 'false for text', row: 39, send: post('/v1/things', '{"name":false,"size":1}'), expect: invalid('body.name') },
  {
    name: 'errors at every depth',
    row: 39,
    send: post('/v1/things', '{"name":"","size":-1,"tags":[1,"b",null],"maker":{"country":"x"}}'),
    expect: invalid('body.maker.country', 'body.maker.name', 'body.name', 'body.size', 'body.tags.0', 'body.tags.2')
  },
  {
    name: 'too many items',
    row: 39,
    send: post('/v1/things', '{"name":"a","size":1,"tags":["a","b","c","d"]}'),
    expect: invalid('body.tags')
  },
  ...cases(
    39,
    { status: 422, code: 'VALIDATION_FAILED' },
    {
      '900 unknown properties': post(
        '/v1/things',
        JSON.stringify({ name: 'a', size: 1, ...Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`x${index}`, 1])) })
      ),
      'a property named after a script': post('/v1/things', '{"name":"a","size":1,"<script>":1}'),
      'a property of 10,000 characters': post('/v1/things', JSON.stringify({ name: 'a', size: 1, ['x'.repeat(10_000)]: 1 }))
    }
  ),
  ...cases(39, invalid('query.count'), {
    'a query parameter that is not a number': get('/v1/queries?count=many'),
    'a query parameter that is too small': get('/v1/queries?count=0'),
    'a repeated query parameter': get('/v1/queries?count=1&count=2')
  }),
  { name: 'an unknown query parameter', row: 39, send: get('/v1/queries?page=1'), expect: unknownParameter('query.page') },
  { name: 'a list in the query', row: 39, send: get('/v1/queries?a[]=1'), expect: unknownParameter('query.a[]') },
  ...['a=%ff', '%zz=1', 'count=%ED%A0%80', 'count=1&b=%'].map(
    (query): Case => ({
      name: `the query ${query}`,
      row: 18,
      send: get(`/v1/queries?${query}`),
      expect: { status: 400, code: 'MALFORMED_URI' }
    })
  ),
  ...['Infinity', '0x1', '%201', '1e0', '01', '1.0', '9007199254740993'].map(
    (count): Case => ({ name: `the count ${count}`, row: 39, send: get(`/v1/queries?count=${count}`), expect: invalid('query.count') })
  ),
  { name: '__proto__ in the query', row: 39, send: get('/v1/queries?__proto__=1'), expect: unknownParameter('query.__proto__') },
  ...cases(
    39,
    { status: [400, 422], code: ['MALFORMED_REQUEST', 'VALIDATION_FAILED'] },
    {
      'a missing required header': get('/v1/headers'),
      'a header that is not a number': get('/v1/headers', 'X-Count: many')
    }
  )
]
