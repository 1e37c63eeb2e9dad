import { Readable } from 'node:stream'
import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueErrors, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { ApiError, defineErrors } from '@concordat/plugin-kit/api-error'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'

const secret = 'canary-8f3a'

async function service(options: ErrorCatalogueOptions = {}, server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = Fastify({ ...errorCatalogueServerOptions(), ...server })
  await app.register(errorCatalogue, options)
  return app
}

// Checks the parts that every error response must have.
function isEnvelope(t: Test, response: LightMyRequestResponse, statusCode: number, code: string, title: string) {
  t.equal(response.statusCode, statusCode, title)
  const body = response.json()
  t.match(
    body,
    {
      error: { status: statusCode, error: String, message: String, code },
      _links: [{ rel: 'self', href: /^https?:/, method: String }],
      _meta: { version: 'v1', timestamp: /^\d{4}-.*Z$/ }
    },
    title
  )
  t.notOk(response.payload.includes(secret), `${title}: no internal details`)
  t.notOk(/\n\s+at |node_modules|stack/.test(response.payload), `${title}: no stack`)
}

const hostile = {
  get statusCode() {
    throw new Error(secret)
  }
}
const revoked = Proxy.revocable({}, {})
revoked.revoke()

const thrown: readonly (readonly [string, () => unknown, number, string])[] = [
  ['an error', () => new Error(secret), 500, 'INTERNAL_ERROR'],
  ['a string', () => secret, 500, 'INTERNAL_ERROR'],
  ['a number', () => 42, 500, 'INTERNAL_ERROR'],
  ['null', () => null, 500, 'INTERNAL_ERROR'],
  ['a symbol', () => Symbol(secret), 500, 'INTERNAL_ERROR'],
  ['a function', () => () => secret, 500, 'INTERNAL_ERROR'],
  ['a frozen error', () => Object.freeze(new Error(secret)), 500, 'INTERNAL_ERROR'],
  ['an object with a throwing getter', () => hostile, 500, 'INTERNAL_ERROR'],
  ['a revoked proxy', () => revoked.proxy, 500, 'INTERNAL_ERROR'],
  ['an object without a prototype', () => Object.assign(Object.create(null), { statusCode: 404 }), 404, 'RESOURCE_NOT_FOUND'],
  ['a success status code', () => Object.assign(new Error(secret), { statusCode: 200 }), 500, 'INTERNAL_ERROR'],
  ['an invalid status code', () => Object.assign(new Error(secret), { statusCode: 999 }), 500, 'INTERNAL_ERROR'],
  ['a status code that is a string', () => Object.assign(new Error(secret), { statusCode: '404' }), 500, 'INTERNAL_ERROR'],
  ['an unregistered 4xx', () => Object.assign(new Error(secret), { statusCode: 499 }), 400, 'MALFORMED_REQUEST'],
  ['an unregistered 5xx', () => Object.assign(new Error(secret), { status: 599 }), 500, 'INTERNAL_ERROR'],
  ['a foreign 404', () => Object.assign(new Error(secret), { status: 404 }), 404, 'RESOURCE_NOT_FOUND'],
  ['statusCode before status', () => Object.assign(new Error(secret), { status: 404, statusCode: 402 }), 402, 'PAYMENT_REQUIRED'],
  ['a foreign 402', () => Object.assign(new Error(secret), { statusCode: 402 }), 402, 'PAYMENT_REQUIRED'],
  ['a foreign 418', () => Object.assign(new Error(secret), { statusCode: 418 }), 418, 'I_M_A_TEAPOT'],
  ['a foreign 422', () => Object.assign(new Error(secret), { statusCode: 422 }), 422, 'VALIDATION_FAILED'],
  ['a foreign 502', () => Object.assign(new Error(secret), { statusCode: 502 }), 502, 'UPSTREAM_ERROR'],
  [
    'a code with the name of an Object.prototype property',
    () => Object.assign(new Error(secret), { code: 'constructor', statusCode: 410 }),
    410,
    'GONE'
  ],
  [
    'a Fastify error about the handler',
    () => Object.assign(new Error(secret), { code: 'FST_ERR_HANDLER_TIMEOUT' }),
    503,
    'HANDLER_TIMEOUT'
  ],
  [
    'a Fastify error about the media type',
    () => Object.assign(new Error(secret), { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }),
    415,
    'UNSUPPORTED_MEDIA_TYPE'
  ],
  ['a duplicate key', () => Object.assign(new Error(secret), { code: '23505', severity: 'ERROR', detail: secret }), 409, 'CONFLICT'],
  ['a deadlock', () => Object.assign(new Error(secret), { code: '40P01', severity: 'ERROR' }), 503, 'SERVICE_UNAVAILABLE'],
  ['a cancelled statement', () => Object.assign(new Error(secret), { code: '57014', severity: 'ERROR' }), 503, 'SERVICE_UNAVAILABLE'],
  [
    'a database that is shutting down',
    () => Object.assign(new Error(secret), { code: '57P01', severity: 'FATAL' }),
    503,
    'SERVICE_UNAVAILABLE'
  ],
  ['a syntax error in SQL', () => Object.assign(new Error(secret), { code: '42601', severity: 'ERROR' }), 500, 'INTERNAL_ERROR'],
  [
    'an SQLSTATE with the name of an Object.prototype property',
    () => Object.assign(new Error(secret), { code: 'toString', severity: 'ERROR' }),
    500,
    'INTERNAL_ERROR'
  ],
  ['five characters that are not an SQLSTATE', () => Object.assign(new Error(secret), { code: '23505' }), 500, 'INTERNAL_ERROR']
]

