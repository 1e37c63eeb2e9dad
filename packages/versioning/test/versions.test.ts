import { contractOf } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import versioning from '@concordat/versioning'
import Fastify, { type FastifyPluginAsync, type FastifyPluginOptions } from 'fastify'
import fp from 'fastify-plugin'
import t from 'tap'

t.test('returns 404 with the available versions for a version that is not in the table [V1]', async (t) => {
  const app = Fastify()
  await app.register(versioning, {
    versions: {
      1: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2021-01-01T00:00:00Z', documentation: 'https://docs.example.com' },
      2: {},
      3: {}
    }
  })
  await app.apiVersion(2, async (v2) => {
    v2.get('/orders', async () => 'orders')
  })
  for (const url of [
    '/v9/orders',
    '/v9',
    '/v02/orders',
    '/V2/orders',
    '/v2.0/orders',
    '/v2.0.1/orders?x=/v2',
    '/v0/orders',
    '/v99999999999999999999'
  ]) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 404, url)
    t.match(response.json(), { code: 'VERSION_NOT_FOUND', message: /Available versions: v2, v3\.$/ }, url)
  }
  t.notMatch((await app.inject('/v2/unknown')).json(), { code: 'VERSION_NOT_FOUND' })
  t.equal((await app.inject('/v2/orders')).statusCode, 200)
})

t.test('the 404 does not name a version when every version is retired', async (t) => {
  const app = Fastify()
  const versions = {
    1: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2021-01-01T00:00:00Z', documentation: 'https://docs.example.com' }
  }
  await app.register(versioning, { versions })
  t.match((await app.inject('/v9')).json().message, /Available versions: –\.$/)
  t.equal((await app.inject('/v1')).statusCode, 410)
})

const routes: FastifyPluginAsync<FastifyPluginOptions> = async (v1, { prefix }) => void v1.get('/orders', async () => ({ prefix }))
const baskets: FastifyPluginAsync<FastifyPluginOptions> = async (v1, { prefix }) => void v1.get('/baskets', async () => ({ prefix }))

t.test('a module of routes in the form of a Fastify plugin can be a version, and gets the options of its registration', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  await app.apiVersion(1, routes)
  await app.apiVersion(1, fp(baskets))
  for (const url of ['/v1/orders', '/v1/baskets']) t.strictSame((await app.inject(url)).json(), { prefix: '/v1' }, url)
})

t.test('several files can add routes to the same version', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders', async () => 'orders')
  })
  await app.apiVersion(1, async (v1) => {
    v1.get('/products', async () => 'products')
  })
  t.equal((await app.inject('/v1/orders')).body, 'orders')
  t.equal((await app.inject('/v1/products')).body, 'products')
})

t.test('works relative to an outer prefix', async (t) => {
  movedDate(t, Date.UTC(2025, 0, 1))
  const app = Fastify()
  const versions = {
    1: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2021-01-01T00:00:00Z', documentation: 'https://docs.example.com/' },
    2: { deprecatedAt: '2020-01-01T00:00:00Z', sunsetAt: '2030-01-01T00:00:00Z', documentation: 'https://docs.example.com/' },
    3: {}
  }
  await app.register(versioning, {
    versions,
    publicUrl: 'https://example.com'
  })
  await app.register(
    async (shop) => {
      await shop.apiVersion(2, async (v2) => {
        v2.get('/orders/:id', async (request, _reply) => ({
          version: request.apiVersion,
          prefix: contractOf(v2, 'versions')?.prefixOf(request)
        }))
        v2.get('/baskets/:id', async (_request, reply) => reply.moved('/orders/a'))
      })
    },
    { prefix: '/shop/' }
  )

  const response = await app.inject('/shop/v2/orders/a')
  t.strictSame(response.json(), { version: 'v2', prefix: '/shop/v2' })
  t.match(response.headers.link, '<https://example.com/shop/v3>; rel="successor-version"')
  t.equal((await app.inject('/shop/v2/baskets/a')).headers.location, 'https://example.com/shop/v2/orders/a')
  t.equal((await app.inject('/shop/v1/orders')).statusCode, 410)
  t.equal((await app.inject('/shop/v9/orders')).json().code, 'VERSION_NOT_FOUND')
  t.not((await app.inject('/v9/orders')).json().code, 'VERSION_NOT_FOUND')
  t.equal((await app.inject('/')).json().versions[2].href, 'https://example.com/shop/v3')
})

