import authentication, {
  type AuthenticationOptions,
  clientOf,
  ownerOf,
  ownTokens,
  type Policy,
  type Principal
} from '@concordat/authentication'
import { publish } from '@concordat/plugin-kit/wiring'
import Fastify, { type RouteOptions } from 'fastify'
import t from 'tap'
import { issuer, ownIssuer, permissions, service } from './service.ts'

interface Order {
  readonly customer: string
  readonly status: string
}

async function boot(route: Partial<RouteOptions>, options: Partial<AuthenticationOptions> = {}) {
  const app = Fastify()
  await app.register(authentication, { issuers: [ownIssuer().issuer], permissions, ...options })
  app.route({ method: 'GET', url: '/orders', handler: async () => 'x', ...route })
  await app.ready()
  return app
}

t.test('stops the boot for a route that does not declare its access, and names the route [U10]', async (t) => {
  for (const [config, says] of [
    [undefined, /^authentication: \/orders does not declare who may use it\. Set config\.permissions, or config\.public: true, or/],
    [{}, /does not declare who may use it/],
    [{ public: false }, /does not declare who may use it/],
    [{ permissions: [] }, /authentication: GET \/orders must list at least one permission in an array/],
    [{ permissions: 'orders:read' }, /must list at least one permission in an array/],
    [
      { permissions: ['orders:read'], public: true },
      /authentication: GET \/orders must not declare both permissions and public: true\. Remove one/
    ],
    [
      { permissions: ['orders:reed'] },
      /authentication: GET \/orders names the permission "orders:reed", which is not in options\.permissions/
    ],
    [{ permissions: ['orders:*'] }, /names the permission "orders:\*"/],
    [{ public: 'yes' }, /GET \/orders: public must be true, false or 'ignoring-credentials'/]
  ] as [RouteOptions['config'], RegExp][]) {
    await t.rejects(boot(config === undefined ? {} : { config }), { message: says })
  }
  await t.rejects(boot({ method: ['GET', 'POST'] }), /^authentication: \/orders does not declare who may use it/)
  await t.rejects(boot({ method: 'HEAD' }), /^authentication: \/orders does not declare who may use it/)
})

t.test('refuses names that are not permissions, and more permissions of a route than a challenge can list', async (t) => {
  const longest = `orders:${'a'.repeat(121)}`
  for (const name of [
    'orders',
    'orders:',
    ':read',
    'orders:read:own',
    ' orders:read',
    'orders:read ',
    'orders:read\n',
    'orders:*',
    `${longest}a`
  ])
    await t.rejects(
      boot({ config: { public: true } }, { permissions: [name] }),
      { message: /options\.permissions contains the invalid name/ },
      name
    )
  await t.resolves(boot({ config: { permissions: [longest] } }, { permissions: [longest] }))
  const many = Array.from({ length: 33 }, (_, number) => `orders:${number}`)
  await t.resolves(boot({ config: { permissions: many.slice(1) } }, { permissions: many }))
  await t.rejects(boot({ config: { permissions: many } }, { permissions: many }), { message: /lists more than 32 permissions/ })
})

t.test('a route of the API must declare its own access, at its registration and not by path', async (t) => {
  const app = Fastify()
  await app.register(authentication, { issuers: [ownIssuer().issuer], permissions, outside: { '/v1/*': 'public' } })
  publish(app, { belongsToApi: (_app, { url }) => url.startsWith('/v1/') })
  app.route({ method: ['GET', 'POST'], url: '/v1/orders', handler: async () => 'x' })
  await t.rejects(async () => app.ready(), {
    message: 'authentication: GET, POST /v1/orders does not declare who may use it. Set config.permissions, or config.public: true.'
  })
})

t.test('checks routes in child plugins too', async (t) => {
  const app = Fastify()
  await app.register(authentication, { issuers: [ownIssuer().issuer], permissions })
  app.register(async (child) => child.get('/orders', async () => 'x'), { prefix: '/v1' })
  await t.rejects(async () => app.ready(), /^authentication: \/v1\/orders does not declare/)
})

async function startAfterRoutes(outside: AuthenticationOptions['outside']) {
  const app = Fastify()
  app.get('/early', async () => 'x')
  app.get('/files/*', async () => 'x')
  app.options('/early', async () => 'x')
  const { kit, issuer } = ownIssuer()
  await app.register(authentication, { issuers: [issuer], permissions, outside })
  await app.ready()
  return { app, kit }
}

