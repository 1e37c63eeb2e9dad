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

t.test('a declaration that can not work is refused with one clear line', (t) => {
  const Odd = Type.Object({
    id: Type.String({ format: 'uuid' }),
    code: Type.String(),
    accessToken: Type.String(),
    page: Type.Integer(),
    long: Type.String({ maxLength: 121 }),
    list: Type.Array(Type.String()),
    mixed: Type.Union([Type.String(), Type.Integer()]),
    object: Type.Object({}),
    text: Type.String(),
    other: Type.Ref('x')
  })
  for (const [changes, says] of [
    [{ name: '' }, /has no name/],
    [{ name: undefined }, /has no name/],
    [{ style: 'offset' }, /style "offset"\. Choose "page" or "cursor"/],
    [{ id: 'number' }, /has the id "number", which is no scalar member/],
    [{ id: 'list' }, /has the id "list"/],
    [{ sort: { keys: ['colour'] } }, /sorts by "colour", which its schema does not have/],
    [{ sort: { keys: ['list'] } }, /sorts by "list", whose values are no scalars/],
    [{ sort: { keys: ['mixed'] } }, /sorts by "mixed", whose values are no scalars/],
    [{ sort: { keys: ['id', 'other'] } }, /sorts by "other"/],
    [{ sort: { keys: ['id'], combinations: [['page', 'object']] } }, /sorts by "object"/],
    [{ sort: { keys: ['id'], combinations: [['id']] } }, /the combination "id"\. Give two or more different keys/],
    [{ sort: { keys: ['id'], combinations: [['page', '-page']] } }, /the combination "page,-page"/],
    [{ defaultSort: ['page'] }, /defaultSort "page", which its sort does not allow/],
    [{ defaultSort: [] }, /defaultSort ""/],
    [{ defaultSort: ['id', 'page'] }, /defaultSort "id,page"/],
    [{ filter: { colour: ['eq'] } }, /filters by "colour", which its schema does not have/],
    [{ filter: { list: ['eq'] } }, /filters by "list", whose values are no scalars/],
    [{ filter: { object: true } }, /filters by "object"/],
    [{ filter: { id: ['gt'] } }, /filters by "id" with "gt"\. Choose among eq, ne, in, nin\./],
    [{ filter: { id: [] } }, /filters by "id" with no operator/],
    [{ filter: { id: ['null'] } }, /with "null"/],
    [{ filter: { text: ['like'] } }, /Choose among eq, ne, in, nin, prefix/],
    [{ filter: { page: ['eq'] } }, /filters by "page", which is the name of a parameter/],
    [{ filter: { code: ['eq'] } }, /filters by "code", which links hide/],
    [{ filter: { accessToken: true } }, /filters by "accessToken", which links hide/],
    [{ count: 'some' }, /has a count that there is not/],
    [{ count: { atMost: 0 } }, /has a count/],
    [
      { style: 'cursor', sort: { keys: ['id', 'text'] } },
      /sorted by "text", whose texts may be too long.*Give text a maxLength, together at most 120/
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
  t.throws(() => (collection({ type: 'string' }) as unknown as Loose)(usual), /a schema without properties/)
  t.end()
})

t.test('what the values of a field are is read from any JSON Schema', (t) => {
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
  t.ok(fields.get('later')?.nullable, 'what is not required may be missing')
  t.strictSame(fields.get('listedOrNull')?.choices, ['a'])
  t.end()
})

t.test('members are found through allOf, unions and references within the schema', (t) => {
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

t.test('filters given as true have the operators of the kind', (t) => {
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

t.test('every order ends with the identifier, in the direction of its last key, and goes no further', (t) => {
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
  t.strictSame([cursorOrders.count, pagedOrders.count], [{ atMost: 10_000 }, 'exact'])
  t.end()
})

const byName = (parameters: Collection['parameters']) => Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]))

t.test('the description has each parameter by its literal name, with its schema and bounds [Q11] [Q13]', async (t) => {
  const described = byName(pagedOrders.parameters)
  t.strictSame(Object.keys(described).slice(0, 3), ['id', 'id[in]', 'status'])
  t.strictSame(Object.keys(described).slice(-4), ['sort', 'fields', 'perPage', 'page'])
  t.strictSame(Object.keys(byName(cursorOrders.parameters)).slice(-2), ['perPage', 'after'])
  t.strictSame(described['total[gte]'], {
    name: 'total[gte]',
    in: 'query',
    required: false,
    description: 'total greater than or equal to',
    schema: { type: 'string', format: 'decimal', pattern: '^-?\\d{1,30}(\\.\\d{1,30})?$' }
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
    type: 'array',
    items: { type: 'string', enum: ['placedAt', '-placedAt', 'total', '-total', 'dueOn', '-dueOn', 'id', '-id', 'status'] },
    minItems: 1,
    maxItems: 100,
    default: ['-placedAt']
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
    'with the bounds of the plugin'
  )
  t.equal(found[0]?.item, Order, 'the whole item, for the description')
  t.equal(config.collection, pagedOrders, 'what the author wrote is not changed')
})

t.test('options that can not work are refused with one clear line', async (t) => {
  for (const [options, says] of [
    [{ perPage: { default: 0 } }, /perPage\.default 0/],
    [{ perPage: { default: 1.5 } }, /perPage\.default 1\.5/],
    [{ perPage: { default: 50, max: 20 } }, /perPage\.default 50, which is more than perPage\.max 20/],
    [{ perPage: { max: Number.NaN } }, /perPage\.default NaN|perPage\.max NaN/],
    [{ maxOffset: 50 }, /perPage\.max 100, which is more than maxOffset 50/],
    [{ maxOffset: 0 }, /maxOffset 0/],
    [{ maxCachedPlans: -1 }, /maxCachedPlans is -1/],
    [{ cursor: {} }, /cursor has no secrets/],
    [{ cursor: { dangerouslyUnsigned: false } }, /cursor has no secrets/],
    [{ cursor: { dangerouslyUnsigned: true, secrets: [secret] } }, /Keep the secrets/],
    [{ cursor: { secrets: [] } }, /cursor\.secrets is empty/],
    [{ cursor: { secrets: [secret, 'short'] } }, /cursor\.secrets\[1\] has 5 bytes\. Give at least 32/],
    [{ cursor: { secrets: ['a'.repeat(40)] } }, /cursor\.secrets\[0\] repeats one character/],
    [{ cursor: { secrets: [secret], maxAgeSeconds: 0 } }, /maxAgeSeconds is 0/],
    [{ cursor: { secrets: [secret], maxAgeSeconds: 1.5 } }, /maxAgeSeconds is 1\.5/],
    [{ transitionalOffset: { deprecatedAt: 'soon' } }, /deprecatedAt is "soon"/],
    [{ publicUrl: 'api.example.com' }, /publicUrl/],
    [{ allowedHosts: ['*'] }, /allowedHosts/]
  ] as const)
    await t.rejects(boot(options as PaginationQueryOptions, { schema: {} }), { name: 'TypeError', message: says }, JSON.stringify(options))
  await boot({ perPage: { default: 200 }, transitionalOffset: { deprecatedAt: new Date() } }, { schema: {} })
})

t.test('a route that can not serve its collection is refused with one clear line', async (t) => {
  const config = { collection: pagedOrders }
  const array = Type.Array(Order)
  for (const [route, says] of [
    [{ config, method: 'POST' }, /POST \/orders has the collection "orders", but is no GET/],
    [{ config, method: ['GET', 'DELETE'] }, /is no GET/],
    [
      { config, schema: { response: { 200: array }, querystring: Type.Object({}) } },
      /has a collection and schema\.querystring\. Remove the schema/
    ],
    [{ config, schema: { response: { 200: array }, query: Type.Object({}) } }, /Remove the schema/],
    [{ config, schema: undefined }, /its 200 is no array of objects/],
    [
      { config, schema: { response: { 200: Order } } },
      /its 200 is no array.*register this plugin before those that change response schemas/
    ],
    [{ config, schema: { response: { 200: Type.Object({ data: array }) } } }, /its 200 is no array/],
    [{ config, schema: { response: { 200: Type.Array(Type.String()) } } }, /its 200 is no array of objects/],
    [{ config, schema: { response: { 200: { $ref: 'Missing#' } } } }, /its 200 is no array.*shared schemas before their routes/],
    [
      { config, schema: { response: { 200: Type.Array(Type.Omit(Order, ['note'])) } } },
      /answers without "note", a field of the collection "orders"/
    ],
    [{ config: { collection: cursorOrders } }, /has a collection by cursor\. Give the plugin cursor/],
    [{ config: { collection: declare({ perPage: { default: 10, max: 5 } }) } }, /perPage\.default 10, which is more/],
    [{ config: { collection: declare({ maxOffset: 5 }) } }, /more than maxOffset 5/]
  ] as const)
    await t.rejects(boot({}, route as Partial<RouteOptions>), { name: 'TypeError', message: says }, String(says))
  const hidden = declare({ style: 'cursor', sort: { keys: ['id'] }, readable: () => true })
  await t.rejects(
    boot({ cursor: { dangerouslyUnsigned: true } }, { config: { collection: hidden } }),
    /collection with readable.*Give cursor\.secrets/
  )
})

t.test('one resource type is paged in one style [Q7]', async (t) => {
  const app = Fastify()
  await app.register(paginationQuery, { cursor: { secrets: [secret] } })
  const schema = { response: { 200: Type.Array(Order) } }
  app.get('/orders', { config: { collection: pagedOrders }, schema }, async () => [])
  app.get('/other-orders', { config: { collection: declare({ name: 'orders' }) }, schema }, async () => [])
  t.throws(
    () => app.get('/third-orders', { config: { collection: declare({ name: 'orders', style: 'cursor' }) }, schema }, async () => []),
    /GET \/third-orders pages "orders" by cursor, GET \/orders by page\. Choose one style \(rule Q7\)/
  )
})

t.test('a list that could grow without pages stops the boot, unless its shortness has a reason [S6] [Q10]', async (t) => {
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
      /GET \/orders answers a list without pages \(rule Q10\)\. Give it config\.collection/,
      JSON.stringify(response)
    )
  }
  const app = Fastify()
  app.addSchema(shared)
  app.addSchema({ $id: 'Circle', anyOf: [{ $ref: 'Circle#' }, { type: 'string' }] })
  await app.register(paginationQuery)
  t.throws(() => app.get('/shared', { schema: { response: { 200: { $ref: 'Shared#' } } } }, async () => []), /Q10/)
  app.get('/circle', { schema: { response: { 200: { $ref: 'Circle#' } } } }, async () => 'x')

  await boot({}, { config: { operational: true } })
  await boot({}, { config: { waivers: { Q10: 'There are seven days in a week.' } } })
  await t.rejects(boot({}, { config: { waivers: { Q10: ' ' } } }), /Q10/)
  for (const route of [
    { method: 'POST' },
    { schema: {} },
    { schema: { response: { 200: Order } } },
    { schema: { response: { 404: list } } },
    { schema: { response: { 200: { content: { 'text/csv': { schema: list } } } } } }
  ] as const)
    await boot({}, route)
})

t.test('a handler answers with a page of its own collection, and nothing else', async (t) => {
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
    /GET \/bare answered without a page\. Return reply\.page/,
    /GET \/wrong serves "orders", not "cursor-orders"/,
    /The page of "orders" has no total/,
    /GET \/item has no collection/
  ])
  t.equal((await app.inject('/gone')).statusCode, 304)
})