t.test('sends the envelope without internal details for any value that a handler throws [E5] [S13]', async (t) => {
  const app = await service({}, { logger: { level: 'trace', stream: { write: () => undefined } } })
  let value: unknown
  app.get('/throws', () => {
    throw value
  })
  app.get('/rejects', async () => {
    throw value
  })
  app.get('/sends', (_request, reply) => {
    // An error that is sent is handled like a thrown error.
    if (value instanceof Error) void reply.send(value)
    else throw value
  })
  for (const [title, make, statusCode, code] of thrown) {
    value = make()
    for (const url of ['/throws', '/rejects', '/sends']) isEnvelope(t, await app.inject(url), statusCode, code, `${title} ${url}`)
  }
})

t.test('sends the envelope when any hook throws [E5]', async (t) => {
  for (const hook of ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend'] as const) {
    const app = await service()
    let times = 0
    app.addHook(hook as 'onRequest', async () => {
      times++
      if (times === 1) throw Object.assign(new Error(secret), { statusCode: 409 })
    })
    app.post('/', async () => ({ a: 1 }))
    isEnvelope(t, await app.inject({ method: 'POST', url: '/', payload: {} }), 409, 'CONFLICT', hook)
  }
})

t.test('does not send the message of a hook that always throws [S13]', async (t) => {
  for (const hook of ['onRequest', 'preValidation', 'preSerialization', 'onSend', 'onError'] as const) {
    const app = await service()
    app.addHook(hook as 'onRequest', async () => {
      throw new Error(secret)
    })
    app.get('/', async () => {
      throw new Error('first')
    })
    isEnvelope(t, await app.inject('/'), 500, 'INTERNAL_ERROR', hook)
  }
})

t.test('keeps the status codes of the error and not-found handlers of a child context, and replaces their bodies [E5]', async (t) => {
  const app = await service()
  await app.register(
    async (child) => {
      child.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) =>
        reply.code(error.statusCode ?? 418).send({ oops: error.message })
      )
      child.setNotFoundHandler((_request, reply) => reply.code(404).type('text/html').send('<h1>404</h1>'))
      child.get('/conflict', async () => {
        throw Object.assign(new Error(secret), { statusCode: 409 })
      })
      child.get('/chosen', async () => {
        throw new Error(secret)
      })
      child.get('/typed/:id', { schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } }, async () => 'ok')
      child.get('/known', async () => {
        throw new ApiError(403, 'SUBSCRIPTION_ENDED', 'Your subscription has ended. Renew it.')
      })
    },
    { prefix: '/child' }
  )
  app.get('/route', { errorHandler: (_error, _request, reply) => reply.code(410).send('gone') }, async () => {
    throw new Error(secret)
  })
  isEnvelope(t, await app.inject('/child/conflict'), 409, 'CONFLICT', 'status code of the error')
  isEnvelope(t, await app.inject('/child/chosen'), 418, 'I_M_A_TEAPOT', 'status code of the handler')
  isEnvelope(t, await app.inject('/child/nowhere'), 404, 'RESOURCE_NOT_FOUND', 'not found')
  isEnvelope(t, await app.inject('/route'), 410, 'GONE', 'handler of the route')
  t.match((await app.inject('/child/known')).json().error, {
    code: 'SUBSCRIPTION_ENDED',
    message: 'Your subscription has ended. Renew it.'
  })
  t.match((await app.inject('/child/typed/1?n=x')).json().error, {
    status: 422,
    errors: [{ field: 'query.n', message: 'must be of type integer' }]
  })
})

