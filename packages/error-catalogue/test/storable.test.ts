import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

async function service(options: ErrorCatalogueOptions = {}): Promise<FastifyInstance> {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue, options)
  return app
}

interface Call {
  readonly method?: 'GET' | 'POST' | 'OPTIONS'
  readonly url?: string
  readonly type?: string
  readonly payload?: string | Buffer
  readonly headers?: Record<string, string>
}

async function call(app: FastifyInstance, { method = 'POST', url = '/', type, payload, headers = {} }: Call) {
  const response = await app.inject({
    method,
    url,
    ...(payload !== undefined && { payload }),
    headers: { ...(type !== undefined && { 'content-type': type }), ...headers }
  })
  const { error, ...rest } = response.json()
  if (error === undefined) return rest
  return [response.statusCode, error.code, ...(error.errors ?? []).map(({ field }: { field: string }) => field)]
}

/** Sends a target exactly as it is, and returns the status line and the body of the response. */
async function sendTarget(t: Test, app: FastifyInstance, line: string, headers = '') {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += String(chunk)
  })
  socket.write(Buffer.from(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`, 'latin1'))
  await once(socket, 'close')
  return text
}

t.test('returns 404 for a path parameter with NUL, with and without a schema, before any hook of the service', async (t) => {
  const app = await service()
  const seen: unknown[] = []
  app.addHook('onRequest', async ({ params }) => void seen.push(params))
  const route = { handler: async () => ({ found: true }) }
  for (const url of ['/items/:id', '/parts/:id/sizes/:size', '/files/*', '/codes/:code(^.+$)'])
    app.route({ ...route, method: ['GET', 'POST', 'OPTIONS'], url })
  app.get('/names/:name', { ...route, schema: { params: { type: 'object', properties: { name: { type: 'string' } } } } })

  for (const url of [
    '/items/a%00b',
    '/items/%00',
    '/parts/1/sizes/x%00',
    '/parts/%00/sizes/1',
    '/files/a/%00/b',
    '/codes/a%00',
    '/names/%00'
  ])
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      if (url.startsWith('/names') && method !== 'GET') continue
      t.strictSame(await call(app, { method, url }), [404, 'RESOURCE_NOT_FOUND'], `${method} ${url}`)
    }
  t.strictSame(seen, [])
  for (const url of ['/items/a%2500b', '/items/a%0a', '/items/%E2%90%80', '/items/1?x=1'])
    t.strictSame(await call(app, { method: 'GET', url }), { found: true }, url)
})

t.test('returns 422 for NUL in the query, with and without a schema, and names each parameter', async (t) => {
  const app = await service()
  app.get('/free', async ({ query }) => ({ query }))
  const properties = { q: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }
  app.get('/declared', { schema: { querystring: { type: 'object', properties } } }, async ({ query }) => ({ query }))
  for (const [query, ...fields] of [
    ['q=%00', 'query.q'],
    ['q=a%00b', 'query.q'],
    ['tags=a&tags=b%00&q=c%00', 'query.q', 'query.tags.1'],
    ['q=x&q%00=1', 'query.q\ufffd']
  ])
    for (const path of ['/free', '/declared'])
      t.strictSame(await call(app, { method: 'GET', url: `${path}?${query}` }), [422, 'VALIDATION_FAILED', ...fields], `${path}?${query}`)
  t.strictSame(await call(app, { method: 'GET', url: '/free?q=%2500&r=%E2%90%80' }), { query: { q: '%00', r: '\u2400' } })
})

t.test('reports a value that cannot be stored with the validation code of the route, in the language of the client', async (t) => {
  const orders = defineErrors({
    ORDER_INVALID: { statusCode: 422, message: { en: 'No order.', es: 'No es un pedido.' }, remedy: 'Fix it.' }
  })
  const app = await service({ include: [orders], locale: () => 'es' })
  app.post('/', { config: { validationCode: 'ORDER_INVALID' } }, async () => ({}))
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/', payload: { a: '\0' } })
  t.equal(statusCode, 422)
  t.match(JSON.parse(body).error, {
    code: 'ORDER_INVALID',
    error: 'ValidationError',
    errors: [{ field: 'body.a', message: 'no debe contener el carácter NUL ni sustitutos UTF-16 sin pareja' }]
  })
})

t.test('returns 400 for a path or a query that is not percent-encoded UTF-8', async (t) => {
  const app = await service()
  app.get('/items/:id', async ({ params, query }) => ({ params, query }))
  for (const part of ['%FF', '%ED%A0%80', '%C0%80', '%E2%82', '%', '%zz', '%f', '%F5%80%80%80', 'a%2'])
    for (const target of [`/items/${part}`, `/items/1?q=${part}`, `/items/1?${part}=1`, `/items/1?q=a%20b&r=${part}`]) {
      const text = await sendTarget(t, app, `GET ${target}`)
      t.match(text, /^HTTP\/1\.1 400 [^]*"MALFORMED_URI"/, target)
    }
  for (const part of ['%20', '%e2%82%ac', '%F0%9F%98%80', '%2525', '+', '%7F']) {
    t.match(await sendTarget(t, app, `GET /items/1?q=${part}`), /^HTTP\/1\.1 200 /, part)
    t.match(await sendTarget(t, app, `GET /items/${part}`), /^HTTP\/1\.1 200 /, part)
  }
})

t.test('responds to OPTIONS whatever its query, because a preflight has the query of the real request [M8]', async (t) => {
  const app = await service()
  app.options('/items', async (_request, reply) => reply.code(204).send())
  for (const query of ['q=%FF', 'q=%', 'x=1']) t.match(await sendTarget(t, app, `OPTIONS /items?${query}`), /^HTTP\/1\.1 204 /, query)
})

t.test('returns 422 for NUL and unpaired surrogates in JSON, wherever they are', async (t) => {
  const app = await service()
  app.post('/', async ({ body }) => ({ got: body }))
  for (const odd of [String.raw`\u0000`, String.raw`\ud83d`, String.raw`\uDE00`, String.raw`\ude00\ud83d`, String.raw`a\uD800b`])
    for (const [payload, ...fields] of [
      [`"${odd}"`, 'body'],
      [`{"a":"${odd}","b":"fine"}`, 'body.a'],
      [`[1,{"a":["x","${odd}"]},"${odd}"]`, 'body.1.a.1', 'body.2'],
      [`{"a/b":{"~":"${odd}"}}`, 'body.a/b.~']
    ] as const)
      for (const type of ['application/json', 'application/merge-patch+json'])
        t.strictSame(await call(app, { payload, type }), [422, 'VALIDATION_FAILED', ...fields], payload)
  t.strictSame(await call(app, { payload: String.raw`{"x\u0000":{"\ud800":1}}`, type: 'application/json' }), [
    422,
    'VALIDATION_FAILED',
    'body.x\ufffd',
    'body.x\ufffd.\ufffd'
  ])
  t.strictSame(await call(app, { payload: String.raw`{"a":"\u00e9 \ud83d\ude00 \\u0000"}`, type: 'application/json' }), {
    got: { a: 'é \u{1F600} \\u0000' }
  })
  const many = await call(app, { payload: `[${Array(300).fill(String.raw`"\u0000"`).join()}]`, type: 'application/json' })
  t.equal(many.length, 2 + 100)
})

t.test('returns 422 for text that cannot be stored in bodies of other parsers, and leaves bytes alone', async (t) => {
  class Document {
    readonly text = '\0'
  }
  const bodies: Record<string, (text: string) => unknown> = {
    'application/x-www-form-urlencoded': (text) =>
      Object.assign(Object.create(Object.create(null)), Object.fromEntries(new URLSearchParams(text))),
    'application/yaml': (text) => ({ list: [{ text }], size: text.length }),
    'application/cyclic': (text) => {
      const node: Record<string, unknown> = { text }
      return Object.assign(node, { parent: node })
    },
    'application/xml': () => new Document(),
    'application/infinite': () => ({ a: { b: [Number.NEGATIVE_INFINITY] } }),
    'application/nothing': () => null
  }
  const app = await service()
  for (const [type, parse] of Object.entries(bodies))
    app.addContentTypeParser(type, { parseAs: 'string' }, async (_request: unknown, text: string) => parse(text))
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, async (_request: unknown, bytes: Buffer) => bytes)
  app.post('/', async ({ body }) => ({ read: Buffer.isBuffer(body) ? body.length : typeof body }))

  for (const [type, payload, ...fields] of [
    ['text/plain', 'a\0b', 'body'],
    ['application/x-www-form-urlencoded', 'a=1&b=%00', 'body.b'],
    ['application/x-www-form-urlencoded', 'a%00=1', 'body.a\ufffd'],
    ['application/yaml', '\0', 'body.list.0.text'],
    ['application/cyclic', '\0', 'body.text'],
    ['application/infinite', 'x', 'body.a.b.0']
  ] as const)
    t.strictSame(await call(app, { type, payload }), [422, 'VALIDATION_FAILED', ...fields], `${type} ${payload}`)
  for (const [type, payload, read] of [
    ['application/octet-stream', Buffer.from([0, 255, 0]), 3],
    ['text/plain', 'a b', 'string'],
    ['application/x-www-form-urlencoded', 'a=1&b=%C3%A9', 'object'],
    ['application/yaml', 'x', 'object'],
    ['application/cyclic', 'x', 'object'],
    ['application/xml', 'x', 'object'],
    ['application/nothing', 'x', 'object']
  ] as const)
    t.strictSame(await call(app, { type, payload }), { read }, type)
})

t.test('no header with NUL reaches a handler: Node.js refuses it, and an injected request gets 422', async (t) => {
  const app = await service()
  app.get('/', async ({ headers }) => ({ headers }))
  const text = await sendTarget(t, app, 'GET /', 'Idempotency-Key: a\0b\r\n')
  t.match(text, /^HTTP\/1\.1 400 [^]*"MALFORMED_REQUEST"/)
  for (const name of ['idempotency-key', 'if-match', 'x-reference', 'request-id'])
    t.strictSame(await call(app, { method: 'GET', headers: { [name]: 'a\0b' } }), [422, 'VALIDATION_FAILED', `header.${name}`])
})
