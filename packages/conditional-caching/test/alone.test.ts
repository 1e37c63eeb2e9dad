import conditionalCaching, { type ConditionalCachingOptions, lints } from '@concordat/conditional-caching'
import etag from '@fastify/etag'
import Fastify, { type RouteShorthandOptions } from 'fastify'
import t from 'tap'

const found = () => ({ exists: true, etag: 7 })

async function bareService(options: ConditionalCachingOptions = {}) {
  const app = Fastify()
  await app.register(conditionalCaching, options)
  return app
}

t.test('412, 428 and 404 have a readable body with this plugin alone [X1]', async (t) => {
  const app = await bareService()
  app.patch('/orders/:id', { config: { validator: found, requireIfMatch: true } }, async () => ({}))
  app.patch('/gone/:id', { config: { validator: () => ({ exists: false }) } }, async () => ({}))
  const call = (url: string, headers: Record<string, string>) => app.inject({ method: 'PATCH', url, headers })
  const failed = await call('/orders/1', { 'if-match': '"6"' })
  t.strictSame(failed.json(), {
    statusCode: 412,
    code: 'PRECONDITION_FAILED',
    error: 'Precondition Failed',
    message: 'The resource is not in the state that the request requires. Fetch it again, then repeat your change with its current ETag.'
  })
  t.match((await call('/orders/1', {})).json(), { statusCode: 428, code: 'PRECONDITION_REQUIRED', message: /send its ETag in If-Match\.$/ })
  t.match((await call('/gone/1', { 'if-match': '"6"' })).json(), {
    statusCode: 404,
    code: 'RESOURCE_NOT_FOUND',
    message: /^The resource was not found\./
  })
})

const wrongOptions: readonly [ConditionalCachingOptions, string][] = [
  [
    { isPrivate: true as never },
    'options.isPrivate must be a function that returns whether the caller is authenticated, but its type is boolean.'
  ],
  [{ ifMatch: 'weak' as never }, 'options.ifMatch must be "strong" or "opaque", but is "weak".'],
  [{ revision: 'a b' }, 'options.revision must be a string of letters, digits, "_", "." and "-", for example "2026-11", but is "a b".'],
  [{ revision: 1 as never }, 'options.revision must be a string of letters, digits, "_", "." and "-", for example "2026-11", but is 1.'],
  [
    { representationChangedAt: '2026-11-25' },
    'options.representationChangedAt must be a valid Date or an ISO 8601 date-time with Z or an offset, such as "2028-01-01T00:00:00Z", but is "2026-11-25".'
  ],
  [{ cache: { public: true, private: true } }, 'options.cache: public and private must not be combined. Remove one of them.']
]
for (const [options, message] of wrongOptions) {
  t.test(`refuses the invalid option ${JSON.stringify(options)} at boot with an error that names it`, async (t) => {
    await t.rejects(async () => Fastify().register(conditionalCaching, options), { message: `conditional-caching: ${message}` })
  })
}

function problemsOf(method: string, config: object) {
  return lints.flatMap(({ id, check }) => {
    const problem = check({ method, url: '/v1/orders', config })
    return problem === undefined ? [] : [`${id}: ${problem}`]
  })
}