t.test('without a host that links may use, a resource has moved to a relative address', async (t) => {
  const app = Fastify()
  await app.register(versioning, { versions: { 1: {} }, allowedHosts: ['*.example.com'] })
  await app.apiVersion(1, async (v1) => {
    v1.get('/orders/:id', async () => ({}))
    v1.get('/baskets/:id', async (_request, reply) => reply.moved('/orders/a b?c=1'))
  })
  const locationFor = async (host: string) => (await app.inject({ url: '/v1/baskets/a', headers: { host } })).headers.location
  t.equal(await locationFor('api.example.com'), 'http://api.example.com/v1/orders/a%20b?c=1')
  t.equal(await locationFor('evil.example'), '/v1/orders/a%20b?c=1')
})

t.test('when registered under a prefix, it lists and retires the versions of that prefix', async (t) => {
  const app = Fastify()
  await app.register(
    async (shop) => {
      await shop.register(versioning)
    },
    { prefix: '/shop' }
  )
  t.equal((await app.inject('/shop')).json().versions[0].href, 'http://localhost/shop/v1')
  t.equal((await app.inject('/shop/v9')).json().code, undefined, 'the 404 of the root belongs to the root')
})

t.test('reply.moved responds with 301, an absolute Location and no body [X4]', async (t) => {
  const app = Fastify()
  await app.register(versioning, { publicUrl: 'https://api.example.com' })
  const targets: Record<string, string> = {
    rooted: '/orders/a',
    relative: 'orders/a',
    query: '/orders?sort=-placedAt',
    absolute: 'https://other.example/orders/a',
    unicode: '/orders/ñ',
    breaking: '/orders/a\r\nset-cookie: x=1',
    doubled: '//evil.example/orders'
  }
  await app.apiVersion(1, async (v1) => {
    v1.get('/targets/:name', { schema: { response: { 200: { type: 'object', properties: {} } } } }, async (request, reply) =>
      reply.moved(targets[(request.params as { name: string }).name] as string)
    )
    v1.get('/baskets/:id', (_request, reply) => {
      reply.moved('/orders/a')
    })
  })
  app.get('/old', { config: { operational: true } }, async (_request, reply) => reply.moved('/v1/orders'))

  for (const [url, location] of [
    ['/v1/targets/rooted', 'https://api.example.com/v1/orders/a'],
    ['/v1/targets/relative', 'https://api.example.com/v1/orders/a'],
    ['/v1/targets/query', 'https://api.example.com/v1/orders?sort=-placedAt'],
    ['/v1/targets/absolute', 'https://other.example/orders/a'],
    ['/v1/targets/unicode', 'https://api.example.com/v1/orders/%C3%B1'],
    ['/v1/targets/breaking', 'https://api.example.com/v1/orders/aset-cookie:%20x=1'],
    ['/v1/targets/doubled', 'https://api.example.com/v1/evil.example/orders'],
    ['/v1/baskets/a', 'https://api.example.com/v1/orders/a'],
    ['/old', 'https://api.example.com/v1/orders']
  ] as const) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 301, url)
    t.equal(response.headers.location, location)
    t.equal(response.headers['content-length'], '0')
    t.equal(response.body, '')
    t.notOk('content-type' in response.headers)
  }
})

t.test('rejects a version that is not in the table, or is inside another version, at boot', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  t.throws(() => app.apiVersion(2, async () => {}), /apiVersion\(2\): options\.versions does not contain this version\. Add it/)
  await t.rejects(
    async () =>
      app.apiVersion(1, async (v1) => {
        await v1.apiVersion(1, async () => {})
      }),
    /must not be called inside another version/
  )
  const tenants = Fastify()
  await tenants.register(versioning)
  await t.rejects(
    async () =>
      tenants.register(
        async (tenant) => {
          await tenant.apiVersion(1, async () => {})
        },
        { prefix: '/tenants/:tenantId' }
      ),
    /cannot be used under the prefix "\/tenants\/:tenantId"/
  )
})

t.test('a failure in the routes of a version stops the boot', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  void app.apiVersion(1, async () => {
    throw new Error('no database')
  })
  await t.rejects(async () => app.ready(), /no database/)
})

t.test('the route that lists the versions is public and operational', async (t) => {
  const configs: unknown[] = []
  const app = Fastify()
  app.addHook('onRoute', (route) => {
    configs.push(route.config)
  })
  await app.register(versioning)
  t.match(configs[0], { public: true, operational: true })
})