t.test('replaces an error that is sent without being thrown with the envelope, and closes its body [E5]', async (t) => {
  const app = await service()
  let stream = new Readable({ read: () => undefined })
  let cancelled = ''
  app.get('/object', (_request, reply) => reply.code(404).send({ message: secret }))
  app.get('/nothing', (_request, reply) => reply.code(400).send())
  app.get('/odd', (_request, reply) => reply.code(599).send({ message: secret }))
  app.get('/html', (_request, reply) => reply.code(500).type('text/html').send(`<p>${secret}</p>`))
  app.get('/bytes', (_request, reply) => reply.code(503).header('retry-after', '60').send(Buffer.from(secret)))
  app.get('/stream', (_request, reply) => reply.code(422).send(stream))
  app.get(
    '/response',
    async () => new Response(new ReadableStream({ cancel: (why) => void (cancelled = `cancelled ${String(why)}`) }), { status: 402 })
  )
  app.get('/bare-response', async () => new Response(null, { status: 403 }))
  app.get('/not-json', (_request, reply) => reply.code(404).type('application/json').send('{"error":'))
  app.get('/half', (_request, reply) =>
    reply
      .code(404)
      .send({ error: { status: 404, error: 'x', message: 'y', code: 'Z' }, _meta: { version: 'v1', timestamp: '' }, _links: [] })
  )

  isEnvelope(t, await app.inject('/object'), 404, 'RESOURCE_NOT_FOUND', 'object')
  isEnvelope(t, await app.inject('/nothing'), 400, 'MALFORMED_REQUEST', 'nothing')
  isEnvelope(t, await app.inject('/odd'), 500, 'INTERNAL_ERROR', 'unregistered status code')
  isEnvelope(t, await app.inject('/html'), 500, 'INTERNAL_ERROR', 'html')
  const bytes = await app.inject('/bytes')
  isEnvelope(t, bytes, 503, 'SERVICE_UNAVAILABLE', 'bytes')
  isEnvelope(t, await app.inject('/not-json'), 404, 'RESOURCE_NOT_FOUND', 'not JSON')
  isEnvelope(t, await app.inject('/half'), 404, 'RESOURCE_NOT_FOUND', 'no self link')
  const streamed = await app.inject('/stream')
  isEnvelope(t, streamed, 422, 'VALIDATION_FAILED', 'stream')
  t.strictSame(streamed.json().error.errors, [{ field: 'body', message: 'is invalid' }], 'every 422 lists at least one field [X3]')
  t.ok(stream.destroyed)
  isEnvelope(t, await app.inject('/response'), 402, 'PAYMENT_REQUIRED', 'response')
  t.match(cancelled, /^cancelled/)
  isEnvelope(t, await app.inject('/bare-response'), 403, 'FORBIDDEN', 'response without a body')
  stream = new Readable({ read: () => undefined, destroy: (_error, done) => done(new Error(secret)) })
  isEnvelope(t, await app.inject('/stream'), 422, 'VALIDATION_FAILED', 'a stream that fails when it is closed does not end the process')
})

