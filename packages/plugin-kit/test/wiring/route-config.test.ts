import { configKeys, requireKnownConfig, requireNoEarlierRoutes } from '@concordat/plugin-kit/wiring'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const handler = async () => 'x'

/** Starts a server on which the plugin of a package is registered, with one route. */
async function start(config: object, plugin = 'http-methods') {
  const app = Fastify()
  requireKnownConfig(app, plugin)
  app.put('/orders/:id', { config }, handler)
  await app.ready()
  return app
}

const typos: [key: string, meant: string][] = [
  ['requireIfMach', 'requireIfMatch'],
  ['requireifmatch', 'requireIfMatch'],
  ['require_if_match', 'requireIfMatch'],
  ['cach', 'cache'],
  ['cahce', 'cache'],
  ['Cache', 'cache'],
  ['permission', 'permissions'],
  ['permisions', 'permissions'],
  ['permissons', 'permissions'],
  ['idempotent', 'idempotency'],
  ['idempotencey', 'idempotency'],
  ['jobs', 'job'],
  ['validate', 'validator'],
  ['transactional', 'transaction'],
  ['ratelimit', 'rateLimit'],
  ['rateLimits', 'rateLimit'],
  ['pubic', 'public'],
  ['operationel', 'operational'],
  ['waiver', 'waivers'],
  ['directAcess', 'directAccess'],
  ['otherConfigKey', 'otherConfigKeys'],
  ['openApi', 'openapi'],
  ['collections', 'collection']
]

t.test('a misspelt key in the config of a route stops the start, with the key that was meant and the way to allow it', async (t) => {
  for (const [key, meant] of typos) {
    await t.rejects(start({ [key]: true }), {
      name: 'TypeError',
      message: `${configKeys[meant]}: PUT /orders/:id: config.${key} is unknown. Did you mean config.${meant}? If another plugin or the service reads it, add otherConfigKeys: ['${key}'] to the config of the route, or to the options of the preset.`
    })
  }
})

t.test('each key of the table with a letter too few, too many or swapped stops the start', async (t) => {
  for (const key of Object.keys(configKeys)) {
    const middle = key.length >> 1
    const swapped = key.slice(0, middle - 1) + key[middle] + key[middle - 1] + key.slice(middle + 1)
    for (const typo of [key.slice(0, -1), key.slice(1), `${key}s`, `${key.slice(0, middle)}z${key.slice(middle)}`, swapped]) {
      if (!Object.hasOwn(configKeys, typo))
        await t.rejects(start({ [typo]: true }), { message: /Did you mean config\.\w+\? .*otherConfigKeys/ }, typo)
    }
  }
})

t.test('keys of others start, and so does a similar key that the route or the server allows', async (t) => {
  const foreign = ['swagger', 'cors', 'compress', 'websocket', 'rawBody', 'audit', 'url', 'method', 'log', 'auth', 'jwt', 'tags', 'etag']
  for (const key of foreign) await t.resolves(start({ [key]: true }), key)
  await t.resolves(start({ jobs: 3, publik: 1, otherConfigKeys: ['jobs', 'publik'] }))
  await t.rejects(start({ jobs: 3, publik: 1, otherConfigKeys: ['jobs'] }), { message: /config\.publik is unknown/ })

  const app = Fastify()
  requireKnownConfig(app, 'conventions', ['jobs'])
  app.get('/orders', { config: { jobs: 3 } as object }, handler)
  t.equal((await app.inject('/orders')).statusCode, 200)
})

t.test('otherConfigKeys must be an array of names, on a route and on the server', async (t) => {
  for (const keys of ['jobs', { jobs: true }, [1], null])
    await t.rejects(start({ otherConfigKeys: keys }), {
      message: "plugin-kit: PUT /orders/:id: config.otherConfigKeys must be an array of the names of keys, for example ['audit']."
    })
  t.throws(() => requireKnownConfig(Fastify(), 'conventions', 'jobs' as never), {
    message: "conventions: options.otherConfigKeys must be an array of the names of keys, for example ['audit']."
  })
})

