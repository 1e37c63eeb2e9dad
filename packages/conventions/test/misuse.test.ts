import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { inEnvironment } from '@concordat/test-harness/environment'
import cors from '@fastify/cors'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const Thing = Type.Object({ id: Type.String() })
const options: ConventionsOptions = { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false }

const serverFactory = (handler: (request: IncomingMessage, response: ServerResponse) => void) => createServer(handler)

t.test('the preset is refused in a child context, twice and without serverOptions(), each with the remedy', async (t) => {
  const child = Fastify(serverOptions())
  await t.rejects(async () => child.register(async (instance) => instance.register(conventions, options)), {
    message:
      'conventions: the preset is registered in a child context, so it would not respond to unknown paths. Register it on the root instance: const app = Fastify(…); await app.register(conventions, …).'
  })
  const twice = Fastify(serverOptions())
  await twice.register(conventions, options)
  await t.rejects(async () => twice.register(conventions, options), {
    message: 'conventions: the preset is registered twice. Remove one of the registrations.'
  })
  for (const other of [{}, { ...serverOptions(), serverFactory }, { ...serverOptions(), clientErrorHandler: () => {} }])
    await t.rejects(async () => Fastify(other).register(conventions, options), {
      message:
        'conventions: Fastify was created without serverOptions(), or with another serverFactory or clientErrorHandler. Create it with Fastify({ ...serverOptions(), logger: true }).'
    })
})

t.test('what is not a plugin gets the error of Fastify', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, options)
  t.throws(() => app.register(undefined as never), { code: 'AVV_ERR_PLUGIN_NOT_VALID' })
})

t.test('@fastify/cors before the preset is refused with the remedy', async (t) => {
  for (const [own, says] of [
    [undefined, /Remove it, and set options\.cors to its options\./],
    [{ origin: ['https://app.example'] }, /which registers it for options\.cors\. Remove the registration\./]
  ] satisfies [ConventionsOptions['cors'], RegExp][]) {
    const app = Fastify(serverOptions())
    await app.register(cors)
    await t.rejects(async () => app.register(conventions, { ...options, cors: own }), { message: says })
  }
  await t.rejects(async () => Fastify(serverOptions()).register(conventions, { ...options, cors: {} }), {
    message: /^conventions: options\.cors\.origin is missing\. Set the origins/
  })
})

async function start(origin: Partial<ConventionsOptions>) {
  const app = Fastify(serverOptions())
  await app.register(conventions, { ...options, publicUrl: undefined, idempotency: false, ...origin })
  await app.close()
}

t.test('production requires the public URL or the allowed hosts', async (t) => {
  inEnvironment(t, 'production')
  for (const origin of [{}, { allowedHosts: [] }])
    await t.rejects(start(origin), { message: /^conventions: options\.publicUrl is missing\. Set it to the URL that clients use/ })
  await start({ publicUrl: 'https://api.example.com' })
  await start({ allowedHosts: ['api.example.com'] })
})

const origin = { issuer: 'https://id.example', audience: 'things' }
const authentication = { issuers: [ownTokens({ ...origin, keys: testKit(origin).keys })], permissions: ['things:read'] }

/** Starts a service with the preset and one route with this config. */
async function startRoute(config: object, extra: Partial<ConventionsOptions>) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, { ...options, ...extra })
  await app.apiVersion(1, async (v1: FastifyInstance) => {
    v1.post('/things', { config: { idempotency: 'off', ...config }, schema: { response: { 201: Thing } } }, async () => ({ id: '1' }))
  })
  await app.ready()
}

