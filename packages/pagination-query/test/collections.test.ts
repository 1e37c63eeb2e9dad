import paginationQuery, { type Collection, collection, type PaginationQueryOptions } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify, { type RouteOptions } from 'fastify'
import t from 'tap'
import { cursorOrders, Order, pagedOrders, rows, secret } from './orders.ts'

type Loose = (declaration: Record<string, unknown>) => Collection

const usual = { name: 'orders', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } }
const declare = (changes: Record<string, unknown>, schema: TSchema = Order) =>
  (collection(schema) as unknown as Loose)({ ...usual, ...changes })

async function boot(options: PaginationQueryOptions, route: Partial<RouteOptions> = {}) {
  const app = Fastify()
  await app.register(paginationQuery, options)
  app.route({
    method: 'GET',
    url: '/orders',
    handler: async () => [],
    schema: { response: { 200: Type.Array(Order) } },
    ...route
  })
  await app.ready()
}

t.test('throws a TypeError for an invalid declaration', (t) => {
  const secretNames = ['accessToken', 'token', 'password', 'secret', 'signature', 'apiKey', 'sessionId']
  const reservedNames = ['perPage', 'sort', 'fields', 'after', 'offset', 'limit']
  const Odd = Type.Object({
    id: Type.String({ format: 'uuid' }),
    ...Object.fromEntries([...secretNames, ...reservedNames].map((name) => [name, Type.String()])),
    page: Type.Integer(),
    long: Type.String({ maxLength: 121 }),
    list: Type.Array(Type.String()),
    mixed: Type.Union([Type.String(), Type.Integer()]),
    object: Type.Object({}),
    text: Type.String(),
    other: Type.Ref('x')
  })
  for (const [changes, says] of [
    [{ name: '' }, /a collection must have a name/],
    [{ name: undefined }, /a collection must have a name/],
    [{ style: 'offset' }, /: declaration\.style must be "page" or "cursor", but is "offset"\./],
    [{ id: 'number' }, /: id must be a scalar field of the schema, but is "number"/],
    [{ id: 'list' }, /: id must be a scalar field of the schema, but is "list"/],
    [{ sort: { keys: ['colour'] } }, /: sort contains "colour", which is not a field of the schema/],
    [{ sort: { keys: ['list'] } }, /: sort contains "list", whose values are not scalars/],
    [{ sort: { keys: ['mixed'] } }, /: sort contains "mixed", whose values are not scalars/],
    [{ sort: { keys: ['id', 'other'] } }, /: sort contains "other"/],
    [{ sort: { keys: ['id'], combinations: [['page', 'object']] } }, /: sort contains "object"/],
    [
      { sort: { keys: ['id'], combinations: [['id']] } },
      /: sort\.combinations contains "id"\. A combination must have two or more different keys/
    ],
    [{ sort: { keys: ['id'], combinations: [['page', '-page']] } }, /: sort\.combinations contains "page,-page"/],
    [{ defaultSort: ['page'] }, /: defaultSort must be one of the orders that sort allows, but is "page"/],
    [{ defaultSort: [] }, /defaultSort must be .*but is ""/],
    [{ defaultSort: ['id', 'page'] }, /defaultSort must be .*but is "id,page"/],
    [{ filter: { colour: ['eq'] } }, /: filter contains "colour", which is not a field of the schema/],
    [{ filter: { list: ['eq'] } }, /: filter contains "list", whose values are not scalars/],
    [{ filter: { object: true } }, /: filter contains "object"/],
    [{ filter: { id: ['gt'] } }, /: filter\.id has the operator "gt"\. Choose among eq, ne, in, nin\./],
    [{ filter: { id: [] } }, /: filter\.id has no operator\. Choose among/],
    [{ filter: { id: ['null'] } }, /the operator "null"/],
    [{ filter: { text: ['like'] } }, /Choose among eq, ne, in, nin, prefix/],
    [{ filter: { page: ['eq'] } }, /: filter contains "page", which is a reserved parameter name/],
    ...secretNames.map(
      (name) =>
        [{ filter: { [name]: true } }, new RegExp(`: filter contains "${name}", which looks like the name of a credential`)] as const
    ),
    ...reservedNames.map(
      (name) => [{ filter: { [name]: true } }, new RegExp(`: filter contains "${name}", which is a reserved parameter name`)] as const
    ),
    [{ count: 'some' }, /: count must be "none"/],
    [{ count: { max: 0 } }, /: count must be "none"/],
    [
      { style: 'cursor', sort: { keys: ['id', 'text'] } },
      /: sort allows "text", whose values may be too long.*Give text a maxLength, at most 120 in total/
    ],
    [{ style: 'cursor', sort: { keys: ['id', 'long'] } }, /Give text|Give long a maxLength/],
    [{ style: 'cursor', id: 'text', sort: { keys: ['id'] } }, /Give text a maxLength/]
  ] as const)
    t.throws(() => declare(changes, Odd), { name: 'TypeError', message: says }, JSON.stringify(changes))
  for (const name of ['a[b', 'a]', 'a,b', '-a', '', '__proto__']) {
    const schema = {
      type: 'object',
      properties: Object.fromEntries([
        ['id', { type: 'string' }],
        [name, { type: 'string' }]
      ])
    }
    t.throws(() => (collection(schema) as unknown as Loose)(usual), /Rename it: a name must not be empty/, name)
  }
  t.throws(() => (collection({ type: 'string' }) as unknown as Loose)(usual), /: the schema must have properties/)
  t.end()
})