const settings: Record<string, unknown> = {
  permissions: ['orders:read'],
  cache: 'public',
  requireIfMatch: true,
  validator: () => ({ exists: true }),
  consumes: ['text/csv'],
  produces: ['text/csv'],
  envelope: true,
  validationCode: 'ORDER_INVALID',
  idempotency: { key: 'required' },
  job: 'start',
  collection: {},
  projection: { id: 'id' },
  transaction: true,
  rateLimit: { limit: 1, windowSeconds: 1 },
  contentSecurityPolicy: {}
}

t.test('a setting whose plugin is not registered stops the start, until it is registered or the key is allowed', async (t) => {
  for (const [key, value] of Object.entries(settings)) {
    const owner = configKeys[key] as string
    await t.rejects(start({ [key]: value }), {
      name: 'TypeError',
      message: `${owner}: PUT /orders/:id: config.${key} has no effect, because the plugin of @concordat/${owner} is not registered for this route. Register it, in the preset with its option, or remove the key. If another plugin or the service reads it, add otherConfigKeys: ['${key}'] to the config of the route, or to the options of the preset.`
    })
    await t.resolves(start({ [key]: value }, owner), key)
    await t.resolves(start({ [key]: value, otherConfigKeys: [key] }), key)
  }
})

t.test('a setting that holds without its plugin starts', async (t) => {
  const held = { public: true, directAccess: true, operational: true, waivers: {}, openapi: { errors: [] } }
  await t.resolves(start({ permissions: undefined, idempotency: 'off', envelope: false, transaction: false, ...held }))
})

t.test('rateLimit in the form of another plugin starts where rate-limiting is not registered', async (t) => {
  for (const rateLimit of [{ max: 3, timeWindow: '1 minute' }, {}, false, true, 10, null]) await t.resolves(start({ rateLimit }))
  for (const rateLimit of [{ limit: 3, windowSeconds: 60 }, { cost: 2 }])
    await t.rejects(start({ rateLimit }), { message: /^rate-limiting: .* config\.rateLimit has no effect/ })
})

t.test('routes of every context are checked, also of contexts beside and around that of the plugin', async (t) => {
  const places: Record<string, (app: FastifyInstance, config: object) => unknown> = {
    'in the context': (app, config) =>
      app.register(async (child) => {
        requireKnownConfig(child, 'rate-limiting')
        child.get('/x', { config }, handler)
      }),
    'in a context inside': (app, config) =>
      app.register(async (child) => {
        requireKnownConfig(child, 'rate-limiting')
        await child.register(async (inner) => inner.get('/x', { config }, handler))
      }),
    'in a context beside': (app, config) =>
      app
        .register(async (child) => requireKnownConfig(child, 'rate-limiting'))
        .register(async (other) => other.get('/x', { config }, handler)),
    'in the context around': (app, config) =>
      app.register(async (outer) => {
        await outer.register(async (child) => requireKnownConfig(child, 'rate-limiting'))
        outer.get('/x', { config }, handler)
      }),
    'in a context that is older than the first plugin': (app, config) =>
      app.register(async (older) => {
        requireKnownConfig(app, 'rate-limiting')
        requireKnownConfig(older, 'http-methods')
        older.get('/x', { config }, handler)
      })
  }
  for (const [name, add] of Object.entries(places)) {
    const app = Fastify()
    await t.rejects(
      async () => {
        add(app, { cach: 'public' })
        await app.ready()
      },
      { message: /^conditional-caching: GET \/x: config\.cach is unknown/ },
      name
    )
    const other = Fastify()
    add(other, { cache: 'public' })
    await t.rejects(async () => other.ready(), { message: /^conditional-caching: (GET|HEAD) \/x: config\.cache has no effect/ }, name)
  }
})

t.test('a plugin in a child context does not serve the settings of routes outside', async (t) => {
  const app = Fastify()
  app.register(async (child) => {
    requireKnownConfig(child, 'conditional-caching')
    child.put('/inside', { config: { requireIfMatch: true } as object }, handler)
  })
  app.register(async (other) => other.put('/outside', { config: { requireIfMatch: true } as object }, handler))
  await t.rejects(async () => app.ready(), { message: /^conditional-caching: PUT \/outside: config\.requireIfMatch has no effect/ })
})

