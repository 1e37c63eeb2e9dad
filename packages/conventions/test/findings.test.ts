import { runInThisContext } from 'node:vm'
import authentication, { outsideIssuer } from '@concordat/authentication'
import conditionalCaching from '@concordat/conditional-caching'
import contentNegotiation from '@concordat/content-negotiation'
import conventions, { serverOptions } from '@concordat/conventions'
import envelope from '@concordat/envelope'
import errorCatalogue from '@concordat/error-catalogue'
import idempotency from '@concordat/idempotency'
import openapi from '@concordat/openapi'
import { lintDocument } from '@concordat/openapi/lint'
import { responseChecker } from '@concordat/openapi/testing'
import paginationQuery from '@concordat/pagination-query'
import rateLimiting from '@concordat/rate-limiting'
import standardSchema from '@concordat/standard-schema'
import { movedDate } from '@concordat/test-harness/moved-date'
import transportSecurity from '@concordat/transport-security'
import versioning, { lints } from '@concordat/versioning'
import webhooks from '@concordat/webhooks'
import Fastify, { type FastifyInstance, type FastifyPluginAsync, type RouteOptions } from 'fastify'
import t from 'tap'

const handler = async () => ({ id: '1' })
const Thing = { type: 'object', properties: { id: { type: 'string' } } }
const publicUrl = 'https://api.example.com'
const verbs = ['get', 'list', 'create', 'update', 'delete']

const preset = {
  publicUrl,
  versions: { 1: { status: 'current' } },
  authentication: false,
  transportSecurity: { dangerouslyAllowHttp: 'loopback' }
} as const

async function messageOf(app: FastifyInstance) {
  try {
    await app.ready()
    return ''
  } catch (error) {
    return (error as Error).message
  } finally {
    await app.close()
  }
}

/** Adds 45 routes of a service that did not know the rules. */
function addOldRoutes(app: FastifyInstance, schema: object | undefined) {
  for (let index = 0; index < 45; index += 1) {
    const method = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'][index % 5] as string
    app.route({ method, url: `/${verbs[index % 5]}Thing${index}`, ...(schema && { schema }), handler })
  }
}

t.test('45 routes that break the rules stop the start once, with every finding and the waivers to paste', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, preset)
  await app.apiVersion(1, async (v1) => addOldRoutes(v1, undefined))
  const [head, ...lines] = (await messageOf(app)).split('\n')
  // Each route breaks the path rules and declares no success, and those with POST and PATCH say nothing about keys.
  t.equal(head, 'The service does not start: 108 findings.')
  t.equal(lines.filter((line) => line.startsWith('  versioning: ') && line.includes(' breaks the path rules. P2: ')).length, 45)
  t.equal(lines.filter((line) => line.startsWith('  envelope: ') && line.includes(' must declare a success response.')).length, 45)
  t.equal(lines.filter((line) => line.startsWith('  conventions: ') && line.includes(' breaks rule I1: ')).length, 18)
  t.equal(lines.filter((line) => /^ {2}"[A-Z]+ \/v1\/\w+": \{ (\w\d+: reason(, )?)+ \},?$/.test(line)).length, 45)
})

t.test(
  'the waivers that the error shows make the routes start, before the preset and in the version, once they have a reason',
  async (t) => {
    const schema = { response: { 200: Thing } }
    const start = (waivers: string, place: 'server' | 'version') => {
      const app = Fastify(serverOptions())
      const paste = (instance: FastifyInstance) => runInThisContext(`(app) => { ${waivers} }`)(instance)
      if (place === 'server') paste(app)
      app.register(conventions, { ...preset, openapi: { lint: 'off' } })
      app.after(() => {
        app.apiVersion(1, async (v1) => {
          if (place === 'version') paste(v1)
          addOldRoutes(v1, schema)
        })
      })
      return messageOf(app)
    }
    const message = await start('', 'server')
    const waivers = message.slice(message.indexOf('const reason'))
    for (const place of ['server', 'version'] as const) {
      t.equal((await start(waivers, place)).match(/^ {2}versioning: config\.waivers of .* without a reason\./gm)?.length, 45)
      t.equal(await start(waivers.replace("''", "'released before'"), place), '')
    }
  }
)

const misspeltResponse: object = { respons: { 200: Thing } }
const misspeltParams: object = { param: { type: 'object' } }

t.test('a misspelt config or schema hides what follows from it, in the API and outside', async (t) => {
  const app = Fastify(serverOptions())
  await app.register(conventions, preset)
  await app.apiVersion(1, async (v1) => {
    v1.post('/things', { config: { idempotent: 'off' } as object, schema: { response: { 201: Thing } } }, handler)
    v1.get('/things/:id', { schema: misspeltResponse }, handler)
    v1.get('/parts', { config: { waiver: { P2: 'why' } } as object, schema: { response: { 200: Thing } } }, handler)
  })
  app.get('/outside/:id', { schema: misspeltParams }, handler)
  t.strictSame(
    (await messageOf(app)).split('\n').map((line) => line.replace(/ is unknown.*/, '')),
    [
      'The service does not start: 4 findings.',
      '  idempotency: POST /v1/things: config.idempotent',
      '  plugin-kit: GET /v1/things/:id: schema.respons',
      '  plugin-kit: GET /v1/parts: config.waiver',
      '  plugin-kit: GET /outside/:id: schema.param'
    ]
  )
})

