import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import { responseChecker } from '@concordat/openapi/testing'
import { collection } from '@concordat/pagination-query'
import { movedDate } from '@concordat/test-harness/moved-date'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { z } from 'zod'

// The tests know the shape of the documents that they read.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const Order = Type.Object({ id: Type.String({ format: 'uuid' }), note: Type.String() })
const orders = (style: 'page' | 'cursor') =>
  collection(Order)({ name: 'orders', style, id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
const order: Static<typeof Order> = { id: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab', note: 'x' }
const unversioned = (() => undefined) as Loose
const validator = () => ({ exists: true, etag: 3 })
const send = async () => order
const issuer = { issuer: 'https://id.example', verify: async () => ({}) } as Loose
const verifies = { issuers: [issuer], permissions: ['orders:read', 'orders:write'] } as Loose

async function boot(options: ConventionsOptions, routes: (v1: FastifyInstance) => void) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://shop.example',
    versions: { 1: {} },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    ...options
  })
  await app.apiVersion(1, async (v1) => routes(v1))
  return app
}

/** Returns the routes, with `config` only for plugins that are registered. */
function shopWith(configOf: (config: object) => object) {
  return (app: FastifyInstance) => addShop(app, configOf)
}

function addShop(app: FastifyInstance, configOf: (config: object) => object) {
  const params = Type.Object({ id: Type.String() })
  const permissions = ['orders:write']
  const paged = { permissions: ['orders:read'], collection: orders('page') }
  app.get('/orders', { config: configOf(paged), schema: { response: { 200: Type.Array(Order) } } }, async () => [])
  const cursor = { public: true, collection: orders('cursor') }
  app.get(
    '/orders/:id/parts',
    {
      config: configOf({ ...cursor, collection: { ...cursor.collection, name: 'parts' } }),
      schema: { params, response: { 200: Type.Array(Order) } }
    },
    async () => []
  )
  app.post(
    '/orders',
    { config: configOf({ permissions, idempotency: 'required' }), schema: { body: Order, response: { 201: Order } } },
    async () => order
  )
  app.patch(
    '/orders/:id',
    {
      config: configOf({ permissions, idempotency: { key: 'accepted' }, validator: unversioned, requireIfMatch: true }),
      schema: { params, body: Order, response: { 200: Order } }
    },
    async () => order
  )
  app.put(
    '/orders/:id',
    { config: configOf({ permissions, validator: unversioned }), schema: { params, body: Order, response: { 200: Order } } },
    async () => order
  )
  app.post(
    '/orders/:id/images',
    {
      config: configOf({ permissions, idempotency: 'off', consumes: ['image/png'], rateLimit: false }),
      schema: { params, response: { 201: Order } }
    },
    async () => order
  )
}

const shop = shopWith((config) => config)

async function pathsOf(app: FastifyInstance): Promise<Loose> {
  return (await app.inject('/v1/openapi')).json()
}

/** Returns the error codes of an operation. */
function codesOf({ paths, components }: Loose, path: string, method: string): string[] {
  return Object.values(paths[path][method].responses).flatMap((response: Loose) =>
    response.$ref === undefined
      ? []
      : Object.keys(components.responses[response.$ref.split('/').at(-1)].content['application/json'].examples)
  )
}

function has(codes: readonly string[], wanted: string) {
  return codes.includes(wanted)
}