t.test('sends a stored envelope again without changes, byte for byte', async (t) => {
  const app = await service()
  const stored = JSON.stringify({
    error: { status: 409, error: 'Conflict', message: 'Out of stock.', code: 'OUT_OF_STOCK' },
    _links: [{ rel: 'self', href: 'https://a.example/orders', method: 'POST' }],
    _meta: { version: 'v1', timestamp: '2026-01-01T00:00:00.000Z' }
  })
  app.get('/text', (_request, reply) => reply.code(409).type('application/json; charset=utf-8').send(stored))
  app.get('/bytes', (_request, reply) => reply.code(409).type('application/json; charset=utf-8').send(Buffer.from(stored)))
  app.get('/other-status', (_request, reply) => reply.code(410).type('application/json').send(stored))
  t.match(await app.inject('/text'), { statusCode: 409, payload: stored })
  t.match(await app.inject('/bytes'), { statusCode: 409, payload: stored })
  isEnvelope(t, await app.inject('/other-status'), 410, 'GONE', 'an envelope of another status code')
})

t.test('keeps the error code, text, fields and headers of an ApiError, but only the error code of a 5xx [E4]', async (t) => {
  const app = await service()
  let error: Error
  app.get('/', async () => {
    throw error
  })
  error = new ApiError(409, 'OUT_OF_STOCK', 'Only 3 are left. Order fewer.', {
    errors: [{ field: 'body.quantity', key: 'tooMany', params: {}, message: 'must be at most 3' }],
    headers: { 'Retry-After': '30', 'x-bad': 'a\r\nb', 'bad name': 'x' },
    cause: new Error(secret)
  })
  const conflict = await app.inject('/')
  t.match(conflict.json().error, {
    status: 409,
    error: 'Conflict',
    message: 'Only 3 are left. Order fewer.',
    code: 'OUT_OF_STOCK',
    errors: [{ field: 'body.quantity', message: 'must be at most 3' }]
  })
  t.equal(conflict.headers['retry-after'], '30')
  t.notOk('x-bad' in conflict.headers)

  error = new ApiError(503, 'STORE_DOWN', secret)
  const down = await app.inject('/')
  isEnvelope(t, down, 503, 'STORE_DOWN', '5xx')
  t.equal(down.headers['retry-after'], '5', 'a 503 always has Retry-After')
  error = new ApiError(422, 'INVALID_ORDER', 'The order is not valid.')
  t.strictSame(
    (await app.inject('/')).json().error.errors,
    [{ field: 'body', message: 'is invalid' }],
    'every 422 lists at least one field [X3]'
  )
})

t.test('a response lists at most 100 invalid fields of an ApiError [E4]', async (t) => {
  const app = await service()
  const errors = Array.from({ length: 5000 }, (_, index) => ({
    field: `body.${index}`,
    key: 'required',
    params: {},
    message: 'is required'
  }))
  app.get('/', async () => {
    throw new ApiError(422, 'MANY', 'Fix them.', { errors })
  })
  t.equal((await app.inject('/')).json().error.errors.length, 100)
})

t.test('ignores invalid properties of an ApiError of another copy of the package', async (t) => {
  const app = await service()
  let members: Record<string, unknown> = {}
  app.get('/', async () => {
    throw Object.assign(Object.create({ [Symbol.for('concordat.ApiError')]: true }), {
      statusCode: 404,
      code: 'THING_MISSING',
      message: 'No thing {toString} {__proto__} {name}.',
      params: { name: 'x' },
      errors: [],
      headers: {},
      ...members
    })
  })
  const received = async (changed: Record<string, unknown>) => {
    members = changed
    const response = await app.inject('/')
    t.equal(response.json().error.status, response.statusCode)
    t.type(response.json().error.error, 'string')
    return response.json().error
  }
  t.match(await received({}), { status: 404, code: 'THING_MISSING', message: 'No thing {toString} {__proto__} x.' })
  for (const statusCode of [200, 'x', 700, Number.NaN, 404.5, undefined, null]) t.match(await received({ statusCode }), { status: 500 })
  t.match(await received({ statusCode: 499 }), { status: 400, code: 'MALFORMED_REQUEST' })
  for (const code of [undefined, 'lower', 42, 'A'.repeat(101)])
    t.match(await received({ code }), { status: 404, code: 'RESOURCE_NOT_FOUND' })
  for (const errors of ['text', null, [null, 1, { field: 1 }]])
    t.strictSame(Object.keys(await received({ errors })), ['status', 'error', 'message', 'code', 'retry', 'effect'])
  t.match(await received({ errors: [null, 1] }), { code: 'THING_MISSING' })
  t.match(await received({ errors: [{ field: 'body.a', key: 'toString', params: {}, message: 'is bad' }] }), {
    errors: [{ field: 'body.a', message: 'is bad' }]
  })
  for (const params of [undefined, null, 'x', ['x']])
    t.match(await received({ params }), { message: 'No thing {toString} {__proto__} {name}.' })
  for (const headers of [undefined, null, 'x', { 'x-a': Symbol(secret) }]) t.match(await received({ headers }), { status: 404 })
  members = { headers: [secret] }
  t.notOk('0' in (await app.inject('/')).headers, 'a list is not headers')
  t.match(await received({ message: 42 }), { status: 404, message: /^The resource was not found\. Check the path/ })
  t.match(await received({ messages: { en: 'No {name} at all.' } }), { message: 'No x at all.' })
  for (const messages of [null, 'x', {}, { en: 42 }]) t.match(await received({ messages }), { message: /^No thing/ })
  const unreadable = {
    toString: () => {
      throw new Error(secret)
    }
  }
  t.match(await received({ params: { name: unreadable } }), {
    status: 404,
    code: 'RESOURCE_NOT_FOUND',
    message: /^The resource was not found/
  })
  t.match(await received({ headers: { 'x-a': unreadable } }), { status: 500, code: 'INTERNAL_ERROR' })
})