t.test('determines the kind of the values of a field from any JSON Schema', (t) => {
  const kinds: Record<string, [object, string | undefined, boolean?]> = {
    text: [{ type: 'string' }, 'string'],
    email: [{ type: 'string', format: 'email' }, 'string'],
    uuid: [Type.String({ format: 'uuid', maxLength: 36 }), 'uuid'],
    date: [Type.String({ format: 'date' }), 'date'],
    time: [Type.String({ format: 'date-time' }), 'date-time'],
    integer: [Type.Integer(), 'integer'],
    number: [Type.Number(), 'decimal'],
    flag: [Type.Boolean(), 'boolean'],
    decimal: [{ type: 'string', format: 'decimal' }, 'decimal'],
    amount: [Type.String({ pattern: '^\\d{1,18}\\.\\d{2}$' }), 'decimal'],
    price: [Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,2})?$' }), 'decimal'],
    signed: [Type.String({ pattern: '^-?(?:0|[1-9]\\d*)(?:\\.[0-9]+)?$' }), 'decimal'],
    digits: [Type.String({ pattern: '^\\d{5}$' }), 'string'],
    version: [Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }), 'string'],
    currency: [Type.String({ pattern: '^[A-Z]{3}$' }), 'string'],
    literals: [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'enum'],
    literal: [Type.Literal('a'), 'enum'],
    listed: [{ enum: ['a', 'b'] }, 'enum'],
    listedOrNull: [{ type: ['string', 'null'], enum: ['a', null] }, 'enum', true],
    digitsOf64Bits: [Type.String({ format: 'int64' }), 'integer'],
    numbers: [{ enum: [1, 2] }, 'integer'],
    fractions: [{ enum: [1.5, 2.5] }, 'decimal'],
    truth: [{ const: true }, 'boolean'],
    orNull: [Type.Union([Type.Integer(), Type.Null()]), 'integer', true],
    oneOf: [{ oneOf: [{ type: 'boolean' }, { type: 'null' }] }, 'boolean', true],
    types: [{ type: ['string', 'null'], format: 'date' }, 'date', true],
    nullable: [{ type: 'string', nullable: true }, 'string', true],
    textOrLiteral: [Type.Union([Type.String(), Type.Literal('a')]), 'string'],
    twoKinds: [{ type: ['string', 'integer'] }, undefined],
    nothing: [{}, undefined],
    onlyNull: [Type.Null(), undefined, true],
    object: [Type.Object({}), undefined],
    list: [Type.Array(Type.String()), undefined]
  }
  const schema = {
    type: 'object',
    required: [...Object.keys(kinds), 'id'],
    properties: {
      id: { type: 'string' },
      ...Object.fromEntries(Object.entries(kinds).map(([name, [schema]]) => [name, schema])),
      later: { type: 'string' }
    }
  }
  const { fields } = collection(schema)(usual as never)
  for (const [name, [, kind, nullable = false]] of Object.entries(kinds)) {
    t.strictSame([fields.get(name)?.kind, fields.get(name)?.nullable], [kind, nullable], name)
  }
  t.ok(fields.get('later')?.nullable, 'a field that is not required can be absent')
  t.strictSame(fields.get('listedOrNull')?.choices, ['a'])
  t.end()
})