t.test('routes that were registered before the plugin stop the start unless they are declared', async (t) => {
  await t.rejects(startAfterRoutes({}), {
    message:
      "authentication: /early, /files/* do not declare who may use them. Set config.permissions, or config.public: true, or for routes of other plugins add to options.outside, with 'public' or with permissions: '/early': 'public', '/files/*': 'public'."
  })
  await t.rejects(startAfterRoutes({ '/early': 'public' }), /: \/files\/\* does not declare who may use it\./)
  const { app, kit } = await startAfterRoutes({ '/early': ['orders:read'], '/files/*': 'public' })
  t.equal((await app.inject('/files/a')).statusCode, 200)
  t.equal((await app.inject('/early')).statusCode, 401)
  t.equal((await app.inject({ url: '/early', headers: kit.headers({ scope: 'orders:read' }) })).statusCode, 200)
})

t.test('in a child context, nobody can use a route that was registered before the plugin without a declaration', async (t) => {
  const app = Fastify()
  const { kit, issuer } = ownIssuer()
  await app.register(async (child) => {
    child.get('/early', async () => 'x')
    child.get('/open', { config: { public: true } }, async () => 'x')
    await child.register(authentication, { issuers: [issuer], permissions })
  })
  t.equal((await app.inject('/early')).statusCode, 401)
  t.equal((await app.inject({ url: '/early', headers: kit.headers({ scope: 'orders:read' }) })).statusCode, 403)
  t.equal((await app.inject('/open')).statusCode, 200)
})

t.test('the option outside declares the routes of other plugins, by whole segments', async (t) => {
  const outside = { '/metrics': ['orders:read'], '/docs/*': ['orders:read'], '/docs/assets/*': 'public', '/*': 'public' } as const
  for (const [url, path, status] of [
    ['/metrics', '/metrics', 401],
    ['/docs', '/docs', 401],
    ['/docs/', '/docs/', 401],
    ['/docs/:page', '/docs/a', 401],
    ['/docs/assets/*', '/docs/assets/a.js', 200],
    ['/*', '/anything', 200]
  ] as const) {
    const app = await boot({ url }, { outside })
    t.equal((await app.inject(path)).statusCode, status, url)
  }
  t.equal((await (await boot({ url: '/docs/own', config: { public: true } }, { outside })).inject('/docs/own')).statusCode, 200)
  for (const url of ['/metrics/a', '/metric', '/docsy', '/a'])
    await t.rejects(boot({ url }, { outside }), /does not declare who may use it/)
  for (const [path, access, says] of [
    ['docs', 'public', /options\.outside\["docs"\] must be a path such as "\/metrics", or one that ends in "\/\*"/],
    ['/docs*', 'public', /options\.outside\["\/docs\*"\] must be a path/],
    ['api/docs', 'public', /must be a path/],
    ['/docs/*/own', 'public', /must be a path/],
    ['/docs', [], /options\.outside\["\/docs"\] must list at least one permission in an array, or be public\./],
    ['/docs', 'open' as 'public', /options\.outside\["\/docs"\] must list at least one permission/],
    ['/docs', ['x:y'], /options\.outside\["\/docs"\] names the permission "x:y"/]
  ] as const) {
    await t.rejects(boot({ config: { public: true } }, { outside: { [path]: access } }), { name: 'TypeError', message: says })
  }
})

t.test('requires the permissions of GET for HEAD, and none for OPTIONS unless declared', async (t) => {
  const { app, kit } = await service(
    {},
    {
      routes: (app) => {
        app.options('/orders', async () => 'x')
        app.options('/secrets', { config: { permissions: ['orders:read'] } }, async () => 'x')
      }
    }
  )
  t.equal((await app.inject({ method: 'HEAD', url: '/orders' })).statusCode, 401)
  t.equal((await app.inject({ method: 'HEAD', url: '/orders', headers: kit.headers() })).statusCode, 403)
  t.equal((await app.inject({ method: 'HEAD', url: '/orders', headers: kit.headers({ scope: 'orders:read' }) })).statusCode, 200)
  t.equal((await app.inject({ method: 'HEAD', url: '/public' })).statusCode, 200)
  t.equal((await app.inject({ method: 'OPTIONS', url: '/orders' })).statusCode, 200)
  t.equal((await app.inject({ method: 'OPTIONS', url: '/secrets' })).statusCode, 401)
})

t.test('does not change the config of a route', async (t) => {
  const config = Object.freeze({ permissions: Object.freeze(['orders:read']) })
  await t.resolves(boot({ config }))
})