t.test('sends only the headers of a foreign error that are meant for clients', async (t) => {
  const app = await service()
  app.get('/', async () => {
    throw Object.assign(new Error(secret), {
      statusCode: 401,
      headers: { 'WWW-Authenticate': 'Bearer', 'X-Internal': secret, 'set-cookie': secret, allow: ['GET', 'HEAD'], location: secret }
    })
  })
  app.get('/odd', async () => {
    throw Object.assign(new Error(secret), { statusCode: 401, headers: secret })
  })
  const response = await app.inject('/')
  t.match(response.headers, { 'www-authenticate': 'Bearer', allow: 'GET,HEAD' })
  for (const name of ['x-internal', 'set-cookie', 'location']) t.notOk(name in response.headers, name)
  isEnvelope(t, await app.inject('/odd'), 401, 'AUTHENTICATION_REQUIRED', 'invalid headers')
})

const unauthorized = () => Object.assign(new Error(secret), { statusCode: 401 })

t.test(
  'every 401 has WWW-Authenticate: of the error, else of the reply, else one that asks for nothing that the service does not know [X1]',
  async (t) => {
    const app = await service()
    app.get('/thrown', async () => {
      throw unauthorized()
    })
    app.get('/sent', async (_request, reply) => reply.code(401).send({ error: 'missing authorization header' }))
    app.get('/error', async () => {
      throw Object.assign(unauthorized(), { headers: { 'WWW-Authenticate': 'DPoP' } })
    })
    app.get('/reply', async (_request, reply) => {
      reply.header('www-authenticate', ['Digest', 'Negotiate'])
      throw unauthorized()
    })
    app.get('/forbidden', async () => {
      throw Object.assign(unauthorized(), { statusCode: 403 })
    })
    for (const [url, challenge] of [
      ['/thrown', 'Custom realm="api"'],
      ['/sent', 'Custom realm="api"'],
      ['/error', 'DPoP'],
      ['/reply', 'Digest,Negotiate'],
      ['/forbidden', undefined]
    ] as const)
      for (const method of ['GET', 'HEAD'] as const)
        t.equal((await app.inject({ method, url })).headers['www-authenticate'], challenge, url)
  }
)

t.test('an error whose code has a text about a header, without that header, gets a text that is true; other texts stay', async (t) => {
  const app = await service()
  const own = defineErrors({
    RATE_LIMIT_EXCEEDED: { statusCode: 429, message: { en: 'Three exports a day are allowed.' }, remedy: 'Wait.' }
  })
  const errors = {
    '/limit': errorCatalogueErrors.create('RATE_LIMIT_EXCEEDED'),
    '/limit-and-header': errorCatalogueErrors.create('RATE_LIMIT_EXCEEDED', { headers: { 'Retry-After': '7' } }),
    '/own-text': own.create('RATE_LIMIT_EXCEEDED'),
    '/no-texts': new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many.')
  }
  for (const [url, error] of Object.entries(errors)) app.get(url, () => Promise.reject(error))
  const textAt = async (url: string) => (await app.inject(url)).json().error.message
  t.equal(await textAt('/limit'), 'Too many requests were sent. Wait before you try again.')
  t.match(await textAt('/limit-and-header'), 'Retry-After')
  t.equal(await textAt('/own-text'), 'Three exports a day are allowed.')
  t.notMatch(await textAt('/no-texts'), 'Retry-After')
})