t.test('finds fields through allOf, unions and references within the schema', (t) => {
  const id = { type: 'string', format: 'uuid' }
  const document = {
    $defs: {
      Base: { type: 'object', required: ['id', 'kind'], properties: { id, kind: { const: 'a' } } },
      'a/b': { properties: { deep: { type: 'integer' } } }
    },
    allOf: [{ $ref: '#/$defs/Base' }, { $ref: '#/$defs/a~1b' }, { $ref: 'elsewhere' }],
    oneOf: [
      { required: ['x', 'y'], properties: { x: { type: 'integer' }, y: { type: 'boolean' }, kind: { const: 'b' } } },
      { required: ['x'], properties: { x: { type: 'integer' }, y: { type: 'boolean' } } }
    ]
  }
  const { fields } = collection(document)(usual as never)
  const read = [...fields.values()].map(({ name, kind, nullable }) => [name, kind, nullable])
  t.strictSame(read, [
    ['id', 'uuid', false],
    ['kind', 'enum', false],
    ['deep', 'integer', true],
    ['x', 'integer', false],
    ['y', 'boolean', true]
  ])
  t.strictSame(fields.get('kind')?.choices, ['a', 'b'])
  t.end()
})

t.test('gives filters declared as true the default operators of the kind', (t) => {
  const All = Type.Object({
    id: Type.String(),
    text: Type.Optional(Type.String()),
    choice: Type.Union([Type.Literal('a'), Type.Literal('b')]),
    flag: Type.Boolean(),
    number: Type.Number(),
    time: Type.String({ format: 'date-time' })
  })
  const { filters } = declare({ filter: { text: true, choice: true, flag: true, number: true, time: true } }, All)
  t.strictSame(Object.fromEntries(filters), {
    text: ['eq', 'ne', 'in', 'nin', 'null'],
    choice: ['eq', 'ne', 'in', 'nin'],
    flag: ['eq', 'ne'],
    number: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'],
    time: ['gt', 'gte', 'lt', 'lte']
  })
  t.end()
})

t.test('ends every order with the identifier, in the direction of its last key', (t) => {
  const { sorts, defaultSort } = declare({
    sort: {
      keys: ['total', 'id'],
      combinations: [
        ['status', '-placedAt'],
        ['-total', 'id', 'status']
      ]
    },
    defaultSort: ['-total', 'id', 'status']
  })
  const shown = Object.fromEntries(
    [...sorts].map(([name, order]) => [name, order.map(({ field, descending }) => (descending ? '-' : '') + field).join()])
  )
  t.strictSame(shown, {
    total: 'total,id',
    '-total': '-total,-id',
    id: 'id',
    '-id': '-id',
    'status,-placedAt': 'status,-placedAt,-id',
    '-total,id,status': '-total,id'
  })
  t.equal(defaultSort, '-total,id,status')
  t.equal(cursorOrders.sorts.get('dueOn')?.[0]?.nullable, true)
  t.strictSame([cursorOrders.count, pagedOrders.count], [{ max: 10_000 }, 'exact'])
  t.end()
})

