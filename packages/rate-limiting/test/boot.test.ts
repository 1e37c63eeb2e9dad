import rateLimiting, { type RateLimitingOptions } from '@concordat/rate-limiting'
import Fastify, { type FastifyContextConfig } from 'fastify'
import t from 'tap'

const client = () => undefined

async function boot(options: RateLimitingOptions, config: FastifyContextConfig = {}) {
  const app = Fastify()
  await app.register(rateLimiting, options)
  app.post('/orders', { config }, async () => ({}))
  await app.ready()
}

t.test('rejects invalid options with one line', async (t) => {
  const cases: [object, string][] = [
    [{ addressLimit: { limit: 0, windowSeconds: 60 } }, 'options.addressLimit.limit must be an integer from 1 to 1000000000, but is 0.'],
    [
      { addressLimit: { limit: 1.5, windowSeconds: 60 } },
      'options.addressLimit.limit must be an integer from 1 to 1000000000, but is 1.5.'
    ],
    [{ addressLimit: { limit: 9, windowSeconds: 0 } }, 'options.addressLimit.windowSeconds must be an integer of at least 1, but is 0.'],
    [{ addressLimit: { limit: 9 } }, 'options.addressLimit.windowSeconds must be an integer of at least 1, but is undefined.'],
    [{ client: 'subject' }, 'options.client must be a function that returns the client, but its type is string.'],
    [
      { clientLimit: { limit: 9, windowSeconds: 60 } },
      'options.clientLimit and options.tiers require options.client. Set options.client too.'
    ],
    [
      { tiers: { gold: { limit: 9, windowSeconds: 60 } } },
      'options.clientLimit and options.tiers require options.client. Set options.client too.'
    ],
    [
      { client, tiers: { address: { limit: 9, windowSeconds: 60 } } },
      'options.tiers contains the invalid name "address". Use lower case with hyphens; "address" and "client" are reserved.'
    ],
    [
      { client, tiers: { 'Gold "1"': { limit: 9, windowSeconds: 60 } } },
      'options.tiers contains the invalid name "Gold "1"". Use lower case with hyphens; "address" and "client" are reserved.'
    ],
    [
      { client, tiers: { gold: { limit: 0, windowSeconds: 60 } } },
      'options.tiers.gold.limit must be an integer from 1 to 1000000000, but is 0.'
    ],
    [{ store: {} }, 'options.store must implement RateLimitStore with its method add(), for example memoryRateLimitStore().'],
    [{ storeTimeoutSeconds: 0 }, 'options.storeTimeoutSeconds must be a number from 0.001 to 10, but is 0.'],
    [{ whenStoreFails: 'ignore' }, 'options.whenStoreFails must be "countLocally" or "refuse", but is "ignore".'],
    [{ overload: { maxEventLoopDelayMs: 0 } }, 'options.overload.maxEventLoopDelayMs must be a number from 1 to 60000, but is 0.'],
    [{ overload: { minInFlight: 0 } }, 'options.overload.minInFlight must be an integer from 1 to 1000000, but is 0.'],
    [{ overload: { maxInFlight: 20 } }, 'options.overload.maxInFlight must be an integer from 50 to 1000000, but is 20.']
  ]
  for (const [options, line] of cases) await t.rejects(boot(options), { name: 'TypeError', message: `rate-limiting: ${line}` })
})

t.test('rejects a window in milliseconds and accepts windows of usual lengths', async (t) => {
  for (const windowSeconds of [1000, 5000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 86_400_000]) {
    await t.rejects(boot({ addressLimit: { limit: 9, windowSeconds } }), {
      message: `rate-limiting: options.addressLimit.windowSeconds must be a whole number of minutes, hours or days in seconds, at most 31 days, but is ${windowSeconds}.`
    })
  }
  for (const windowSeconds of [1, 90, 900, 1800, 3600, 7200, 86_400, 31 * 86_400]) {
    await t.resolves(boot({ addressLimit: { limit: 9, windowSeconds } }), String(windowSeconds))
  }
})

const addRoute = async (length: number, group?: string) => {
  const app = Fastify()
  await app.register(rateLimiting)
  app.get(`/${'a'.repeat(length - 'GET /'.length)}`, { config: { rateLimit: { limit: 5, windowSeconds: 60, group } } }, async () => '')
  await app.ready()
}

