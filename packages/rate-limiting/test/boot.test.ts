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

t.test('options that make no sense are refused with one clear line', async (t) => {
  const cases: [object, string][] = [
    [
      { addressLimit: { limit: 0, windowSeconds: 60 } },
      'addressLimit has the limit 0. Give a whole number of requests from 1 to 1000000000.'
    ],
    [
      { addressLimit: { limit: 1.5, windowSeconds: 60 } },
      'addressLimit has the limit 1.5. Give a whole number of requests from 1 to 1000000000.'
    ],
    [{ addressLimit: { limit: 9, windowSeconds: 0 } }, 'addressLimit has the windowSeconds 0. Give a whole number of seconds, 1 or more.'],
    [{ addressLimit: { limit: 9 } }, 'addressLimit has the windowSeconds undefined. Give a whole number of seconds, 1 or more.'],
    [{ client: 'subject' }, 'client is a string. Give a function from the request to its client.'],
    [
      { clientLimit: { limit: 9, windowSeconds: 60 } },
      'clientLimit and tiers are for clients. Give the option client, which says who makes a request.'
    ],
    [
      { tiers: { gold: { limit: 9, windowSeconds: 60 } } },
      'clientLimit and tiers are for clients. Give the option client, which says who makes a request.'
    ],
    [
      { client, tiers: { address: { limit: 9, windowSeconds: 60 } } },
      'tiers has "address". Write it in lower case with hyphens, and neither "address" nor "client".'
    ],
    [
      { client, tiers: { 'Gold "1"': { limit: 9, windowSeconds: 60 } } },
      'tiers has "Gold "1"". Write it in lower case with hyphens, and neither "address" nor "client".'
    ],
    [
      { client, tiers: { gold: { limit: 0, windowSeconds: 60 } } },
      'tiers.gold has the limit 0. Give a whole number of requests from 1 to 1000000000.'
    ],
    [{ ipv6PrefixLength: 0 }, 'ipv6PrefixLength is 0. Give a whole number from 16 to 128.'],
    [{ maximumKeys: 1 }, 'maximumKeys is 1. Give a whole number from 100 to 10000000.'],
    [{ store: {} }, 'store is no store. Give one that has add(), as memoryStore().'],
    [{ storeTimeoutMilliseconds: 0 }, 'storeTimeoutMilliseconds is 0. Give a whole number from 1 to 10000.'],
    [{ whenStoreFails: 'ignore' }, 'whenStoreFails is "ignore". Give "countLocally" or "refuse".'],
    [{ overload: {} }, 'overload has no threshold. Give one, as { eventLoopDelayMilliseconds: 1000 }, or leave overload out.'],
    [{ overload: { rssBytes: -1 } }, 'overload.rssBytes is -1. Give a number over 0.'],
    [{ overload: { eventLoopUtilization: 98 } }, 'overload.eventLoopUtilization is 98. Give a number over 0 and up to 1.'],
    [
      { overload: { rssBytes: 1e9, retryAfterSeconds: 0.5 } },
      'overload.retryAfterSeconds is 0.5. Give a whole number of seconds, 1 or more.'
    ]
  ]
  for (const [options, line] of cases) await t.rejects(boot(options), { name: 'TypeError', message: `rate-limiting: ${line}` })
})

t.test('a window in milliseconds is refused, one of a usual length is not', async (t) => {
  for (const windowSeconds of [1000, 5000, 10_000, 60_000, 300_000, 900_000, 3_600_000, 86_400_000]) {
    await t.rejects(boot({ addressLimit: { limit: 9, windowSeconds } }), {
      message: `rate-limiting: addressLimit has the windowSeconds ${windowSeconds}. Give whole minutes, hours or days, at most 31 days; it is in seconds, not in milliseconds.`
    })
  }
  for (const windowSeconds of [1, 90, 900, 1800, 3600, 7200, 86_400, 31 * 86_400]) {
    await t.resolves(boot({ addressLimit: { limit: 9, windowSeconds } }), String(windowSeconds))
  }
})

t.test('a route whose limit makes no sense is refused with one clear line', async (t) => {
  const limit = { limit: 5, windowSeconds: 60 }
  const cases: [unknown, string][] = [
    [true, 'POST /orders has the rateLimit true. Give an object, or false for a route that is not counted.'],
    [null, 'POST /orders has the rateLimit null. Give an object, or false for a route that is not counted.'],
    [{ max: 5 }, 'POST /orders has the unknown member rateLimit.max. There are limit, windowSeconds, scope, group, cost.'],
    [{ limit: 0, windowSeconds: 60 }, 'POST /orders has the limit 0. Give a whole number of requests from 1 to 1000000000.'],
    [{ group: 'exports' }, 'POST /orders has the limit undefined. Give a whole number of requests from 1 to 1000000000.'],
    [{ ...limit, scope: 'user' }, 'POST /orders has the scope "user". Give "address" or "client".'],
    [
      { ...limit, group: 'All Exports' },
      'POST /orders has the group "All Exports". Write it in lower case with hyphens, as "order-exports".'
    ],
    [{ cost: 0 }, 'POST /orders has the cost 0. Give a whole number from 1 to 100.'],
    [{ cost: 101 }, 'POST /orders has the cost 101. Give a whole number from 1 to 100.'],
    [{ ...limit, cost: 6 }, 'the cost 6 is over the limit 5 of "POST /orders", so no request would pass.'],
    [{ ...limit, scope: 'client' }, '"POST /orders" is a limit per client. Give the option client, which says who makes a request.'],
    [
      { ...limit, group: 'address' },
      '"address" is 1200 in 60 s by address in one place and 5 in 60 s by address in another. Make them equal, or give one another group.'
    ]
  ]
  for (const [rateLimit, line] of cases) {
    await t.rejects(boot({}, { rateLimit: rateLimit as false }), { name: 'TypeError', message: `rate-limiting: ${line}` })
  }
  await t.resolves(boot({ client }, { rateLimit: { ...limit, scope: 'client' } }))
})

t.test('one group with two limits is refused', async (t) => {
  const app = Fastify()
  await app.register(rateLimiting, { client, tiers: { exports: { limit: 10, windowSeconds: 60 } } })
  t.throws(() => app.get('/a', { config: { rateLimit: { limit: 10, windowSeconds: 60, group: 'exports' } } }, async () => []), {
    message:
      'rate-limiting: "exports" is 10 in 60 s by client of tier exports in one place and 10 in 60 s by client in another. Make them equal, or give one another group.'
  })
})

t.test('a second registration for the same routes is refused, one beside it is not', async (t) => {
  const app = Fastify()
  app.register(async (scope) => void scope.register(rateLimiting))
  app.register(async (scope) => void scope.register(rateLimiting))
  await t.resolves(async () => app.ready())

  const twice = Fastify()
  twice.register(rateLimiting)
  twice.register(async (scope) => void scope.register(rateLimiting))
  await t.rejects(async () => twice.ready(), {
    message: 'rate-limiting: it is registered here already, and would count everything twice. Register it once.'
  })

  const both = Fastify()
  both.decorate('createRateLimit', () => {})
  both.register(rateLimiting)
  await t.rejects(async () => both.ready(), {
    message: 'rate-limiting: @fastify/rate-limit is registered here already. Leave it out: it reads config.rateLimit as its own.'
  })
})