t.test('removes the headers of the response that was not sent, and adds to Vary', async (t) => {
  const app = await service()
  app.get('/', async (request, reply) => {
    const { vary } = request.query as { vary?: string }
    if (vary !== undefined) reply.header('vary', vary.split(';'))
    reply.headers({ etag: '"x"', 'last-modified': 'x', location: '/x', 'content-encoding': 'gzip', 'content-length': '5', 'x-kept': 'yes' })
    reply.header('cache-control', 'public, max-age=600')
    throw new Error(secret)
  })
  const { headers, payload } = await app.inject('/')
  for (const name of ['etag', 'last-modified', 'location', 'content-encoding']) t.notOk(name in headers, name)
  t.match(headers, {
    'x-kept': 'yes',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(payload)),
    vary: 'accept-language'
  })
  t.equal((await app.inject('/?vary=Origin')).headers['vary'], 'origin, accept-language')
  t.equal((await app.inject('/?vary=Origin;Accept-Language, Accept')).headers['vary'], 'origin, accept-language, accept')
  t.equal((await app.inject('/?vary=*')).headers['vary'], '*')
})

t.test('a response schema for errors does not change the envelope, and a failing serializer results in 500', async (t) => {
  const app = await service()
  const response = {
    '4xx': { type: 'object', properties: { only: { type: 'string' } } },
    200: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  }
  app.get('/refused', { schema: { response } }, async () => {
    throw Object.assign(new Error(secret), { statusCode: 409 })
  })
  app.get('/mismatch', { schema: { response } }, async () => ({ m: secret }))
  app.get('/circular', async () => {
    const circular: Record<string, unknown> = { secret }
    circular['self'] = circular
    return circular
  })
  app.get('/invalid-status', (_request, reply) => reply.code(700).send(secret))
  isEnvelope(t, await app.inject('/refused'), 409, 'CONFLICT', 'schema for 4xx')
  for (const url of ['/mismatch', '/circular', '/invalid-status']) isEnvelope(t, await app.inject(url), 500, 'INTERNAL_ERROR', url)
})

t.test('the self link has the method and the original target of the client, without secrets [K3]', async (t) => {
  const app = await service(
    { publicUrl: 'https://api.example.com' },
    { rewriteUrl: (raw) => (raw.url as string).replace('/outside', '/inside') }
  )
  app.get('/inside', async () => {
    throw new Error(secret)
  })
  const self = async (method: 'GET' | 'HEAD' | 'DELETE', url: string) => (await app.inject({ method, url })).json()._links
  t.strictSame(await self('GET', '/outside?access_token=x&a=1'), [
    { rel: 'self', href: 'https://api.example.com/outside?a=1', method: 'GET' }
  ])
  t.strictSame(await self('DELETE', '/outside/x'), [{ rel: 'self', href: 'https://api.example.com/outside/x', method: 'DELETE' }])
  t.match(await self('GET', '/outside/%zz'), [{ href: 'https://api.example.com/outside/%25zz' }], 'a URI')
})

t.test('chooses version and language per request', async (t) => {
  const app = await service({
    version: (request) => (request?.originalUrl.startsWith('/v2') ? 'v2' : 'v1'),
    locale: (request) => ('originalUrl' in request && request.originalUrl === '/es' ? 'es' : String(request.headers['accept-language']))
  })
  const spanish = await app.inject({ url: '/v2/x', headers: { 'accept-language': 'es' } })
  t.match(spanish.json(), { error: { message: /^No se encontró el recurso\. Revise la ruta/ }, _meta: { version: 'v2' } })
  t.equal(spanish.headers['content-language'], 'es')
  t.equal((await app.inject('/es')).headers['content-language'], 'es', 'locale can read what hooks added to the request')
  const unknown = await app.inject({ url: '/x', headers: { 'accept-language': 'toString' } })
  t.equal(unknown.headers['content-language'], 'en', 'a language that the catalogue does not have is not used')
  t.match((await app.inject({ url: '/%zz', headers: { 'accept-language': 'es' } })).json(), { error: { message: /^El URI contiene/ } })
})

