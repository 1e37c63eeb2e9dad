import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'

async function echo(options: ErrorCatalogueOptions = {}, before?: (app: FastifyInstance) => void, server: FastifyServerOptions = {}) {
  const app = Fastify({ ...errorCatalogueServerOptions(), bodyLimit: 4096, ...server })
  before?.(app)
  await app.register(errorCatalogue, options)
  app.post('/', async (request) => ({ got: request.body ?? 'nothing' }))
  return app
}

async function send(app: FastifyInstance, payload: string | Buffer, type = 'application/json') {
  const response = await app.inject({ method: 'POST', url: '/', payload, headers: { 'content-type': type } })
  const body = response.json()
  return response.statusCode === 200 ? body.got : [response.statusCode, body.error.code]
}

t.test('accepts unambiguous JSON without changes', async (t) => {
  const app = await echo()
  for (const value of [{}, [], { a: [1, 'é', '\u{1F600}', null, true] }, 'text', 7, false, { é: { '': 0 } }]) {
    t.strictSame(await send(app, JSON.stringify(value)), value)
  }
  t.equal(await send(app, String.raw`"\u00e9 \ud83d\ude00 \\u0000"`), 'é \u{1F600} \\u0000')
  t.strictSame(await send(app, '\ufeff{"a":1}'), { a: 1 }, 'a byte order mark is ignored (RFC 8259 §8.1)')
})

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

// That the plugin refuses them: all forms of such bodies are in the table of conventions/test/hostile.
t.test('rejects bytes that are not UTF-8, deep nesting, keys that change prototypes, and what is not JSON', async (t) => {
  const app = await echo()
  t.strictSame(await send(app, nested(64)), JSON.parse(nested(64)))
  t.strictSame(await send(app, '{"constructor":"acme","prototype":1}'), { constructor: 'acme', prototype: 1 })
  for (const [body, code] of [
    [Buffer.from([0x22, 0xff, 0x22]), 'INVALID_UTF8'],
    [nested(65), 'JSON_TOO_DEEP'],
    ['{"a":[{"__proto__":null}]}', 'MALFORMED_JSON'],
    ['{"constructor":{"prototype":{}}}', 'MALFORMED_JSON'],
    ['{"a":1}{"b":2}', 'MALFORMED_JSON']
  ] as const)
    t.strictSame(await send(app, body), [400, code], String(body).slice(0, 40))
  const refused = await app.inject({ method: 'POST', url: '/', payload: nested(65), headers: { 'content-type': 'application/json' } })
  t.match(refused.json().error.message, 'more than 64 levels deep')
})

t.test('rejects a body over the limit and a wrong Content-Length [X6]', async (t) => {
  const app = await echo()
  const fitting = JSON.stringify('x'.repeat(4094))
  t.equal(await send(app, fitting), JSON.parse(fitting))
  t.strictSame(await send(app, `${fitting} `), [413, 'PAYLOAD_TOO_LARGE'])
  const response = await app.inject({
    method: 'POST',
    url: '/',
    payload: '{}',
    headers: { 'content-type': 'application/json', 'content-length': '99' }
  })
  t.match(response.json().error, { status: 400, code: 'CONTENT_LENGTH_MISMATCH' })
})

t.test('accepts only application/json and media types with the +json suffix as JSON [N3] [N4]', async (t) => {
  const app = await echo()
  for (const type of [
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/merge-patch+json',
    'application/vnd.a.b+json; v=1',
    'application/a+b+JSON'
  ]) {
    t.strictSame(await send(app, '{"a":1}', type), { a: 1 }, type)
    t.strictSame(await send(app, Buffer.from([0x22, 0xff, 0x22]), type), [400, 'INVALID_UTF8'], type)
  }
  for (const type of [
    'application/x+jsonp',
    'application/x+json-seq',
    'application/+json',
    'application/xml',
    'json',
    'a',
    'text/json',
    'x/y+json'
  ]) {
    t.strictSame(await send(app, '{"a":1}', type), [415, 'UNSUPPORTED_MEDIA_TYPE'], type)
  }
  const untyped = await app.inject({ method: 'POST', url: '/', payload: Buffer.from('{}') })
  t.match(untyped.json().error, { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' })
})

t.test('keeps a JSON parser that the service added before, and logs a warning', async (t) => {
  const lines: string[] = []
  const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } }
  const app = await echo({}, (app) => app.addContentTypeParser('application/json', { parseAs: 'string' }, async () => 'own'), { logger })
  t.equal(await send(app, '{"__proto__":1}'), 'own')
  t.strictSame(await send(app, '{"__proto__":1}', 'application/a+json'), [400, 'MALFORMED_JSON'])
  t.match(lines.join(''), /application\/json already has a parser, so its bodies are parsed by that parser/)
  t.equal(lines.length, 1)
})

t.test('a child context can add its own JSON parser once, which replaces the parser of the plugin there', async (t) => {
  const app = await echo()
  await app.register(async (child) => {
    child.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes.length)
    t.throws(() => child.addContentTypeParser(['text/csv', 'application/json'], async () => 'x'), { code: 'FST_ERR_CTP_ALREADY_PRESENT' })
    child.addContentTypeParser('text/lines', { parseAs: 'string' }, async (_request: unknown, text: string) => text)
    child.post('/raw', async (request) => ({ got: request.body }))
  })
  const raw = await app.inject({ method: 'POST', url: '/raw', payload: '{{{', headers: { 'content-type': 'application/json' } })
  t.strictSame(raw.json(), { got: 3 })
  t.strictSame(await send(app, '{{{'), [400, 'MALFORMED_JSON'])
})

t.test('the parser of the plugin is one of a pattern: names come before it, and later patterns too', async (t) => {
  const app = await echo()
  const { addContentTypeParser } = Fastify()
  t.equal(app.addContentTypeParser, addContentTypeParser, 'the method of Fastify is not replaced')
  t.equal(app.hasContentTypeParser('application/json'), false)
  for (const type of ['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json;charset=utf-8'])
    t.strictSame(await send(app, '{"__proto__":1}', type), [400, 'MALFORMED_JSON'], type)
  const replaced = await echo({}, (app) => {
    app.addHook('onReady', (done) => {
      app.addContentTypeParser(/./, { parseAs: 'string' }, async () => 'of a later pattern')
      done()
    })
  })
  t.equal(await send(replaced, '{"a":1}'), 'of a later pattern')
})

t.test('adds the JSON parser after the service removed all parsers', async (t) => {
  const app = await echo({}, (app) => app.removeAllContentTypeParsers())
  t.strictSame(await send(app, '{"a":1}'), { a: 1 })
  t.strictSame(await send(app, 'x', 'text/plain'), [415, 'UNSUPPORTED_MEDIA_TYPE'])
})