t.test('a plugin that is registered after the route counts, and the config of a server without any plugin is not checked', async (t) => {
  const app = Fastify()
  requireKnownConfig(app, 'http-methods')
  app.get('/orders', { config: { permissions: ['orders:read'] } as object }, handler)
  requireKnownConfig(app, 'authentication')
  await app.ready()

  const other = Fastify()
  other.get('/orders', { config: { cach: 'public', permissions: ['orders:read'] } as object }, handler)
  await other.ready()
  t.equal((await other.inject('/orders')).statusCode, 200)
})

async function startWithSchema(schema: object, config: object = {}, otherKeys: readonly string[] = []) {
  const app = Fastify()
  requireKnownConfig(app, 'http-methods', otherKeys)
  app.put('/orders/:id', { schema, config }, handler)
  await app.ready()
}

const part = { type: 'object', properties: {} }
const parts = { body: part, querystring: part, params: part, headers: part, response: { 200: { type: 'string' } } }
const annotations = {
  tags: ['orders'],
  summary: 'Changes an order',
  description: 'Changes it.',
  operationId: 'changeOrder',
  externalDocs: { url: 'https://docs.example.com' },
  deprecated: true,
  hide: true,
  consumes: ['application/json'],
  produces: ['application/json'],
  schemes: ['https'],
  security: [],
  servers: [],
  callbacks: {},
  links: {},
  cookies: part
}

t.test('each part of a schema with a letter too few, too many or swapped stops the start, and so does any unknown key', async (t) => {
  for (const key of [...Object.keys(parts), ...Object.keys(annotations)]) {
    const middle = key.length >> 1
    const swapped = key.slice(0, middle - 1) + key[middle] + key[middle - 1] + key.slice(middle + 1)
    for (const typo of [key.slice(0, -1), key.slice(1), `${key}s`, key.toUpperCase(), swapped].filter((typo) => typo !== key))
      await t.rejects(startWithSchema({ [typo]: part }), { name: 'TypeError', message: new RegExp(`schema\\.${typo} is unknown`) }, typo)
  }
  await t.rejects(startWithSchema({ param: part }), {
    message:
      "plugin-kit: PUT /orders/:id: schema.param is unknown and has no effect. Did you mean schema.params? If another plugin or the service reads it, add otherConfigKeys: ['schema.param'] to the config of the route, or to the options of the preset."
  })
  await t.rejects(startWithSchema({ requestBody: part }), {
    message:
      "plugin-kit: PUT /orders/:id: schema.requestBody is unknown and has no effect. The parts that are validated are body, querystring, params, headers, response. If another plugin or the service reads it, add otherConfigKeys: ['schema.requestBody'] to the config of the route, or to the options of the preset."
  })
})

t.test('every part, the annotations of API descriptions, extensions, symbols and allowed keys start', async (t) => {
  await t.resolves(startWithSchema({ ...parts, ...annotations, 'x-audience': 'staff', [Symbol('provider')]: part }))
  await t.resolves(startWithSchema({ query: part }))
  await t.resolves(startWithSchema({ audit: true }, { otherConfigKeys: ['schema.audit'] }))
  await t.resolves(startWithSchema({ audit: true }, {}, ['schema.audit']))
  await t.rejects(startWithSchema({ audit: true }, { otherConfigKeys: ['audit'] }), { message: /schema\.audit is unknown/ })
})

t.test('misspelt keys, settings without their plugin and earlier routes are in the list', async (t) => {
  const app = Fastify()
  app.get('/early', handler)
  requireKnownConfig(app, 'envelope')
  requireNoEarlierRoutes(app, 'envelope')
  const schema: object = { bdy: {} }
  app.put('/a', { config: { cach: 1, permission: 1 } as object, schema }, handler)
  app.get('/b', { config: { cache: 'public' } as object }, handler)
  const { message } = await app.ready().then(
    () => new Error('no finding'),
    (error: Error) => error
  )
  t.strictSame(
    message.split('\n').map((line) => line.replace(/(unknown|before the plugin|effect)\b.*/, '$1')),
    [
      'The service does not start: 5 findings.',
      '  envelope: GET /early was registered before the plugin',
      '  conditional-caching: PUT /a: config.cach is unknown',
      '  authentication: PUT /a: config.permission is unknown',
      '  plugin-kit: PUT /a: schema.bdy is unknown',
      '  conditional-caching: GET /b: config.cache has no effect'
    ]
  )
})