const byName = (parameters: Collection['parameters']) => Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]))

t.test('describes each parameter by its literal name, with its schema and limits [Q11] [Q13]', async (t) => {
  const described = byName(pagedOrders.parameters)
  t.strictSame(Object.keys(described).slice(0, 3), ['id', 'id[in]', 'status'])
  t.strictSame(Object.keys(described).slice(-4), ['sort', 'fields', 'perPage', 'page'])
  t.strictSame(Object.keys(byName(cursorOrders.parameters)).slice(-2), ['perPage', 'after'])
  t.strictSame(described['total[gte]'], {
    name: 'total[gte]',
    in: 'query',
    required: false,
    description: 'total greater than or equal to',
    schema: { type: 'string', format: 'decimal', pattern: '^-?\\d{1,30}(\\.\\d{1,30})?$', maxLength: 62 }
  })
  t.strictSame(described['status[in]'], {
    name: 'status[in]',
    in: 'query',
    required: false,
    description: 'status one of; a comma within a value is written \\,',
    schema: { type: 'array', items: { type: 'string', enum: ['pending', 'paid', 'shipped'] }, minItems: 1, maxItems: 100 },
    style: 'form',
    explode: false
  })
  t.strictSame(described['dueOn[null]']?.schema, { type: 'boolean' })
  t.strictSame(described['title']?.schema, { type: 'string', maxLength: 40 })
  t.strictSame(described['perPage']?.schema, { type: 'integer', minimum: 1, maximum: 100, default: 25 })
  t.strictSame(described['sort']?.schema, {
    type: 'string',
    enum: ['placedAt', '-placedAt', 'total', '-total', 'dueOn', '-dueOn', 'id', '-id', 'status,-placedAt'],
    default: '-placedAt'
  })
  t.strictSame(byName(cursorOrders.parameters)['after']?.schema, { type: 'string', maxLength: 1024 })

  const found: Collection[] = []
  const app = Fastify()
  await app.register(paginationQuery, { perPage: { default: 10, max: 20 } })
  app.addHook('onRoute', ({ config }) => {
    if (config?.collection) found.push(config.collection)
  })
  const schema = { response: { 200: Type.Array(Order, { title: 'Orders' }) } }
  const config = { collection: pagedOrders }
  app.get('/orders', { config, schema, exposeHeadRoute: false }, async () => [])
  t.strictSame(
    byName(found[0]?.parameters ?? [])['perPage']?.schema,
    { type: 'integer', minimum: 1, maximum: 20, default: 10 },
    'uses the limits of the plugin'
  )
  t.equal(found[0]?.item, Order, 'has the schema of the whole item, for the description')
  t.equal(config.collection, pagedOrders, 'does not change the config of the author')
})