type Config = NonNullable<RouteShorthandOptions['config']>
const wrongRoutes: readonly [string, Config, string][] = [
  [
    'GET',
    { cache: 'forever' as never },
    'GET /orders: config.cache: the policy must be "public", "private", "no-cache", "no-store" or directives such as { public: true, maxAgeSeconds: 60 }, but is "forever".'
  ],
  [
    'GET',
    { cache: null as never },
    'GET /orders: config.cache: the policy must be "public", "private", "no-cache", "no-store" or directives such as { public: true, maxAgeSeconds: 60 }, but is null.'
  ],
  ['GET', { cache: {} }, 'GET /orders: config.cache: the policy must not be empty. Set at least one directive.'],
  [
    'GET',
    { cache: { immutable: true } as never },
    'GET /orders: config.cache.immutable is unknown. Use only public, private, noCache, noStore, maxAgeSeconds, sMaxAgeSeconds, mustRevalidate.'
  ],
  ['GET', { cache: { public: false } as never }, 'GET /orders: config.cache.public must be true, but is false.'],
  ['GET', { cache: { maxAgeSeconds: -1 } }, 'GET /orders: config.cache.maxAgeSeconds must be an integer from 0 to 31536000, but is -1.'],
  [
    'GET',
    { cache: { maxAgeSeconds: '60' } as never },
    'GET /orders: config.cache.maxAgeSeconds must be an integer from 0 to 31536000, but is "60".'
  ],
  [
    'GET',
    { cache: { sMaxAgeSeconds: 31_536_001 } },
    'GET /orders: config.cache.sMaxAgeSeconds must be an integer from 0 to 31536000, but is 31536001.'
  ],
  [
    'GET',
    { cache: { noStore: true, private: true } },
    'GET /orders: config.cache: noStore cannot be combined with other directives. Remove them: a response that is not stored needs none.'
  ],
  [
    'GET',
    { cache: { private: true, sMaxAgeSeconds: 5 } },
    'GET /orders: config.cache: private and sMaxAgeSeconds must not be combined. Remove one of them: shared caches do not store private responses.'
  ],
  [
    'GET',
    { cache: { noCache: true, maxAgeSeconds: 5 } },
    'GET /orders: config.cache: noCache cannot be combined with an age. Remove one of them: a response that is validated before each use needs no age.'
  ],
  [
    'PATCH',
    { cache: 'public' },
    'PATCH /orders: config.cache has no effect, because caches do not store responses to this method. Remove it.'
  ],
  [
    'GET',
    { validator: 'version' as never },
    'GET /orders: config.validator must be a function that returns { exists, etag?, lastModified? }, but its type is string.'
  ],
  ['PATCH', { requireIfMatch: 'yes' as never }, 'PATCH /orders: config.requireIfMatch must be true or false, but is "yes".'],
  [
    'GET',
    { validator: found, requireIfMatch: true },
    'GET /orders: config.requireIfMatch is allowed only on PUT, PATCH, DELETE and POST. Remove it.'
  ],
  ['DELETE', { requireIfMatch: true }, 'DELETE /orders: config.requireIfMatch requires a validator to compare with. Set config.validator.']
]
for (const [method, config, message] of wrongRoutes) {
  t.test(`refuses an invalid route at boot: ${message}`, async (t) => {
    const app = await bareService()
    app.route({ method, url: '/orders', config, handler: async () => ({}) })
    await t.rejects(async () => app.ready(), { message: `conditional-caching: ${message}` })
  })
}