t.test('returns 403 without every permission of the route, with a challenge that names them [U9] [U10]', async (t) => {
  const { app, kit } = await service(
    {},
    { routes: (app) => app.delete('/products', { config: { permissions: ['products:read', 'products:delete'] } }, async () => 'x') }
  )
  const response = await app.inject({ url: '/products', method: 'DELETE', headers: kit.headers({ scope: 'products:read orders:read' }) })
  t.equal(response.statusCode, 403)
  t.match(response.json(), { code: 'INSUFFICIENT_PERMISSION', message: /Required: products:read, products:delete\./ })
  t.equal(response.headers['www-authenticate'], 'Bearer realm="api", error="insufficient_scope", scope="products:read products:delete"')
  const good = await app.inject({ url: '/products', method: 'DELETE', headers: kit.headers({ scope: 'products:delete products:read' }) })
  t.equal(good.statusCode, 200)
  t.equal((await app.inject({ url: '/orders', headers: kit.headers({ scope: '' }) })).statusCode, 403)
  t.equal((await app.inject({ url: '/orders', headers: kit.headers() })).statusCode, 403)
})

t.test('grants the permissions of roles, wildcards included, and nothing for a wildcard in a token [U9]', async (t) => {
  const roles = { staff: ['orders:*', '*:read'], customer: ['orders:read'], constructor: ['products:delete'] }
  const { app, kit } = await service({ roles })
  const send = async (claims: object) => (await app.inject({ url: '/orders', headers: kit.headers(claims) })).json()
  t.match(await send({ scope: 'staff' }), {
    permissions: ['orders:create', 'orders:read', 'orders:update', 'products:read'],
    roles: ['staff']
  })
  t.match(await send({ roles: ['customer', 'unknown'], scope: 'orders:update' }), {
    permissions: ['orders:read', 'orders:update'],
    roles: ['customer']
  })
  t.match(await send({ scope: 'staff customer' }), { roles: ['customer', 'staff'] })
  for (const scope of ['orders:*', '*:*', '*', 'orders:rea', 'ORDERS:READ', 'toString', '__proto__']) {
    t.equal((await send({ scope })).statusCode, 403, scope)
  }
  for (const [list, says] of [
    [['*:*'], /options\.roles\.staff must not contain "\*:\*"\. Name the resource or the action/],
    [['customers:*'], /options\.roles\.staff contains "customers:\*", which matches no permission in options\.permissions/],
    [['orders:reed'], /options\.roles\.staff contains "orders:reed"/],
    [['order:*'], /options\.roles\.staff contains "order:\*"/],
    [['*:rea'], /options\.roles\.staff contains "\*:rea"/],
    [['**:read'], /options\.roles\.staff contains "\*\*:read"/],
    [['orders'], /options\.roles\.staff contains "orders"/],
    [['orders:read:own'], /options\.roles\.staff contains "orders:read:own"/]
  ] as const) {
    await t.rejects(boot({ config: { public: true } }, { roles: { staff: list } }), { name: 'TypeError', message: says })
  }
})

t.test('reads permissions from other claims with grantsOf', async (t) => {
  const { kit } = ownIssuer()
  const { app } = await service({
    issuers: [
      ownTokens({ issuer, audience: 'orders', keys: kit.keys, grantsOf: ({ realm_access }) => (realm_access as { roles: string[] }).roles })
    ],
    roles: { reader: ['orders:read'] }
  })
  t.equal((await app.inject({ url: '/orders', headers: kit.headers({ realm_access: { roles: ['reader'] } }) })).statusCode, 200)
  t.equal(
    (await app.inject({ url: '/orders', headers: kit.headers({ scope: 'orders:read', realm_access: { roles: [] } }) })).statusCode,
    403
  )
})

t.test('provides a frozen principal with the user and the client', async (t) => {
  const seen: Principal[] = []
  const { app, kit } = await service(
    {},
    {
      routes: (app) =>
        app.get('/me', { config: { permissions: ['orders:read'] } }, async ({ principal }) => {
          if (principal !== null) seen.push(principal)
          return 'x'
        })
    }
  )
  const headers = kit.headers({ scope: 'orders:read', sid: 's1', tenant: { ids: ['t1'] } })
  await app.inject({ url: '/me', headers })
  await app.inject({ url: '/me', headers })
  await app.inject({ url: '/me', headers: kit.headers({ scope: 'orders:read', sub: 'robot', client_id: 'robot' }) })
  const [user, again, client] = seen
  t.equal(user, again)
  t.match(user, { kind: 'user', issuer, client: 'test-client', subject: 'test-user', permissions: ['orders:read'], claims: { sid: 's1' } })
  t.match(client, { kind: 'client', issuer, client: 'robot', subject: undefined })
  t.throws(() => Object.assign(user?.permissions ?? [], ['orders:create']))
  t.throws(() => Object.assign(user ?? {}, { subject: 'admin' }))
  t.throws(() => Object.assign((user?.claims?.['tenant'] as { ids?: string[] } | undefined)?.ids ?? [], ['t2']))
})

