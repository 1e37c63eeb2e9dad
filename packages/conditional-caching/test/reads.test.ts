import { Readable } from 'node:stream'
import conditionalCaching, { type ConditionalCachingOptions, type ValidatorFunction } from '@concordat/conditional-caching'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

type Validator = Awaited<ReturnType<ValidatorFunction>>

const changed = new Date('2026-03-01T12:00:00.700Z')
const changedAt = 'Sun, 01 Mar 2026 12:00:00 GMT'
/** The date that clients get: the first second after the second of the change. */
const dateSent = 'Sun, 01 Mar 2026 12:00:01 GMT'

const image = (type: string, bytes: string) => async () => ({ type, body: Buffer.from(bytes) })
const stream = async () => Readable.from(['x'])

async function service(options: ConditionalCachingOptions = {}) {
  const app = Fastify()
  await app.register(conditionalCaching, options)
  return app
}

// A product with a validator and a product without; `runs` counts how often their handler ran.
async function products(validator: () => Validator | Promise<Validator>, options: ConditionalCachingOptions = {}) {
  const app = await service(options)
  const runs = { count: 0 }
  const handler = async () => {
    runs.count += 1
    return { name: 'Chai' }
  }
  app.get('/versioned', { config: { validator } }, handler)
  app.get('/hashed', handler)
  const call = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') => app.inject({ method, url, headers })
  return { app, runs, call }
}

t.test('a 200 has a strong ETag of its content and a cache policy, and HEAD has the same headers [C1] [M7] [S8]', async (t) => {
  const { call } = await products(() => ({ exists: true }))
  const response = await call('/hashed')
  t.match(response.headers, { etag: /^"[\w-]{22}"$/, 'cache-control': 'private, no-cache' })
  const head = await call('/hashed', {}, 'HEAD')
  const { date: _a, ...got } = response.headers
  const { date: _b, ...headed } = head.headers
  t.strictSame(headed, got)
  t.equal(head.body, '')
})

