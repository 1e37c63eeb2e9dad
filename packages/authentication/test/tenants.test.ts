import authentication, { createApiKey, memoryApiKeyStore, outsideIssuer } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import { contributions } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import t from 'tap'
import { ownIssuer, permissions, service } from './service.ts'

const tenant = { claim: 'org' }
const longest = 'aZ09_-'.padEnd(64, 'x')
const outsideKit = testKit({ issuer: 'https://id.example.com', audience: 'orders', algorithm: 'RS256' })
const own = ownIssuer()

const routes: Readonly<Record<string, NonNullable<RouteOptions['config']>>> = {
  '/tenant': { permissions: ['orders:read'] },
  '/none': { permissions: ['orders:read'], tenant: 'none' },
  '/open': { public: true, tenant: 'none' },
  '/status': { permissions: ['orders:read'], operational: true },
  '/ignoring': { public: 'ignoring-credentials', tenant: 'none' }
}

// A record whose tenant was changed in the store.
const keyOf = (value: unknown) => {
  const { key, record } = createApiKey({ client: 'kiosk', permissions: ['orders:read'] })
  return { key, record: { ...record, tenant: value as string } }
}

async function tenantService(keys: readonly ReturnType<typeof keyOf>[] = [], fastify = {}) {
  const outside = outsideIssuer({
    issuer: 'https://id.example.com',
    audience: 'orders',
    jwksUrl: 'https://id.example.com/keys',
    fetch: outsideKit.fetch
  })
  const apiKeys = { store: memoryApiKeyStore(keys.map(({ record }) => record)), permissions: ['orders:read'] }
  const options = { tenant, issuers: [own.issuer, outside], apiKeys, outside: { '/foreign': 'public' as const } }
  const app = Fastify(fastify)
  await app.register(authentication, { permissions, ...options })
  for (const [url, config] of Object.entries(routes)) app.get(url, { config }, async (request) => ({ tenant: request.tenant ?? 'none' }))
  app.get('/foreign', async (request) => ({ tenant: request.tenant ?? 'none' }))
  return app
}

// [what the credential has, the outcome where a route has a tenant, where it has none]
const forms: readonly (readonly [unknown, number | string, number | string])[] = [
  ['acme', 'acme', 'none'],
  ['A', 'A', 'none'],
  [longest, longest, 'none'],
  ['0', '0', 'none'],
  ['-_', '-_', 'none'],
  [undefined, 'TENANT_REQUIRED', 'none'],
  ['', 401, 401],
  ["a'b", 401, 401],
  ['a"b', 401, 401],
  ['a b', 401, 401],
  ['acme\n', 401, 401],
  ['ä', 401, 401],
  [`${longest}x`, 401, 401],
  [7, 401, 401],
  [true, 401, 401],
  [['acme'], 401, 401],
  [{ id: 'acme' }, 401, 401]
]

for (const credential of ['own token', 'token of another issuer', 'API key'] as const) {
  t.test(`the tenant of a request is that of the ${credential}, and nothing malformed is one`, async (t) => {
    for (const [value, withTenant, withoutTenant] of forms) {
      const key = keyOf(value)
      const app = await tenantService([key])
      const kit = credential === 'own token' ? own.kit : outsideKit
      const headers = credential === 'API key' ? { 'x-api-key': key.key } : kit.headers({ scope: 'orders:read', org: value })
      const outcome = async (url: string) => {
        const response = await app.inject({ url, headers })
        const { tenant: named, code } = response.json()
        if (response.statusCode === 401) t.equal(code, credential === 'API key' ? 'INVALID_API_KEY' : 'INVALID_TOKEN')
        return response.statusCode === 401 ? 401 : (named ?? code)
      }
      const what = `${JSON.stringify(value)} in ${credential}`
      t.equal(await outcome('/tenant'), withTenant, what)
      t.equal(await outcome('/tenant'), withTenant, `${what}, a second time`)
      t.equal(await outcome('/none'), withoutTenant, what)
      t.equal(await outcome('/open'), withoutTenant, what)
      t.equal(await outcome('/status'), withoutTenant, what)
      t.equal(await outcome('/ignoring'), 'none', what)
      t.equal(await outcome('/foreign'), 'none', what)
    }
  })
}

t.test('a claim that is null names no tenant', async (t) => {
  const app = await tenantService()
  const headers = own.kit.headers({ scope: 'orders:read', org: null })
  t.match((await app.inject({ url: '/tenant', headers })).json(), { statusCode: 403, code: 'TENANT_REQUIRED' })
  t.match((await app.inject({ url: '/none', headers })).json(), { tenant: 'none' })
})