t.test('each operation has the errors with which the plugins can respond, and no others [X3]', async (t) => {
  const document = await pathsOf(await boot({ authentication: verifies }, shop))
  const [list, parts, create, change, replace, upload] = [
    codesOf(document, '/v1/orders', 'get'),
    codesOf(document, '/v1/orders/{id}/parts', 'get'),
    codesOf(document, '/v1/orders', 'post'),
    codesOf(document, '/v1/orders/{id}', 'patch'),
    codesOf(document, '/v1/orders/{id}', 'put'),
    codesOf(document, '/v1/orders/{id}/images', 'post')
  ]
  t.strictSame(
    [list, parts, create].map((codes) => has(codes, 'INSUFFICIENT_PERMISSION')),
    [true, false, true]
  )
  t.ok(has(parts, 'TOKEN_EXPIRED'), 'a public route refuses invalid credentials')
  t.strictSame(
    [list, parts, create].map((codes) => has(codes, 'RESOURCE_NOT_FOUND')),
    [false, true, false]
  )
  t.strictSame(
    [list, parts, create, replace].map((codes) => has(codes, 'INVALID_QUERY_PARAMETERS')),
    [true, true, true, true]
  )
  t.strictSame(
    [create, change, replace].map((codes) => has(codes, 'PARTIAL_PUT_NOT_SUPPORTED')),
    [false, false, true]
  )
  t.strictSame(
    [list, parts].map((codes) => has(codes, 'CURSOR_INVALID')),
    [false, true]
  )
  t.strictSame(
    [list, create, upload].map((codes) => has(codes, 'MALFORMED_JSON')),
    [false, true, false]
  )
  t.strictSame(
    [list, create, upload].map((codes) => has(codes, 'UNSUPPORTED_MEDIA_TYPE')),
    [false, true, true]
  )
  t.strictSame(
    [create, change, upload].map((codes) => has(codes, 'VALIDATION_FAILED')),
    [true, true, false]
  )
  t.strictSame(
    [create, change, replace].map((codes) => has(codes, 'IDEMPOTENCY_KEY_REQUIRED')),
    [true, false, false]
  )
  t.strictSame(
    [create, change, replace].map((codes) => has(codes, 'IDEMPOTENCY_KEY_REUSED')),
    [true, true, false]
  )
  t.strictSame(
    [create, change, replace].map((codes) => has(codes, 'PRECONDITION_FAILED')),
    [true, true, true]
  )
  t.strictSame(
    [create, change, replace].map((codes) => has(codes, 'PRECONDITION_REQUIRED')),
    [false, true, false]
  )
  t.strictSame(
    [create, upload].map((codes) => has(codes, 'RATE_LIMIT_EXCEEDED')),
    [true, false]
  )
  t.notOk(has(list, 'VERSION_RETIRED'))
  t.hasProps(document.paths['/v1/orders'].get.responses[200].headers, ['Request-Id', 'Vary', 'RateLimit', 'RateLimit-Policy'])
})