t.test('the version and the headers of other libraries have the lengths that the description says', async (t) => {
  const app = await service({ version: () => 'v'.repeat(100) })
  for (const length of [1024, 1025])
    app.get(`/${length}`, async () => {
      throw Object.assign(new Error('no'), { statusCode: 415, headers: { Accept: 'a'.repeat(length) } })
    })
  const [passed, dropped] = await Promise.all([1024, 1025].map((length) => app.inject(`/${length}`)))
  t.strictSame([passed?.headers['accept']?.length, dropped?.headers['accept']], [1024, undefined])
  t.equal(passed?.json()._meta.version, 'v'.repeat(64))
})

t.test('sends errors and fields of other lists in the language of the client [G1]', async (t) => {
  const orders = defineErrors(
    {
      INVALID_ORDER: {
        statusCode: 422,
        message: { en: 'Order {id} is not valid.', es: 'El pedido {id} no es válido.' },
        remedy: 'Fix the fields.'
      },
      STORE_DOWN: { statusCode: 503, retry: 'later', message: { en: 'No store.', es: 'Sin almacén.' }, remedy: 'Retry.' }
    },
    { tooMany: { en: 'must be at most {limit}', es: 'debe ser como máximo {limit}' } }
  )
  const app = await service({ include: [orders], locale: () => 'es' })
  app.get('/', async () => {
    throw orders.create('INVALID_ORDER', { params: { id: 7 }, errors: [{ field: 'body.quantity', key: 'tooMany', params: { limit: 3 } }] })
  })
  app.get('/down', async () => {
    throw orders.create('STORE_DOWN')
  })
  t.match((await app.inject('/')).json().error, {
    message: 'El pedido 7 no es válido.',
    errors: [{ field: 'body.quantity', message: 'debe ser como máximo 3' }]
  })
  t.equal((await app.inject('/down')).json().error.message, 'Sin almacén.')
  const foreign = await service({ locale: () => 'es' })
  foreign.get('/', async () => {
    throw Object.assign(new Error(secret), { statusCode: 402 })
  })
  t.match((await foreign.inject('/')).json().error.message, /^La petición falló con "Payment Required"/)
})

t.test('the texts of an error take precedence over those of its error code in the catalogue [G1]', async (t) => {
  const message = { en: 'The order {id} was changed meanwhile.', es: 'El pedido {id} cambió entretanto.' }
  const orders = defineErrors({ CONFLICT: { statusCode: 409, message, remedy: 'Read it again.' } })
  const app = await service({ include: [orders], locale: ({ headers }) => String(headers['accept-language']) })
  app.get('/own', async () => {
    throw orders.create('CONFLICT', { params: { id: 7 } })
  })
  app.get('/foreign', async () => {
    throw Object.assign(new Error(secret), { statusCode: 409 })
  })
  const textAt = async (url: string, language: string) =>
    (await app.inject({ url, headers: { 'accept-language': language } })).json().error.message
  t.equal(await textAt('/own', 'en'), 'The order 7 was changed meanwhile.')
  t.equal(await textAt('/own', 'es'), 'El pedido 7 cambió entretanto.')
  t.notMatch(await textAt('/foreign', 'es'), /pedido/, 'an error without texts has the texts of the catalogue')
})

t.test('the name of a validation error is ValidationError, that of other errors the reason phrase of their status code', async (t) => {
  const text = { en: 'Not valid.', es: 'No válido.' }
  const queries = defineErrors({
    INVALID_QUERY: { statusCode: 422, message: text, remedy: 'Fix it.', validation: true },
    KEY_REUSED: { statusCode: 422, message: text, remedy: 'Take another.' }
  })
  const app = await service({ include: [queries] })
  app.get('/invalid', () => Promise.reject(queries.create('INVALID_QUERY')))
  app.get('/reused', () => Promise.reject(queries.create('KEY_REUSED')))
  t.equal((await app.inject('/invalid')).json().error.error, 'ValidationError')
  t.equal((await app.inject('/reused')).json().error.error, 'Unprocessable Content')
})