t.test('provides clientOf and ownerOf for other plugins', async (t) => {
  const base: Principal = {
    kind: 'user',
    issuer: 'https://a',
    client: 'web',
    subject: 'ada',
    tenant: undefined,
    permissions: [],
    roles: [],
    claims: undefined
  }
  const user = { principal: base }
  const other = { principal: { ...base, client: 'app' } }
  const client = { principal: { ...base, kind: 'client' as const, client: 'ada', subject: undefined } }
  const nobody = { principal: null }
  t.strictSame([user, user, nobody].map(clientOf), ['["https://a","web","ada"]', '["https://a","web","ada"]', undefined])
  t.not(clientOf(user), clientOf(other))
  t.equal(ownerOf(user), ownerOf(other), 'a user owns the same jobs through two clients')
  t.not(ownerOf(user), ownerOf(client), 'a client is not a user, even with the same name')
  const sameName = { principal: { ...base, issuer: 'https://b' } }
  t.not(ownerOf(user), ownerOf(sameName), 'a user of another issuer is another user, even with the same name')
  t.not(clientOf(user), clientOf(sameName))
  t.equal(ownerOf(nobody), undefined)
  // Each of these is another client and another owner.
  const alone = { ...base, kind: 'client' as const, subject: undefined }
  const principals: readonly Principal[] = [
    base,
    { ...base, subject: 'max' },
    { ...base, issuer: 'https://b' },
    { ...base, client: undefined, subject: 'web' },
    alone,
    { ...alone, client: 'app' },
    { ...alone, client: 'web","ada' }
  ]
  const tenants = [undefined, 'a', 'b'].map((tenant) => ({ principal: { ...base, tenant } }))
  t.equal(new Set(tenants.map(clientOf)).size, 3, 'a user is another client in each tenant')
  t.equal(new Set(tenants.map(ownerOf)).size, 1, 'and the same owner, so that a revocation reaches all')
  for (const keyOf of [clientOf, ownerOf]) t.equal(new Set(principals.map((principal) => keyOf({ principal }))).size, principals.length)
})

t.test('a client that acts on its own behalf is known by its sub where the token has no client_id', async (t) => {
  const { kit } = ownIssuer()
  const { app } = await service({ issuers: [ownTokens({ issuer, audience: 'orders', keys: kit.keys, isClient: () => true })] })
  const send = async (sub: string) =>
    (await app.inject({ url: '/orders', headers: kit.headers({ scope: 'orders:read', sub, client_id: undefined }) })).json()
  t.match(await send('robot'), { kind: 'client', client: 'robot', subject: undefined })
  t.match(await send('other'), { kind: 'client', client: 'other', subject: undefined })
})

const orders: Record<string, Order> = {
  mine: { customer: 'test-user', status: 'pending' },
  foreign: { customer: 'max', status: 'pending' }
}

function ordersService(policy: Policy<Order> | undefined) {
  return service(policy === undefined ? {} : { policies: { orders: policy } }, {
    routes: (app) => {
      app.get<{ Params: { id: string } }>('/orders/:id', { config: { permissions: ['orders:read'] } }, async (request) =>
        request.authorize('orders:read', orders[request.params.id])
      )
      app.patch<{ Params: { id: string } }>('/orders/:id', { config: { permissions: ['orders:read'] } }, async (request) =>
        request.authorize('orders:update', orders[request.params.id])
      )
      app.get('/open/:id', { config: { public: true } }, async (request) => request.authorize('orders:read', orders['mine']))
      app.get('/typo', { config: { permissions: ['orders:read'] } }, async (request) => request.authorize('orders:reed', orders['mine']))
    }
  })
}

