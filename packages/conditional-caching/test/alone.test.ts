import conditionalCaching, { type ConditionalCachingOptions, lints, preconditionErrors } from '@concordat/conditional-caching'
import Fastify, { type RouteShorthandOptions } from 'fastify'
import t from 'tap'

const found = () => ({ exists: true, etag: 7 })

async function bareService(options: ConditionalCachingOptions = {}) {
  const app = Fastify()
  await app.register(conditionalCaching, options)
  return app
}

t.test('stock Fastify prints 412, 428 and 404 sensibly, with only this plugin [X1]', async (t) => {
  const app = await bareService()
  app.patch('/orders/:id', { config: { validator: found, requireIfMatch: true } }, async () => ({}))
  app.patch('/gone/:id', { config: { validator: () => ({ exists: false }) } }, async () => ({}))
  const ask = (url: string, headers: Record<string, string>) => app.inject({ method: 'PATCH', url, headers })
  const failed = await ask('/orders/1', { 'if-match': '"6"' })
  t.strictSame(failed.json(), {
    statusCode: 412,
    code: 'PRECONDITION_FAILED',
    error: 'Precondition Failed',
    message: 'The resource has changed since the version named in the request. Fetch it again, then repeat your change.'
  })
  t.match((await ask('/orders/1', {})).json(), { statusCode: 428, code: 'PRECONDITION_REQUIRED', message: /send its ETag in If-Match\.$/ })
  t.match((await ask('/gone/1', { 'if-match': '"6"' })).json(), {
    statusCode: 404,
    code: 'RESOURCE_NOT_FOUND',
    message: /nothing to change/
  })
})

t.test('every error has its words in English and Spanish', async (t) => {
  t.strictSame(Object.keys(preconditionErrors.definitions), ['PRECONDITION_FAILED', 'PRECONDITION_REQUIRED', 'RESOURCE_NOT_FOUND'])
  for (const { message } of Object.values(preconditionErrors.definitions)) t.strictSame(Object.keys(message), ['en', 'es'])
})