t.test('the operations of a version with a sunset date include VERSION_RETIRED [V5]', async (t) => {
  const ending = { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2028-01-01T00:00:00Z', documentation: 'https://shop.example/moving' }
  movedDate(t, Date.parse('2027-06-01T00:00:00Z'))
  const document = await pathsOf(await boot({ authentication: verifies, versions: { 1: ending, 2: {} } }, shop))
  t.ok(codesOf(document, '/v1/orders', 'get').includes('VERSION_RETIRED'))
  t.match(document.paths['/v1/orders'].get, { deprecated: true, 'x-sunset': '2028-01-01T00:00:00.000Z' })
})

t.test('the description omits plugins that are left out, and can be left out itself', async (t) => {
  const bare = {
    authentication: false,
    rateLimiting: false,
    contentNegotiation: false,
    conditionalCaching: false,
    idempotency: false,
    transportSecurity: false
  } as const
  const document = await pathsOf(
    await boot(
      bare,
      shopWith((config) => ('collection' in config ? { collection: config.collection } : {}))
    )
  )
  const codes = codesOf(document, '/v1/orders', 'post')
  for (const code of ['NOT_ACCEPTABLE', 'RATE_LIMIT_EXCEEDED', 'HTTPS_REQUIRED', 'AUTHENTICATION_REQUIRED', 'IDEMPOTENCY_KEY_REQUIRED'])
    t.notOk(codes.includes(code), code)
  t.equal(document.paths['/v1/orders'].get.responses[200].headers, undefined)
  const without = await boot({ ...bare, openapi: false, errorCatalogue: false, paginationQuery: false }, () => {})
  t.equal((await without.inject('/v1/openapi')).statusCode, 404)
  const plain = await boot({ ...bare, errorCatalogue: false, paginationQuery: false }, (v1) => {
    v1.get('/orders/:id', { schema: { response: { 200: Order } } }, async () => order)
  })
  t.strictSame(Object.keys((await pathsOf(plain)).paths['/v1/orders/{id}'].get.responses), ['200'])
})

t.test('a route that breaks a rule of representations stops the boot, unless it waives the rule with a reason [F1]', async (t) => {
  const schema = { response: { 200: Type.Object({ order_id: Type.String() }) } }
  const route = (config: object) => (v1: FastifyInstance) =>
    v1.get('/orders/:id', { config: { public: true, ...config }, schema }, async () => ({ order_id: 'x' }))
  const start = async (config: object) => (await boot({ authentication: verifies }, (v1) => void route(config)(v1))).ready()
  await t.rejects(start({}), /F1 \/v1\/openapi schema Order\.order_id: "order_id" is not in camelCase/)
  await t.resolves(start({ waivers: { F1: 'The printer reads it so.' } }))
  await t.rejects(start({ waivers: { F99: 'So.' } }), /waives "F99", which is not a known rule/)
})

const Part: z.ZodType<{ name: string; parts: { name: string }[] }> = z.object({
  name: z.string(),
  get parts() {
    return z.array(Part)
  }
})

t.test(
  'schemas of libraries, recursive and local ones have the names of their authors or routes, whatever other routes there are',
  async (t) => {
    const config = { public: true }
    const tree = { type: 'object', required: ['id'], properties: { id: { type: 'string' }, root: { $ref: '#/definitions/Node' } } }
    const definitions = { Node: { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/definitions/Node' } } } } }
    const Menu = Type.Recursive((This) => Type.Object({ id: Type.String(), entries: Type.Array(This) }), { $id: 'Menu' })
    const menus = collection(Menu)({ name: 'menus', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
    const routes: readonly ((v1: FastifyInstance) => void)[] = [
      (v1) => v1.get('/forests/:id', { config, schema: { response: { 200: { ...tree, definitions } } } }, async () => ({ id: '1' })),
      (v1) => v1.get('/trees/:id', { config, schema: { response: { 200: { ...tree, definitions } } } }, async () => ({ id: '1' })),
      (v1) =>
        v1.get('/machines/:id', { config, schema: { response: { 200: z.object({ id: z.string(), main: Part }) } } }, async () => ({
          id: '1',
          main: { name: 'a', parts: [] }
        })),
      (v1) =>
        v1.get('/menus', { config: { ...config, collection: menus }, schema: { response: { 200: Type.Array(Menu) } } }, async () => []),
      (v1) =>
        v1.get(
          '/points/:id',
          { config, schema: { response: { 200: z.object({ id: z.string(), at: z.tuple([z.number(), z.number()]), bytes: z.base64() }) } } },
          async () => ({ id: '1', at: [1, 2] as [number, number], bytes: '' })
        )
    ]
    const schemasWith = async (some: typeof routes) =>
      (await pathsOf(await boot({ authentication: verifies }, (v1) => some.map((add) => add(v1))))).components.schemas
    const all = await schemasWith(routes)
    const own = Object.keys(all).filter((name) => !['ErrorDetail', 'FieldError', 'Link', 'Meta', 'ListMeta', 'Pagination'].includes(name))
    t.strictSame(own, ['Forest', 'ForestNode', 'Machine', 'MachineMain', 'Menu', 'PartialMenu', 'Point', 'Tree', 'TreeNode'])
    t.strictSame(all.Menu.properties.entries.items, { $ref: '#/components/schemas/Menu' })
    t.match(all.Point.properties, { at: { prefixItems: [{ type: 'number' }, { type: 'number' }] }, bytes: { contentEncoding: 'base64' } })
    t.notOk('format' in all.Point.properties.bytes)
    for (const [index] of routes.entries()) {
      const fewer = await schemasWith(routes.filter((_, other) => other !== index))
      for (const [name, schema] of Object.entries(fewer)) t.strictSame(all[name], schema, `${name} without route ${index}`)
    }
  }
)

t.test('a QUERY route is in the description, with its errors and headers', async (t) => {
  const document = await pathsOf(
    await boot({ authentication: verifies }, (v1) => {
      v1.route({
        method: 'QUERY',
        url: '/orders',
        config: { public: true, waivers: { Q10: 'A search.' } },
        schema: { body: Order, response: { 200: Type.Array(Order) } },
        handler: async () => []
      })
    })
  )
  const { QUERY } = document.paths['/v1/orders']['x-oai-additionalOperations']
  t.match(QUERY, {
    operationId: 'searchOrders',
    requestBody: { required: true },
    responses: { 200: { headers: { 'Request-Id': {} } }, 422: {}, 415: {} }
  })
})

t.test('the description has the response to every condition that a request can have, on every method [O1] [C1] [X3]', async (t) => {
  const config = { public: true, idempotency: 'off' } as const
  const params = Type.Object({ id: Type.String() })
  const resource = { schema: { params, response: { 200: Order } } }
  const changed = { schema: { params, body: Order, response: { 200: Order } } }
  const app = await boot({ authentication: false }, (v1) => {
    const kinds: Readonly<Record<string, object>> = {
      plain: {},
      stored: { cache: 'no-store' },
      versioned: { validator },
      guarded: { validator, requireIfMatch: true }
    }
    for (const [kind, more] of Object.entries(kinds)) {
      const own = { config: { ...config, ...more } }
      if (kind !== 'guarded') v1.get(`/${kind}-orders/:id`, { ...own, ...resource }, send)
      if (kind === 'stored') continue
      const { params: _params, ...ofCollection } = changed.schema
      v1.post(`/${kind}-orders`, { ...own, schema: ofCollection }, send)
      for (const method of ['put', 'patch'] as const) v1[method](`/${kind}-orders/:id`, { ...own, ...changed }, send)
      v1.delete(`/${kind}-orders/:id`, { ...own, schema: { params, response: { 204: Type.Null() } } }, async (_request, reply) =>
        reply.noContent()
      )
    }
  })
  const document = await pathsOf(app)
  const check = responseChecker(document)
  const conditions = [
    { 'if-match': '"x"' },
    { 'if-match': '*' },
    { 'if-none-match': '*' },
    { 'if-none-match': '"x"' },
    { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }
  ]
  const refused = new Set<string>()
  for (const [path, item] of Object.entries(document.paths))
    for (const method of Object.keys(item as object))
      for (const condition of conditions) {
        const url = path.replace('{id}', '7')
        const payload = ['get', 'delete'].includes(method) ? {} : { payload: order }
        const response = await app.inject({ method: method.toUpperCase() as 'GET', url, headers: condition, ...payload })
        if (response.statusCode === 412) refused.add(`${method} ${path}`)
        const { statusCode: status, headers, rawPayload: body } = response
        t.strictSame(check({ method: method.toUpperCase(), url, status, headers, body }), [], JSON.stringify(condition))
      }
  t.equal(refused.size, 14, 'every operation refuses a condition, except a read without a tag')
})

t.test('the response to a key in use is described with its Retry-After [I4] [X3]', async (t) => {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const app = await boot({ authentication: false, idempotency: { scope: () => 'ada' } }, (v1) => {
    v1.post(
      '/orders',
      { config: { idempotency: { key: 'required', waitSeconds: 0 } }, schema: { body: Order, response: { 200: Order } } },
      async () => {
        begun.resolve()
        await released.promise
        return order
      }
    )
  })
  const check = responseChecker(await pathsOf(app))
  const send = () => app.inject({ method: 'POST', url: '/v1/orders', headers: { 'idempotency-key': '"one"' }, payload: order })
  const first = send()
  await begun.promise
  const { statusCode, headers, rawPayload } = await send()
  released.resolve()
  await first
  t.match([statusCode, headers['retry-after']], [409, /^\d+$/])
  t.strictSame(check({ method: 'POST', url: '/v1/orders', status: statusCode, headers, body: rawPayload }), [])
})