t.test('returns 403 unless the policy of the loaded object allows the action [U10]', async (t) => {
  const actions: string[] = []
  const { app, kit } = await ordersService({
    allows: ({ subject }, action, order) => actions.push(action) > 0 && order.customer === subject
  })
  const headers = kit.headers({ scope: 'orders:read orders:update' })
  t.strictSame((await app.inject({ url: '/orders/mine', headers })).json(), orders['mine'])
  const response = await app.inject({ url: '/orders/foreign', headers })
  t.equal(response.statusCode, 403)
  t.equal(response.json().code, 'INSUFFICIENT_PERMISSION')
  t.match(response.headers['www-authenticate'], /scope="orders:read"/)
  t.equal((await app.inject({ method: 'PATCH', url: '/orders/mine', headers })).statusCode, 200)
  t.strictSame(actions, ['read', 'read', 'update'])
  const reader = kit.headers({ scope: 'orders:read' })
  const refused = await app.inject({ method: 'PATCH', url: '/orders/mine', headers: reader })
  t.equal(refused.statusCode, 403, 'the permission is required too')
  t.match(refused.headers['www-authenticate'], /scope="orders:update"/)
  const absent = await app.inject({ method: 'PATCH', url: '/orders/none', headers: reader })
  t.equal(absent.body, refused.body, 'without the permission, an absent object is the same as any other')
  t.equal(actions.length, 3)
})

t.test('returns the same 404 for a secret and for an absent object', async (t) => {
  const { app, kit } = await ordersService({ secret: true, allows: ({ subject }, _action, order) => order.customer === subject })
  const headers = kit.headers({ scope: 'orders:read' })
  const [foreign, none] = [await app.inject({ url: '/orders/foreign', headers }), await app.inject({ url: '/orders/none', headers })]
  t.equal(foreign.statusCode, 404)
  t.equal(foreign.json().code, 'RESOURCE_NOT_FOUND')
  t.equal(foreign.body, none.body)
  const names = (response: typeof foreign) => Object.keys(response.headers).filter((name) => name !== 'date')
  t.strictSame(names(foreign), names(none))
  t.equal((await app.inject({ url: '/orders/mine', headers })).statusCode, 200)
})

t.test('denies access for every policy result except true', async (t) => {
  for (const verdict of [undefined, null, 1, 'yes', {}]) {
    const { app, kit } = await ordersService({ allows: () => verdict as boolean })
    t.equal((await app.inject({ url: '/orders/mine', headers: kit.headers({ scope: 'orders:read' }) })).statusCode, 403, typeof verdict)
  }
})

/** Returns a function that returns the status code for a service whose orders have the policy. */
async function ask(allows: Policy<Order>['allows'], secret = false) {
  const { app, kit } = await service(
    { policies: { orders: { allows, secret } } },
    {
      routes: (app) => {
        app.get<{ Params: { id: string } }>('/later/:id', { config: { permissions: ['orders:read'] } }, async (request) =>
          request.authorizeAsync('orders:read', orders[request.params.id])
        )
        app.get('/now', { config: { permissions: ['orders:read'] } }, async (request) => request.authorize('orders:read', orders['mine']))
      }
    }
  )
  const headers = kit.headers({ scope: 'orders:read' })
  return async (url: string) => (await app.inject({ url, headers })).statusCode
}

t.test('waits for a policy that returns a promise, and allows nothing unless it is true', async (t) => {
  const later = await ask(async ({ subject }, _action, order) => order.customer === subject)
  t.strictSame([await later('/later/mine'), await later('/later/foreign'), await later('/later/none')], [200, 403, 404])
  for (const verdict of [undefined, null, 1, 'yes', {}]) t.equal(await (await ask(async () => verdict as boolean))('/later/mine'), 403)
  t.equal(await (await ask(async () => false, true))('/later/mine'), 404)
  t.equal(await (await ask(() => true))('/later/mine'), 200, 'a policy that does not wait')
  const failing = await ask(() => Promise.reject(new Error('The database is away.')))
  t.strictSame([await failing('/later/mine'), await failing('/now')], [500, 500])
  const unavailable = await ask(() => Promise.reject(Object.assign(new Error('The database is away.'), { statusCode: 503 })))
  t.equal(await unavailable('/later/mine'), 503)
  t.equal(await later('/now'), 500, 'authorize does not wait, and does not allow')
})

t.test('returns 500 from authorize without a policy, or for a permission that does not exist', async (t) => {
  const { app, kit } = await ordersService(undefined)
  const headers = kit.headers({ scope: 'orders:read' })
  t.match((await app.inject({ url: '/orders/mine', headers })).json(), {
    statusCode: 500,
    message: /requires a policy for "orders" in options\.policies/
  })
  const decided = await ordersService({ allows: () => true })
  t.match((await decided.app.inject({ url: '/typo', headers: decided.kit.headers({ scope: 'orders:read' }) })).json(), {
    statusCode: 500,
    message: /authorize\(\) names the permission "orders:reed"/
  })
  t.equal((await decided.app.inject('/open/mine')).statusCode, 401, 'authorize requires authentication on a public route too')
})