const wrongOptions: readonly [ConditionalCachingOptions, string][] = [
  [{ isPrivate: true as never }, 'isPrivate is a boolean. Give a function.'],
  [{ volatileTail: 40 as never }, 'volatileTail is a number. Give a function.'],
  [{ strength: 'soft' as never }, 'strength is "soft". Give "strong" or "weak".'],
  [{ ifMatch: 'weak' as never }, 'ifMatch is "weak". Give "strong" or "opaque".'],
  [{ etagOnPut: 1 as never }, 'etagOnPut is 1. Give true or false.'],
  [{ revision: 'a b' }, 'revision is "a b". Give letters, digits, "_", "." and "-", as "2026-11".'],
  [{ revision: 1 as never }, 'revision is 1. Give letters, digits, "_", "." and "-", as "2026-11".'],
  [{ publicMaxAgeSeconds: 1.5 }, 'publicMaxAgeSeconds has maxAgeSeconds 1.5. Give whole seconds from 0 to 31536000, a year.'],
  [{ cache: { public: true, private: true } }, 'cache is public and private at once. Choose one.']
]
for (const [options, message] of wrongOptions) {
  t.test(`the option ${JSON.stringify(options)} is refused at boot with one clear line`, async (t) => {
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
const wrongRoutes: readonly [string, Config, string, ConditionalCachingOptions?][] = [
  [
    'GET',
    { cache: 'forever' as never },
    'the cache of GET /orders is "forever". Give "public", "private", "no-cache", "no-store" or directives, as { public: true, maxAgeSeconds: 60 }.'
  ],
  [
    'GET',
    { cache: null as never },
    'the cache of GET /orders is null. Give "public", "private", "no-cache", "no-store" or directives, as { public: true, maxAgeSeconds: 60 }.'
  ],
  ['GET', { cache: {} }, 'the cache of GET /orders says nothing. Give at least one directive.'],
  [
    'GET',
    { cache: { immutable: true } as never },
    'the cache of GET /orders has the unknown directive "immutable". There are public, private, noCache, noStore, maxAgeSeconds, sMaxAgeSeconds, mustRevalidate.'
  ],
  ['GET', { cache: { public: false } as never }, 'the cache of GET /orders has public: false. Give true, or leave it out.'],
  [
    'GET',
    { cache: { maxAgeSeconds: -1 } },
    'the cache of GET /orders has maxAgeSeconds -1. Give whole seconds from 0 to 31536000, a year.'
  ],
  [
    'GET',
    { cache: { maxAgeSeconds: '60' } as never },
    'the cache of GET /orders has maxAgeSeconds 60. Give whole seconds from 0 to 31536000, a year.'
  ],
  [
    'GET',
    { cache: { sMaxAgeSeconds: 31_536_001 } },
    'the cache of GET /orders has sMaxAgeSeconds 31536001. Give whole seconds from 0 to 31536000, a year.'
  ],
  [
    'GET',
    { cache: { noStore: true, private: true } },
    'the cache of GET /orders has noStore beside others. What is not stored needs no other directive.'
  ],
  [
    'GET',
    { cache: { private: true, sMaxAgeSeconds: 5 } },
    'the cache of GET /orders is private and has sMaxAgeSeconds. Shared caches do not keep what is private.'
  ],
  [
    'GET',
    { cache: { noCache: true, maxAgeSeconds: 5 } },
    'the cache of GET /orders has noCache and an age. What is asked for again before each use has no age.'
  ],
  ['PATCH', { cache: 'public' }, 'PATCH /orders has a cache policy, but no cache keeps its answers. Leave it out.'],
  ['GET', { validator: 'version' as never }, 'GET /orders has a validator that is a string. Give a function.'],
  ['PATCH', { requireIfMatch: 'yes' as never }, 'PATCH /orders has requireIfMatch: yes. Give true or false.'],
  [
    'GET',
    { validator: found, requireIfMatch: true },
    'GET /orders has requireIfMatch, but changes nothing. Set it on PUT, PATCH, DELETE or POST.'
  ],
  ['DELETE', { requireIfMatch: true }, 'DELETE /orders has requireIfMatch and no validator to compare with. Give config.validator.'],
  [
    'PUT',
    { validator: found, requireIfMatch: true },
    "PUT /orders has requireIfMatch, which weak tags never fulfil. Set the option ifMatch: 'opaque', or let tags be strong.",
    { strength: 'weak' }
  ]
]
for (const [method, config, message, options] of wrongRoutes) {
  t.test(`a route is refused at boot: ${message}`, async (t) => {
    const app = await bareService(options)
    t.throws(() => app.route({ method, url: '/orders', config, handler: async () => ({}) }), { message: `conditional-caching: ${message}` })
  })
}

t.test('what makes sense boots: no-store on a write, a policy on POST, weak tags that If-Match takes', async (t) => {
  const app = await bareService({ strength: 'weak', ifMatch: 'opaque' })
  app.put('/orders', { config: { cache: 'no-store', validator: found, requireIfMatch: true } }, async () => ({}))
  app.post('/order-searches', { config: { cache: { private: true, maxAgeSeconds: 5 } } }, async () => ({}))
  t.equal((await app.inject({ method: 'PUT', url: '/orders', headers: { 'if-match': 'W/"7"' } })).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/order-searches' })).headers['cache-control'], 'private, max-age=5')
})

t.test('a validator that answers nonsense is a 500, and the log says what it has to answer', async (t) => {
  const app = await bareService()
  const wrong: readonly [unknown, RegExp][] = [
    [undefined, /answered without exists/],
    [{ exists: 'yes' }, /answered without exists/],
    [{ exists: true, etag: '"7"' }, /"\\"7\\"" is no version/],
    [{ exists: true, etag: '' }, /"" is no version/],
    [{ exists: true, etag: 'a b' }, /"a b" is no version/],
    [{ exists: true, lastModified: '2026-01-01' }, /is no date since 1970/],
    [{ exists: true, lastModified: new Date(Number.NaN) }, /is no date since 1970/]
  ]
  for (const [index, [answer]] of wrong.entries()) {
    app.get(`/now/${index}`, { config: { validator: () => answer as never } }, async () => ({}))
    app.get(`/later/${index}`, { config: { validator: async () => answer as never } }, async () => ({}))
  }
  for (const [index, [, message]] of wrong.entries()) {
    for (const kind of ['now', 'later']) t.match((await app.inject(`/${kind}/${index}`)).json(), { statusCode: 500, message })
  }
})

t.test('a validator that fails is answered as a handler that fails, before reads and before writes', async (t) => {
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
      const answer = await app.inject({ method, url: `/${kind}`, headers: { 'if-match': '"7"' } })
      t.match(answer.json(), { statusCode: 500, message: 'no database' })
    }
  }
})

t.test('the lints find a public answer that needs permissions, and a POST that is kept [C3] [C5]', async (t) => {
  t.strictSame(problemsOf('GET', { cache: 'public' }), [])
  t.strictSame(problemsOf('GET', { cache: 'private', permissions: ['orders:read'] }), [])
  t.strictSame(problemsOf('POST', { cache: 'no-store', permissions: ['orders:read'] }), [])
  const shared = /^C3: it asks for permissions, .* Make it "private"\.$/
  t.match(problemsOf('GET', { cache: 'public', permissions: ['orders:read'] }), [shared])
  t.match(problemsOf('GET', { cache: { sMaxAgeSeconds: 5 }, permissions: ['orders:read'] }), [shared])
  t.match(problemsOf('POST', { cache: 'private' }), [/^C5: answers to POST are not kept\./])
})