t.test('a route with a long path needs a group for its limit, because the name is in a header', async (t) => {
  await t.resolves(addRoute(256))
  await t.resolves(addRoute(257, 'long'))
  await t.rejects(addRoute(257), { message: /needs a group, because the path of the route has more than 256 characters\. Add one\./ })
})

t.test('rejects a route with an invalid limit with one line', async (t) => {
  const limit = { limit: 5, windowSeconds: 60 }
  const cases: [unknown, string][] = [
    [true, 'POST /orders: config.rateLimit must be an object, or false to exempt the route, but is true.'],
    [null, 'POST /orders: config.rateLimit must be an object, or false to exempt the route, but is null.'],
    [{ max: 5 }, 'POST /orders: config.rateLimit.max is unknown. Use only limit, windowSeconds, scope, group, cost.'],
    [{ limit: 0, windowSeconds: 60 }, 'POST /orders: config.rateLimit.limit must be an integer from 1 to 1000000000, but is 0.'],
    [{ group: 'exports' }, 'POST /orders: config.rateLimit.limit must be an integer from 1 to 1000000000, but is undefined.'],
    [{ ...limit, scope: 'user' }, 'POST /orders: config.rateLimit.scope must be "address" or "client", but is "user".'],
    [
      { ...limit, group: 'All Exports' },
      'POST /orders: config.rateLimit.group must be in lower case with hyphens, such as "exports", but is "All Exports".'
    ],
    [{ cost: 0 }, 'POST /orders: config.rateLimit.cost must be an integer from 1 to 100, but is 0.'],
    [{ cost: 101 }, 'POST /orders: config.rateLimit.cost must be an integer from 1 to 100, but is 101.'],
    [{ ...limit, cost: 6 }, 'the cost 6 exceeds the limit of "POST /orders", 5. Correct one of them.'],
    [
      { ...limit, scope: 'client' },
      '"POST /orders" is a limit per client, which requires options.client. Set it, or use the scope "address".'
    ],
    [
      { ...limit, group: 'address' },
      '"address" is defined twice, as 1200 in 60 s by address and as 5 in 60 s by address. Use the same limit, or rename one.'
    ]
  ]
  for (const [rateLimit, line] of cases) {
    await t.rejects(boot({}, { rateLimit: rateLimit as false }), { name: 'TypeError', message: `rate-limiting: ${line}` })
  }
  await t.resolves(boot({ client }, { rateLimit: { ...limit, scope: 'client' } }))
  const low = { client, addressLimit: { limit: 4, windowSeconds: 60 }, clientLimit: { limit: 3, windowSeconds: 60 } }
  await t.rejects(boot(low, { rateLimit: { ...limit, cost: 6 } }), { message: /exceeds the limit of "address", 4/ }, 'the first of several')
})

t.test('rejects one group with two limits', async (t) => {
  const app = Fastify()
  await app.register(rateLimiting, { client, tiers: { exports: { limit: 10, windowSeconds: 60 } } })
  app.get('/a', { config: { rateLimit: { limit: 10, windowSeconds: 60, group: 'exports' } } }, async () => [])
  await t.rejects(async () => app.ready(), {
    message:
      'rate-limiting: "exports" is defined twice, as 10 in 60 s by client of tier exports and as 10 in 60 s by client. Use the same limit, or rename one.'
  })
})

t.test('rejects a second registration for the same routes, but not for sibling routes', async (t) => {
  const app = Fastify()
  app.register(async (scope) => void scope.register(rateLimiting))
  app.register(async (scope) => void scope.register(rateLimiting))
  await t.resolves(async () => app.ready())

  const twice = Fastify()
  twice.register(rateLimiting)
  twice.register(async (scope) => void scope.register(rateLimiting))
  await t.rejects(async () => twice.ready(), {
    message: 'rate-limiting: the plugin is already registered here and would count every request twice. Register it only once.'
  })

  const both = Fastify()
  both.decorate('createRateLimit', () => {})
  both.register(rateLimiting)
  await t.rejects(async () => both.ready(), {
    message: 'rate-limiting: @fastify/rate-limit is already registered here and also reads config.rateLimit. Remove it.'
  })
})