const issuers = [outsideIssuer({ issuer: 'https://id.example.com', audience: 'things' })]
const alone: Record<string, [unknown, object, Partial<RouteOptions>]> = {
  authentication: [authentication, { issuers, permissions: ['things:read'] }, { config: { permissions: [] } }],
  'conditional-caching': [conditionalCaching, {}, { config: { cache: 'forever' as never } }],
  'content-negotiation': [contentNegotiation, {}, { config: { produces: [] } }],
  envelope: [envelope, { publicUrl }, {}],
  'error-catalogue': [errorCatalogue, { publicUrl }, { config: { validationCode: 'UNKNOWN' } }],
  idempotency: [idempotency, { scope: () => 'one' }, { config: { idempotency: 'always' as never } }],
  openapi: [openapi, { publicUrl, versions: { 1: {} } }, { config: { openapi: { error: [] } } as never }],
  'pagination-query': [paginationQuery, { publicUrl }, { config: { collection: {} as never } }],
  'rate-limiting': [rateLimiting, {}, { config: { rateLimit: 'all' as never } }],
  'standard-schema': [standardSchema, {}, { schema: { body: { '~refine': [], type: 'object' } } }],
  'transport-security': [
    transportSecurity,
    { dangerouslyAllowHttp: 'loopback' },
    { config: { contentSecurityPolicy: { scriptSrc: 'all' } as never } }
  ],
  versioning: [versioning, { publicUrl, versions: { 1: { status: 'current' } } }, { url: '/v1/getThing' }]
}

for (const [name, [plugin, options, route]] of Object.entries(alone)) {
  t.test(`${name} alone reports its findings about all routes together`, async (t) => {
    const app = Fastify()
    await app.register(plugin as FastifyPluginAsync<object>, options)
    for (const end of ['s', 'S']) app.route({ method: 'POST', handler, ...route, url: (route.url ?? '/thing') + end })
    const [head, ...lines] = (await messageOf(app)).split('\n')
    t.equal(head, 'The service does not start: 2 findings.')
    for (const [index, end] of ['s', 'S'].entries())
      t.ok(lines[index]?.startsWith(`  ${name}: `) && lines[index].includes(`hing${end}`), String(lines[index]))
  })
}

t.test('webhooks reports its findings about all events and their forms together', async (t) => {
  const app = Fastify()
  const event = { description: 'It has happened.', schema: { type: 'object' }, example: {} }
  await app.register(webhooks, {
    mayReceive: 'everyone',
    events: {
      'order-created': event,
      'webhook.done': event,
      a: { ...event, schema: undefined as never },
      b: { ...event, schema: { type: 'strin' }, versions: { 1: { schema: {}, example: undefined, represent: () => ({}) } } }
    }
  })
  const lines = (await messageOf(app)).split('\n')
  t.equal(lines[0], 'The service does not start: 5 findings.')
  for (const part of ['type "order-created"', '"webhook.done"', '"a" must have', '"b" schema cannot', '"b" version 1 must have'])
    t.equal(lines.filter((line) => line.startsWith('  webhooks: options.events ') && line.includes(part)).length, 1, part)
})

t.test('an API with clients starts with waivers for the whole service, and every response says what is true', async (t) => {
  const old = { reason: 'Clients of 2019 use it.', until: '2027-06-30' }
  const waivers = Object.fromEntries(['P1', 'P2', 'P3', 'P5', 'F1', 'Q10', 'M11'].map((id) => [id, old]))
  const ended = { deprecatedAt: '2026-06-01T00:00:00Z', sunsetAt: '2027-12-31T00:00:00Z', documentation: publicUrl } as const
  const item = { type: 'object', properties: { order_id: { type: 'string' } } }
  const start = async (time: string, lines: string[] = []) => {
    const app = Fastify({
      ...serverOptions(),
      logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } }
    })
    t.teardown(() => app.close())
    movedDate(t, Date.parse(time))
    await app.register(conventions, { ...preset, versions: { 1: ended, 2: {} }, waivers })
    await app.apiVersion(1, async (v1) => {
      v1.get('/getOrder/:order_id', { schema: { response: { 200: item } } }, async () => ({ order_id: 'a' }))
      v1.get('/order', { schema: { response: { 200: { type: 'array', items: item } } } }, async () => [{ order_id: 'a' }])
    })
    await app.ready()
    return app
  }
  const app = await start('2027-01-01T00:00:00Z')
  const check = responseChecker((await app.inject('/v1/openapi')).json())
  for (const url of ['/v1/getOrder/a', '/v1/order']) {
    const response = await app.inject(url)
    const { statusCode: status, headers, rawPayload: body } = response
    t.strictSame(check({ method: 'GET', url, status, headers, body }), [])
    t.match(response, { statusCode: 200, headers: { deprecation: /^@\d+$/, sunset: /2027/ } })
    t.match(response.json(), { data: url.endsWith('a') ? { order_id: 'a' } : [{ order_id: 'a' }], _meta: { version: 'v1' } })
    t.notOk('pagination' in response.json()._meta)
  }
  const document = (await app.inject('/v1/openapi')).json()
  t.strictSame(document['x-waivers'], waivers)
  const rulesAt = (time: string) => {
    movedDate(t, Date.parse(time))
    return new Set(lintDocument(document, { routeLints: lints }).map(({ rule }) => rule))
  }
  t.strictSame([...rulesAt('2027-06-30T12:00:00Z')], [])
  t.ok(['P2', 'P3', 'F1', 'Q10'].every((rule) => rulesAt('2027-07-01T00:00:00Z').has(rule)))

  // A restart never fails.
  const warnings: string[] = []
  await start('2027-07-01T00:00:00Z', warnings)
  t.equal(warnings.filter((line) => line.includes('until 2027-06-30, which is over')).length, Object.keys(waivers).length)
})