t.test('route config of a plugin that is not registered stops the start', async (t) => {
  const things = collection(Thing)({ name: 'things', style: 'page', id: 'id', sort: { keys: ['id'] }, defaultSort: ['id'] })
  for (const [config, absent, owner] of [
    [{ transaction: true }, {}, 'postgres'],
    [{ idempotency: 'required' }, { idempotency: false }, 'idempotency'],
    [{ collection: things }, { paginationQuery: false }, 'pagination-query'],
    [{ permissions: ['things:read'] }, {}, 'authentication'],
    [{ job: 'start' }, {}, 'jobs'],
    [{ validator: () => ({ exists: false }) }, { conditionalCaching: false }, 'conditional-caching'],
    [{ requireIfMatch: true }, { conditionalCaching: false }, 'conditional-caching'],
    [{ produces: ['application/json'] }, { contentNegotiation: false }, 'content-negotiation'],
    [{ validationCode: 'THING_INVALID' }, { errorCatalogue: false }, 'error-catalogue'],
    // Left out as a whole, no request gets a wrong response.
    [{ rateLimit: { limit: 1, windowSeconds: 1 } }, { rateLimiting: false }, undefined],
    [{ cache: 'public' }, { conditionalCaching: false }, undefined],
    [{ contentSecurityPolicy: {} }, { transportSecurity: false }, undefined],
    [{ openapi: { errors: ['RESOURCE_NOT_FOUND'] } }, { openapi: false }, undefined],
    [{ transaction: false }, { idempotency: false }, undefined]
  ] as const) {
    const [key = ''] = Object.keys(config)
    if (owner === undefined) await t.resolves(startRoute(config, absent), key)
    else await t.rejects(startRoute(config, absent), { message: new RegExp(`^${owner}: POST /v1/things: config\\.${key} has no effect`) })
  }
})

t.test('a misspelt key of route config stops the start, unless the option otherConfigKeys allows it', async (t) => {
  const typos = { requireIfMach: true, cach: 'public', permission: ['things:read'], 'rate-limit': {} }
  for (const [key, value] of Object.entries(typos)) {
    const says = { message: /^[a-z-]+: POST \/v1\/things: config\..* is unknown\. Did you mean config\.\w+\? .*otherConfigKeys/ }
    await t.rejects(startRoute({ [key]: value }, {}), says)
    // Authentication would otherwise report a route without a declared access first.
    await t.rejects(startRoute({ [key]: value }, { authentication }), says)
    await t.resolves(startRoute({ [key]: value }, { otherConfigKeys: Object.keys(typos) }), key)
  }
  await t.rejects(startRoute({}, { otherConfigKeys: 'cach' as never }), {
    message: "conventions: options.otherConfigKeys must be an array of the names of keys, for example ['audit']."
  })
})

t.test('a misspelt member of route config stops the start with the member that was meant', async (t) => {
  for (const [config, meant] of [
    [{ rateLimit: { limit: 1, windowSecond: 1 } }, 'config.rateLimit.windowSeconds'],
    [{ idempotency: { keys: 'required' } }, 'config.idempotency.key'],
    [{ cache: { publik: true }, waivers: { C5: 'a search' } }, 'config.cache.public'],
    [{ contentSecurityPolicy: { scriptSrcs: ["'self'"] } }, 'config.contentSecurityPolicy.scriptSrc'],
    [{ openapi: { error: [] } }, 'config.openapi.errors']
  ] as const)
    await t.rejects(startRoute(config, {}), { message: new RegExp(`is unknown\\. Did you mean ${meant.replaceAll('.', '\\.')}\\?`) })
})

t.test(
  'a route that breaks a rule of caching or idempotency stops the start, unless it waives the rule with a reason [C3] [C5] [I1]',
  async (t) => {
    for (const [config, extra, says] of [
      [{}, {}, 'I1: it does not say whether it accepts idempotency keys. Set config.idempotency to "required", "accepted" or "off".'],
      [{ idempotency: 'off', cache: 'no-cache' }, {}, 'C5: responses to POST are not cacheable by default.'],
      [
        { idempotency: 'off', permissions: ['things:read'], cache: 'public', waivers: { C5: 'a search' } },
        { authentication },
        'C3: it requires permissions'
      ],
      [{ waivers: { I1: 'the work happens once a day' } }, {}, undefined],
      [{}, { idempotency: false }, undefined],
      [{ cache: 'no-cache' }, { idempotency: false, conditionalCaching: false }, undefined],
      [{ operational: true }, {}, undefined]
    ] as const) {
      const app = Fastify(serverOptions())
      t.teardown(() => app.close())
      const start = async () => {
        await app.register(conventions, { ...options, ...extra })
        app.post('/outside', { config: { public: true } }, async () => 'done')
        await app.apiVersion(1, async (v1: FastifyInstance) => {
          v1.post('/things', { config, schema: { response: { 201: Thing } } }, async () => ({ id: '1' }))
        })
        await app.ready()
      }
      if (says === undefined) await t.resolves(start())
      else
        await t.rejects(start(), {
          message: new RegExp(`^conventions: POST /v1/things breaks rule ${says.replaceAll('.', '\\.')}.* Or waive `)
        })
    }
  }
)