t.test('throws a TypeError for an invalid option', async (t) => {
  for (const [options, says] of [
    [{ perPage: { default: 0 } }, /options\.perPage\.default must be an integer of at least 1, but is 0\./],
    [{ perPage: { default: 1.5 } }, /options\.perPage\.default must be an integer of at least 1, but is 1\.5\./],
    [{ perPage: { default: 50, max: 20 } }, /perPage\.default must be at most perPage\.max \(20\), but is 50/],
    [{ perPage: { max: Number.NaN } }, /options\.perPage\.(default|max) must be an integer of at least 1, but is NaN\./],
    [{ maxOffset: 50 }, /perPage\.max must be at most maxOffset \(50\), but is 100/],
    [{ maxOffset: 0 }, /options\.maxOffset must be an integer of at least 1, but is 0\./],
    [{ cursor: {} }, /cursor\.secrets is empty/],
    [{ cursor: { secrets: [] } }, /cursor\.secrets is empty/],
    [
      { cursor: { secrets: [secret, 'short'] } },
      /options\.cursor\.secrets\[1\] has 5 bytes and needs at least 32\. Create a secret with: openssl/
    ],
    [{ cursor: { secrets: ['a'.repeat(40)] } }, /options\.cursor\.secrets\[0\] repeats itself/],
    [{ cursor: { secrets: ['a-string-secret-at-least-256-bits-long'] } }, /options\.cursor\.secrets\[0\] is published as an example/],
    [{ cursor: { secrets: ['development only: a very long secret!'] } }, /options\.cursor\.secrets\[0\] consists of words/],
    [{ cursor: { secrets: [secret], maxAgeSeconds: 0 } }, /options\.cursor\.maxAgeSeconds must be an integer of at least 1, but is 0\./],
    [
      { cursor: { secrets: [secret], maxAgeSeconds: 1.5 } },
      /options\.cursor\.maxAgeSeconds must be an integer of at least 1, but is 1\.5\./
    ],
    [{ publicUrl: 'api.example.com' }, /publicUrl/],
    [{ allowedHosts: ['*'] }, /allowedHosts/]
  ] as const)
    await t.rejects(boot(options as PaginationQueryOptions, { schema: {} }), { name: 'TypeError', message: says }, JSON.stringify(options))
  await boot({ perPage: { default: 200 } }, { schema: {} })
})

t.test('throws a TypeError for a route that cannot serve its collection', async (t) => {
  const config = { collection: pagedOrders }
  const array = Type.Array(Order)
  for (const [route, says] of [
    [
      { config: { collection: { name: 'orders', stile: 'page' } } },
      /GET \/orders: config\.collection must be a declared collection\. Create it with/
    ],
    [{ config: { collection: null } }, /GET \/orders: config\.collection must be a declared collection/],
    [{ config, method: 'POST' }, /POST \/orders must be a GET route, because it serves the collection "orders"/],
    [{ config, method: ['GET', 'DELETE'] }, /must be a GET route/],
    [
      { config, schema: { response: { 200: array }, querystring: Type.Object({}) } },
      /must not have schema\.querystring, because its collection validates the query/
    ],
    [{ config, schema: { response: { 200: array }, query: Type.Object({}) } }, /must not have schema\.querystring/],
    [{ config, schema: undefined }, /its 200 response must be declared as an array of objects/],
    [
      { config, schema: { response: { 200: Order } } },
      /its 200 response must be declared as an array.*Register this plugin before plugins that change response schemas/
    ],
    [{ config, schema: { response: { 200: Type.Object({ data: array }) } } }, /its 200 response must be declared as an array/],
    [{ config, schema: { response: { 200: Type.Array(Type.String()) } } }, /its 200 response must be declared as an array of objects/],
    [
      { config, schema: { response: { 200: { $ref: 'Missing#' } } } },
      /its 200 response must be declared as an array.*shared schemas before their routes/
    ],
    [
      { config, schema: { response: { 200: Type.Array(Type.Omit(Order, ['note'])) } } },
      /does not declare "note", a field of the collection "orders"/
    ],
    [{ config: { collection: cursorOrders } }, /serves a collection with cursors, which requires options\.cursor/],
    [{ config: { collection: declare({ perPage: { default: 10, max: 5 } }) } }, /perPage\.default must be at most/]
  ] as const)
    await t.rejects(boot({}, route as Partial<RouteOptions>), { name: 'TypeError', message: says }, String(says))
})

t.test('allows a single style of pagination for each resource type [Q7]', async (t) => {
  const app = Fastify()
  await app.register(paginationQuery, { cursor: { secrets: [secret] } })
  const schema = { response: { 200: Type.Array(Order) } }
  app.get('/orders', { config: { collection: pagedOrders }, schema }, async () => [])
  app.get('/other-orders', { config: { collection: declare({ name: 'orders' }) }, schema }, async () => [])
  app.get('/third-orders', { config: { collection: declare({ name: 'orders', style: 'cursor' }) }, schema }, async () => [])
  await t.rejects(
    async () => app.ready(),
    /GET \/third-orders paginates "orders" by cursor, but GET \/orders paginates it by page\. Choose one style \(rule Q7\)/
  )
})