t.test('returns 304 without a body for a list of tags, a weak tag or * when a tag still matches [C4] [S8] [H1] [X4]', async (t) => {
  const { call, runs } = await products(() => ({ exists: true, etag: 7 }))
  for (const url of ['/versioned', '/hashed']) {
    const { etag } = (await call(url)).headers
    for (const field of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "a,b"`, `,, ${etag} ,`, '*', ' * ']) {
      for (const method of ['GET', 'HEAD'] as const) {
        runs.count = 0
        const response = await call(url, { 'if-none-match': String(field) }, method)
        const { date: _date, connection: _connection, ...headers } = response.headers
        t.strictSame(
          [response.statusCode, response.body, headers],
          [304, '', { 'cache-control': 'private, no-cache', etag }],
          `${method} ${field}`
        )
        t.equal(runs.count, url === '/versioned' ? 0 : 1, 'the handler does not run when there is a validator')
      }
    }
  }
})

t.test('a 304 retains the headers about the resource and drops those about its body [C4]', async (t) => {
  const app = await service()
  app.get('/', async (_request, reply) => {
    reply.headers({
      expires: changedAt,
      'content-location': '/v1/orders/7',
      'request-id': 'b3c1',
      vary: 'accept',
      'content-security-policy': "default-src 'none'",
      'content-language': 'en',
      'content-disposition': 'inline',
      'last-modified': changedAt
    })
    return {}
  })
  const { etag } = (await app.inject('/')).headers
  const { date, connection: _connection, ...headers } = (await app.inject({ url: '/', headers: { 'if-none-match': String(etag) } })).headers
  t.ok(date)
  t.strictSame(headers, {
    'cache-control': 'private, no-cache',
    etag,
    expires: changedAt,
    'content-location': '/v1/orders/7',
    'request-id': 'b3c1',
    vary: 'accept',
    'content-security-policy': "default-src 'none'"
  })
})

t.test('returns the full response for tags that do not match or are malformed, whatever the dates are [C4]', async (t) => {
  const { call } = await products(() => ({ exists: true, etag: 'v7', lastModified: changed }))
  for (const url of ['/versioned', '/hashed']) {
    const { etag } = (await call(url)).headers
    const opaque = String(etag).slice(1, -1)
    const fields = ['"other"', '"v"', '"v77"', opaque, `"${opaque}`, `${opaque}"`, `w/${etag}`, `W/ ${etag}`, `${etag} "x"`, `${etag}, x`]
    for (const field of [...fields, `*, ${etag}`, `${etag}, *`, `"${opaque} "`, '', ',', '""', `"${opaque}--lzma"`, `"${opaque}--"`]) {
      const response = await call(url, { 'if-none-match': field, 'if-modified-since': changedAt })
      t.strictSame([response.statusCode, response.json()], [200, { name: 'Chai' }], `${url} ${field}`)
    }
  }
})

t.test(
  'If-Modified-Since alone gets 304 in any of the three forms of dates, and the full response when it is earlier or invalid [C4]',
  async (t) => {
    movedDate(t, Date.UTC(2026, 10, 21))
    const { call, app } = await products(() => ({ exists: true, lastModified: changed }))
    app.get('/dated', async (_request, reply) => reply.header('last-modified', changedAt).send({ name: 'Chai' }))
    for (const url of ['/versioned', '/dated']) t.equal((await call(url)).headers['last-modified'], dateSent)
    const unchanged = [
      dateSent,
      'Sunday, 01-Mar-26 12:00:01 GMT',
      'Sun Mar  1 12:00:01 2026',
      'Sun Mar 01 12:00:01 2026',
      'Mon, 02 Mar 2026 00:00:00 GMT',
      'Wednesday, 01-Jan-76 00:00:00 GMT',
      'Sat, 28 Feb 2032 23:59:60 GMT'
    ]
    const since = [
      changedAt,
      'Friday, 01-Jan-77 00:00:00 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
      'Thu, 01 Jan 0070 00:00:00 GMT',
      '2027-03-01T12:00:00Z',
      'Sun, 30 Feb 2027 12:00:00 GMT',
      'Sun, 1 Mar 2027 12:00:00 GMT',
      'Mon, 01 Mar 2027 24:00:00 GMT',
      'Mon, 01 Mar 2027 12:00:00 CET',
      'Mon, 01 Mar 2027 12:00:00',
      'mon, 01 mar 2027 12:00:00 gmt',
      `${changedAt}, ${changedAt}`,
      '1900000000',
      ''
    ]
    for (const url of ['/versioned', '/dated']) {
      for (const date of unchanged) t.equal((await call(url, { 'if-modified-since': date })).statusCode, 304, `${url} ${date}`)
      for (const date of since) t.equal((await call(url, { 'if-modified-since': date })).statusCode, 200, `${url} ${date}`)
    }
    t.equal(
      (await call('/hashed', { 'if-modified-since': 'Mon, 01 Mar 2027 12:00:00 GMT' })).statusCode,
      200,
      'the date of the last change is unknown'
    )
  }
)

t.test('returns 412 for a read that requires another state than the current state [X1]', async (t) => {
  const { call, app, runs } = await products(() => ({ exists: true, etag: 7, lastModified: changed }))
  app.get('/dated', async (_request, reply) => reply.header('last-modified', changedAt).send({ name: 'Chai' }))
  for (const url of ['/versioned', '/dated']) {
    const { etag } = (await call(url)).headers
    const earlier = { 'if-unmodified-since': changedAt }
    for (const headers of [{ 'if-match': '"other"' }, { 'if-match': `W/${etag}` }, { 'if-match': 'x' }, earlier]) {
      const response = await call(url, headers)
      t.match(response, { statusCode: 412, headers: { 'cache-control': 'no-store', etag } }, `${url} ${JSON.stringify(headers)}`)
      t.equal(response.headers['last-modified'], undefined)
    }
    for (const headers of [
      { 'if-match': String(etag) },
      { 'if-match': '*' },
      { 'if-match': String(etag), ...earlier },
      { 'if-unmodified-since': dateSent }
    ])
      t.equal((await call(url, headers)).statusCode, 200, `${url} ${JSON.stringify(headers)}`)
  }
  runs.count = 0
  await call('/versioned', { 'if-match': '"other"' })
  t.equal(runs.count, 0)
})

t.test('the handler responds when the validator finds no resource, whatever the preconditions are [X1]', async (t) => {
  const app = await service()
  app.get('/', { config: { validator: async () => ({ exists: false }) } }, async (_request, reply) => reply.code(404).send({}))
  for (const headers of [{ 'if-match': '"7"' }, { 'if-match': '*' }, { 'if-none-match': '*' }, { 'if-none-match': '"7"' }])
    t.equal((await app.inject({ url: '/', headers })).statusCode, 404)
})

t.test('an error does not have a tag, must not be stored and is never 304, whatever the route sets [C1] [C5]', async (t) => {
  const app = await service({ cache: 'public' })
  app.get('/:status', async (request, reply) => {
    const { status } = request.params as { status: string }
    reply.entityTag(7).header('last-modified', changedAt).header('cache-control', 'public, max-age=60')
    return reply.code(Number(status)).send({ status })
  })
  app.get('/thrown', async (_request, reply) => {
    reply.entityTag(7)
    throw new Error('lost')
  })
  for (const url of ['/400', '/404', '/410', '/500', '/503', '/thrown', '/no/route']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const response = await app.inject({ method, url, headers: { 'if-none-match': '*', 'if-modified-since': changedAt } })
      t.not(response.statusCode, 304)
      t.match(response.headers, { 'cache-control': 'no-store', etag: undefined, 'last-modified': undefined }, `${method} ${url}`)
    }
  }
})

t.test('a response to a write must not be stored and is never 304 [C5]', async (t) => {
  const app = await service({ cache: 'public' })
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: '/',
    config: { cache: 'public', validator: () => ({ exists: true, etag: 7 }) },
    handler: async () => ({})
  })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    t.match(await app.inject({ method, url: '/' }), { statusCode: 200, headers: { 'cache-control': 'no-store', etag: undefined } })
    t.equal((await app.inject({ method, url: '/', headers: { 'if-none-match': '"7"' } })).statusCode, 412)
  }
  t.match(await app.inject('/'), { headers: { 'cache-control': 'public, max-age=86400', etag: /^"7~[\w-]{11}"$/ } })
})

t.test('a route sets its cache policy by name or by directives [C2] [C3]', async (t) => {
  const app = await service()
  const policies = [
    ['public', 'public, max-age=86400'],
    ['private', 'private, no-cache'],
    ['no-cache', 'no-cache'],
    ['no-store', 'no-store'],
    [{ noStore: true }, 'no-store'],
    [{ private: true, maxAgeSeconds: 60, mustRevalidate: true }, 'private, max-age=60, must-revalidate'],
    [{ mustRevalidate: true, sMaxAgeSeconds: 600, maxAgeSeconds: 0, public: true }, 'public, max-age=0, s-maxage=600, must-revalidate'],
    [{ noCache: true, private: undefined }, 'no-cache']
  ] as const
  for (const [index, [cache, value]] of policies.entries()) {
    app.get(`/${index}`, { config: { cache: cache as never } }, async () => ({ value }))
  }
  app.get('/own', { config: { cache: 'public' } }, async (_request, reply) => reply.header('cache-control', 'private, max-age=5').send({}))
  for (const [index, [, value]] of policies.entries()) t.equal((await app.inject(`/${index}`)).headers['cache-control'], value)
  t.equal((await app.inject('/own')).headers['cache-control'], 'private, max-age=5', 'Cache-Control from the handler takes precedence')
  const unkept = await app.inject('/3')
  t.equal(unkept.headers.etag, undefined, 'a response that is not stored needs no tag')
  for (const headers of [{ 'if-none-match': '*' }, { 'if-match': '"7"' }])
    t.equal((await app.inject({ url: '/3', headers })).statusCode, 200)
})

t.test('a response to a known caller is private, no-cache unless its policy is private already [C3]', async (t) => {
  const app = await service({ isPrivate: ({ headers }) => headers['x-api-key'] !== undefined })
  const policies = ['public', 'no-cache', { maxAgeSeconds: 60 }, { public: true, sMaxAgeSeconds: 60 }] as const
  for (const [index, cache] of policies.entries()) app.get(`/${index}`, { config: { cache } }, async () => ({}))
  app.get('/session', { config: { cache: 'public' } }, async (_request, reply) => reply.header('set-cookie', 'a=b').send({}))
  app.get('/own', { config: { cache: { private: true, maxAgeSeconds: 60 } } }, async () => ({}))
  const callers = [{ authorization: 'Bearer x' }, { cookie: 'session=1' }, { 'x-api-key': 'k' }]
  for (const headers of callers) {
    for (const index of policies.keys())
      t.equal((await app.inject({ url: `/${index}`, headers })).headers['cache-control'], 'private, no-cache')
    t.equal((await app.inject({ url: '/own', headers })).headers['cache-control'], 'private, max-age=60')
  }
  t.equal((await app.inject('/session')).headers['cache-control'], 'private, no-cache')
  t.equal((await app.inject('/0')).headers['cache-control'], 'public, max-age=86400')
})

t.test('a version that the handler sets becomes the tag, and a matching request gets 304 [C1] [C4]', async (t) => {
  const app = await service({ revision: '2026-11' })
  app.get('/', async (_request, reply) => reply.entityTag(7).send({ name: 'Chai' }))
  app.get('/raw', async (_request, reply) => reply.header('etag', 'W/"own"').send({ name: 'Chai' }))
  app.get('/wrong', async (_request, reply) => reply.header('etag', 'own').send({ name: 'Chai' }))
  app.get('/unsayable', async (_request, reply) => reply.entityTag('a b').send({}))
  const { headers } = await app.inject('/')
  t.match(headers.etag, /^"7~[\w-]{11}"$/)
  t.equal((await app.inject({ url: '/', headers: { 'if-none-match': String(headers.etag) } })).statusCode, 304)
  t.equal((await app.inject({ url: '/', headers: { 'if-none-match': '"7"' } })).statusCode, 200, 'a tag without a representation')
  t.equal((await app.inject('/raw')).headers.etag, 'W/"own"')
  t.equal((await app.inject({ url: '/raw', headers: { 'if-none-match': '"own"' } })).headers.etag, 'W/"own"')
  t.match((await app.inject('/wrong')).headers.etag, /^"[\w-]{22}"$/, 'an invalid tag is replaced')
  t.match((await app.inject('/unsayable')).json(), { statusCode: 500, message: /"a b" is not a valid version/ })
})

t.test('bytes have a tag from their content and media type, streams only from a version', async (t) => {
  const app = await service()
  const sources = { a: image('image/png', 'x'), b: image('image/jpeg', 'x'), c: image('image/png', 'y'), d: image('image/png', 'x') }
  for (const [name, source] of Object.entries(sources)) {
    app.get(`/${name}`, async (_request, reply) => {
      const { type, body } = await source()
      return reply.type(type).send(body)
    })
  }
  app.get('/stream', stream)
  app.get('/versioned', { config: { validator: () => ({ exists: true, etag: 7 }) } }, stream)
  const tags: unknown[] = []
  for (const name of Object.keys(sources)) tags.push((await app.inject(`/${name}`)).headers.etag)
  t.equal(new Set(tags).size, 3)
  t.equal(tags[0], tags[3])
  t.equal((await app.inject({ url: '/a', headers: { 'if-none-match': String(tags[0]) } })).statusCode, 304)
  t.equal((await app.inject({ url: '/stream', headers: { 'if-none-match': '*' } })).headers.etag, undefined)
  t.match(await app.inject('/versioned'), { statusCode: 200, body: 'x', headers: { etag: /^"7~[\w-]{11}"$/ } })
  const { etag } = (await app.inject('/versioned')).headers
  t.equal((await app.inject({ url: '/versioned', headers: { 'if-none-match': String(etag) } })).statusCode, 304)
})

t.test('a validator runs after the hooks of the route, and a request that they refuse stays refused', async (t) => {
  const app = await service()
  const order: string[] = []
  const refusing = (name: string, refuse: boolean) => async () => {
    order.push(name)
    if (refuse) throw Object.assign(new Error('not yours'), { statusCode: 403 })
  }
  const validator = () => {
    order.push('validator')
    return { exists: true, etag: 7 }
  }
  app.get('/mine', { config: { validator }, preHandler: [refusing('mine', false)] }, async () => ({}))
  app.get('/foreign', { config: { validator }, preHandler: refusing('foreign', true) }, async () => ({}))
  const headers = { 'if-none-match': String((await app.inject('/mine')).headers.etag) }
  t.equal((await app.inject({ url: '/mine', headers })).statusCode, 304)
  t.equal((await app.inject({ url: '/foreign', headers })).statusCode, 403)
  t.strictSame(order, ['mine', 'validator', 'mine', 'validator', 'foreign'])
})

t.test('a response that is sent while the validator runs stays the only response', async (t) => {
  let log = ''
  const write = (line: string) => void (log += line)
  const app: FastifyInstance = Fastify({ handlerTimeout: 20, logger: { level: 'warn', stream: { write } } })
  await app.register(conditionalCaching)
  const { promise, resolve } = Promise.withResolvers<Validator>()
  app.get('/', { config: { validator: () => promise } }, async () => t.fail('the handler runs'))
  t.equal((await app.inject({ url: '/', headers: { 'if-none-match': '"7"' } })).statusCode, 503)
  log = ''
  resolve({ exists: true, etag: 7 })
  await app.close()
  t.equal(log, '', 'no second response is attempted')
})