t.test('accepts no-store on a write, and a policy on POST', async (t) => {
  const app = await bareService()
  app.put('/orders', { config: { cache: 'no-store', validator: found, requireIfMatch: true } }, async () => ({}))
  app.post('/order-searches', { config: { cache: { private: true, maxAgeSeconds: 5 } } }, async () => ({}))
  t.equal((await app.inject({ method: 'PUT', url: '/orders', headers: { 'if-match': '"7"' } })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/order-searches' })).headers['cache-control'], 'private, max-age=5')
})

t.test('an invalid result of a validator is a 500 whose message says what to return', async (t) => {
  const app = await bareService()
  const wrong: readonly [unknown, RegExp][] = [
    [undefined, /the result of config\.validator must have a property exists that is true or false/],
    [{ exists: 'yes' }, /the result of config\.validator must have a property exists that is true or false/],
    [
      { exists: true, eTag: '7' },
      /: the result of config\.validator\.eTag is unknown\. Did you mean the result of config\.validator\.etag\?/
    ],
    [{ exists: true, etag: '7', lastModifed: new Date() }, /lastModifed is unknown\. Did you mean .*lastModified\?/],
    [{ exists: false, row: {} }, /row is unknown\. Use only exists, etag, lastModified\./],
    [{ exists: true, etag: '"7"' }, /"\\"7\\"" is not a valid version/],
    [{ exists: true, etag: '' }, /"" is not a valid version/],
    [{ exists: true, etag: 'v'.repeat(245) }, /a string of at most 244 visible characters/],
    [{ exists: true, etag: 'a b' }, /"a b" is not a valid version/],
    [{ exists: true, lastModified: '2026-01-01' }, /must be a valid Date since the Unix epoch/],
    [{ exists: true, lastModified: new Date(Number.NaN) }, /must be a valid Date since the Unix epoch/]
  ]
  for (const [index, [response]] of wrong.entries()) {
    app.get(`/now/${index}`, { config: { validator: () => response as never } }, async () => ({}))
    app.get(`/later/${index}`, { config: { validator: async () => response as never } }, async () => ({}))
  }
  for (const [index, [, message]] of wrong.entries()) {
    for (const kind of ['now', 'later']) t.match((await app.inject(`/${kind}/${index}`)).json(), { statusCode: 500, message })
  }
})

t.test('an error in a validator gets the response of an error in a handler, for reads and writes', async (t) => {
  const app = await bareService()
  const failures = {
    now: () => {
      throw new Error('no database')
    },
    later: async () => {
      throw new Error('no database')
    }
  }
  for (const [kind, validator] of Object.entries(failures)) {
    app.route({ method: ['GET', 'PATCH'], url: `/${kind}`, config: { validator }, handler: async () => t.fail('the handler runs') })
  }
  for (const kind of Object.keys(failures)) {
    for (const method of ['GET', 'PATCH'] as const) {
      const response = await app.inject({ method, url: `/${kind}`, headers: { 'if-match': '"7"' } })
      t.match(response.json(), { statusCode: 500, message: 'no database' })
    }
  }
})

t.test('the lints find a public policy on a route with permissions, and a POST that is cached [C3] [C5]', async (t) => {
  t.strictSame(problemsOf('GET', { cache: 'public' }), [])
  t.strictSame(problemsOf('GET', { cache: 'private', permissions: ['orders:read'] }), [])
  t.strictSame(problemsOf('POST', { cache: 'no-store', permissions: ['orders:read'] }), [])
  const shared = /^C3: it requires permissions, .* Set config\.cache to "private"\.$/
  t.match(problemsOf('GET', { cache: 'public', permissions: ['orders:read'] }), [shared])
  t.match(problemsOf('GET', { cache: { sMaxAgeSeconds: 5 }, permissions: ['orders:read'] }), [shared])
  t.match(problemsOf('POST', { cache: 'private' }), [/^C5: responses to POST are not cacheable by default\./])
})

t.test('beside @fastify/etag, a read has the tag of its validator, so that a change can name it [C6] [O1]', async (t) => {
  const app = Fastify()
  await app.register(etag)
  app.get('/plain', async () => ({ name: 'tea' }))
  await app.register(async (products) => {
    await products.register(conditionalCaching)
    const config = { validator: () => ({ exists: true, etag: 7 }) }
    products.get('/products/1', { config }, async () => ({ name: 'tea' }))
    products.get('/products/2', { config }, async (_request, reply) => reply.entityTag(8).send({ name: 'tea' }))
    products.get('/products/4', { config }, async (_request, reply) => reply.code(206).entityTag(7).send('te'))
    products.patch('/products/1', { config }, async (_request, reply) => reply.code(204).send())
  })
  t.match((await app.inject('/plain')).headers, { etag: /^"[\w+/=]{28}"$/, 'cache-control': undefined })
  const tagOf = async (url: string) => (await app.inject(url)).headers.etag
  const tags = [await tagOf('/products/1'), await tagOf('/products/2'), await tagOf('/products/4')]
  t.match(tags, [/^"7~[\w-]{11}"$/, /^"8~[\w-]{11}"$/, /^"7~[\w-]{11}"$/])
  t.equal((await app.inject({ url: '/products/1', headers: { 'if-none-match': String(tags[0]) } })).statusCode, 304)
  t.equal((await app.inject({ method: 'PATCH', url: '/products/1', headers: { 'if-match': '"7"' } })).statusCode, 204)

  const redirected = Fastify()
  await redirected.register(conditionalCaching)
  redirected.get('/moved', { config: { validator: () => ({ exists: true, etag: 7 }) } }, async (_request, reply) =>
    reply.redirect('/there')
  )
  t.strictSame((await redirected.inject('/moved')).headers.etag, undefined, 'a redirection is not a version of the resource')
})