t.test('rejects a route at boot that responds with a list without pages, unless a waiver has a reason [S6] [Q10]', async (t) => {
  const list = Type.Array(Type.String())
  const shared = { $id: 'Shared', type: 'array', items: { type: 'string' } }
  for (const response of [
    { 200: list },
    { '2xx': list },
    { 201: list },
    { 200: Type.Union([Order, list]) },
    { 200: Type.Union([Type.Null(), list]) },
    { 200: { type: ['array', 'null'], items: {} } },
    { 200: { content: { 'application/json': { schema: list } } } },
    { 200: { content: { 'application/vnd.x+json': { schema: list } } } }
  ]) {
    await t.rejects(
      boot({}, { schema: { response } }),
      /GET \/orders responds with a list that is not paginated \(rule Q10\)\. Set config\.collection/,
      JSON.stringify(response)
    )
  }
  const app = Fastify()
  app.addSchema(shared)
  await app.register(paginationQuery)
  app.get('/shared', { schema: { response: { 200: { $ref: 'Shared#' } } } }, async () => [])
  await t.rejects(async () => app.ready(), /^pagination-query: GET \/shared .*Q10/)
  const other = Fastify()
  other.addSchema({ $id: 'Circle', anyOf: [{ $ref: 'Circle#' }, { type: 'string' }] })
  await other.register(paginationQuery)
  other.get('/circle', { schema: { response: { 200: { $ref: 'Circle#' } } } }, async () => 'x')

  await boot({}, { config: { operational: true } })
  await boot({}, { config: { waivers: { Q10: 'There are seven days in a week.' } } })
  await t.rejects(boot({}, { config: { waivers: { Q10: ' ' } } }), {
    name: 'TypeError',
    message:
      "pagination-query: config.waivers of GET /orders waives Q10 without a reason. Add the reason: { Q10: 'why it does not apply' }."
  })
  for (const route of [
    { method: 'POST' },
    { schema: {} },
    { schema: { response: { 200: Order } } },
    { schema: { response: { 404: list } } },
    { schema: { response: { 200: { content: { 'text/csv': { schema: list } } } } } }
  ] as const)
    await boot({}, route)
})

t.test('returns 500 if a handler does not respond with a page of the collection of its route', async (t) => {
  const app = Fastify({ logger: false })
  await app.register(paginationQuery, { cursor: { secrets: [secret] } })
  const schema = { response: { 200: Type.Array(Order) } }
  const errors: string[] = []
  app.setErrorHandler((error, _request, reply) => {
    errors.push(String(error))
    return reply.code(500).send({})
  })
  app.get('/bare', { config: { collection: pagedOrders }, schema }, async () => rows)
  app.get('/wrong', { config: { collection: pagedOrders }, schema }, async (request, reply) =>
    reply.page(runArray(rows, request.listQuery(cursorOrders)))
  )
  app.get('/uncounted', { config: { collection: pagedOrders }, schema }, async (request, reply) =>
    reply.page({ ...runArray(rows, request.listQuery(pagedOrders)), total: undefined })
  )
  app.get('/item', async (request, reply) => reply.page(runArray(rows, request.listQuery(pagedOrders))))
  app.get('/gone', { config: { collection: pagedOrders }, schema }, async (_request, reply) => {
    reply.raw.statusCode = 304
    return reply.send()
  })
  for (const url of ['/bare', '/wrong', '/uncounted', '/item']) t.equal((await app.inject(url)).statusCode, 500, url)
  t.match(errors, [
    /GET \/bare responded without a page\. Return reply\.page/,
    /GET \/wrong serves "orders", not "cursor-orders"/,
    /: a page of "orders" must have a total/,
    /GET \/item does not serve a collection/
  ])
  t.equal((await app.inject('/gone')).statusCode, 304)
})