t.test('a client without the permission gets 403 for it, whether or not it has a tenant', async (t) => {
  const app = await tenantService()
  for (const org of ['acme', undefined])
    t.match((await app.inject({ url: '/tenant', headers: own.kit.headers({ org }) })).json(), { code: 'INSUFFICIENT_PERMISSION' })
  t.equal((await app.inject('/tenant')).statusCode, 401)
})

t.test('log lines of a request contain its tenant', async (t) => {
  const lines: Record<string, unknown>[] = []
  const app = await tenantService([], { logger: { stream: { write: (line: string) => lines.push(JSON.parse(line)) } } })
  await app.inject({ url: '/tenant', headers: own.kit.headers({ scope: 'orders:read', org: 'acme' }) })
  await app.inject({ url: '/none', headers: own.kit.headers({ scope: 'orders:read', org: 'acme' }) })
  const completed = lines.filter(({ msg }) => msg === 'request completed')
  t.strictSame(
    completed.map(({ tenant: named }) => named),
    ['acme', undefined]
  )
})

t.test('without the option, a request has no tenant, whatever its claims', async (t) => {
  const { app, kit } = await service(
    {},
    { routes: (app) => app.get('/t', { config: { permissions: ['orders:read'] } }, async (r) => ({ tenant: r.tenant ?? 'none' })) }
  )
  for (const org of ['acme', '', 7])
    t.strictSame((await app.inject({ url: '/t', headers: kit.headers({ scope: 'orders:read', org }) })).json(), { tenant: 'none' })
})

const start = async (add: (app: FastifyInstance) => void, options: object = { tenant }) => {
  const app = Fastify()
  await app.register(authentication, { issuers: [own.issuer], permissions, outside: { '/docs/*': 'public' }, ...options } as never)
  add(app)
  await app.ready()
}
const handler = async () => 'x'

t.test('public routes that do not say that they have no tenant stop the start, in one line', async (t) => {
  await t.rejects(
    start((app) => {
      app.get('/plans', { config: { public: true } }, handler)
      app.post('/login', { config: { public: 'ignoring-credentials' } }, handler)
      app.get('/orders', { config: { permissions: ['orders:read'] } }, handler)
    }),
    {
      message:
        "authentication: /plans, /login are public and have no tenant, which the config must say. Add tenant: 'none' to the config, or replace public with permissions, which gives them a tenant."
    }
  )
  await t.rejects(
    start((app) => void app.get('/plans', { config: { public: true } }, handler)),
    /^authentication: \/plans is public and has no tenant, .* which gives it a tenant\.$/
  )
  await t.resolves(
    start((app) => {
      app.get('/health', { config: { public: true, operational: true } }, handler)
      app.get('/docs/page', handler)
      app.options('/orders', handler)
      app.get('/plans', { config: { public: true, tenant: 'none' } }, handler)
    })
  )
  await t.rejects(
    start((app) => void app.get('/plans', { config: { public: true, tenant: 'none' } }, handler), {}),
    {
      message:
        "authentication: GET /plans: config.tenant has no effect without options.tenant. Set it, for example to { claim: 'org' }, or remove the key."
    }
  )
  for (const value of ['acme', true, null])
    await t.rejects(
      start((app) => void app.get('/orders', { config: { permissions: ['orders:read'], tenant: value as never } }, handler)),
      /authentication: GET \/orders: config\.tenant must be 'none', for a route without a tenant\. Remove it/
    )
  await t.rejects(
    start(() => {}, { tenant: { claim: '' } }),
    { message: "authentication: options.tenant.claim must be the name of a claim, for example 'org'." }
  )
  await t.rejects(
    start(() => {}, { tenant: { clame: 'org' } }),
    /options\.tenant\.clame is unknown\. Did you mean options\.tenant\.claim\?/
  )
})

t.test('an API key is created for a tenant of the form that requests need', (t) => {
  t.equal(createApiKey({ client: 'kiosk', permissions: [], tenant: 'acme' }).record.tenant, 'acme')
  for (const value of ['', "a'b", `${longest}x`, 7 as never])
    t.throws(() => createApiKey({ client: 'kiosk', permissions: [], tenant: value }), {
      message: 'authentication: options.tenant must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -.'
    })
  t.end()
})

t.test('the description of an operation names TENANT_REQUIRED only where a route has a tenant', async (t) => {
  const configs = [
    { permissions: ['orders:read'] },
    { permissions: ['orders:read'], tenant: 'none' as const },
    { public: true, tenant: 'none' as const }
  ]
  const named = (app: FastifyInstance) => {
    const [partsOf] = contributions(app, 'operations')
    return configs.map((config) => partsOf?.({ method: 'GET', url: '/visits', config }).errors?.includes('TENANT_REQUIRED'))
  }
  t.strictSame(named(await tenantService()), [true, false, false])
  t.strictSame(named((await service()).app), [false, false, false])
})
