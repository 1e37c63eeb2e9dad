import paginationQuery, { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { isApiError } from '@concordat/plugin-kit/api-error'
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import { cursorOrders, get, Order, ordersApp, pagedOrders, rows, secret } from './orders.ts'

const declaration = { name: 'things', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] }, count: 'none' } as const
const things = collection<{ id: string; name: string }>({
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'string' }, name: { type: 'string' } }
})(declaration)
const thing = { id: 'a', name: 'A', secret: 'x' }
const item = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' }, name: { type: 'string' } } }

/** Returns the bodies with which a route with this response schema responds to the queries. */
async function responsesOf(
  response: unknown,
  queries: readonly string[],
  shared: readonly object[] = [],
  row: { id: string; name: string } = thing
) {
  const app = Fastify()
  for (const schema of shared) app.addSchema(schema)
  await app.register(paginationQuery)
  const before = JSON.stringify(response)
  app.get(
    '/things',
    { config: { collection: things }, schema: { response: response as Record<string, unknown> } },
    async (request, reply) => {
      request.listQuery(things)
      return reply.page({ rows: [row], first: ['a'], last: ['a'], hasMore: false, total: undefined })
    }
  )
  const responses = await Promise.all(queries.map((query) => app.inject(`/things${query}`)))
  t.equal(JSON.stringify(response), before, 'does not change the schema of the author')
  return responses.map((received) => received.json())
}

t.test('serializes rows with selected fields for every place of the item schema [Q4] [F9]', async (t) => {
  const queries = ['', '?fields=name', '?fields=id'] as const
  const expected = [[{ id: 'a', name: 'A' }], [{ id: 'a', name: 'A' }], [{ id: 'a' }]]
  const list = { type: 'array', items: item }
  const base = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  const named = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  for (const [title, response, shared] of [
    ['in place', { 200: list }],
    ['for all successes', { '2xx': list }],
    [
      'by media type',
      { 200: { description: 'x', content: { 'application/json': { schema: list }, 'text/csv': { schema: { type: 'string' } } } } }
    ],
    ['a shared item', { 200: { type: 'array', items: { $ref: 'Thing#' } } }, [{ $id: 'Thing', ...item }]],
    ['a shared item without #', { 200: { type: 'array', items: { $ref: 'Thing' } } }, [{ $id: 'Thing', ...item }]],
    ['a shared list', { 200: { $ref: 'Things#' } }, [{ $id: 'Things', ...list }]],
    [
      'a shared list of shared items',
      { 200: { $ref: 'Things#' } },
      [
        { $id: 'Thing', ...item },
        { $id: 'Things', type: 'array', items: { $ref: 'Thing#' } }
      ]
    ],
    [
      'a definition of a shared document',
      { 200: { type: 'array', items: { $ref: 'All#/$defs/Thing' } } },
      [{ $id: 'All', type: 'object', $defs: { Thing: item } }]
    ],
    [
      'a list that a shared document defines',
      { 200: { $ref: 'All#/$defs/Things' } },
      [{ $id: 'All', type: 'object', $defs: { Things: list } }]
    ],
    ['a definition in place', { 200: { type: 'array', items: { $ref: '#/definitions/Thing' }, definitions: { Thing: item } } }],
    ['an intersection', { 200: { type: 'array', items: { allOf: [base, named] } } }],
    [
      'an intersection of shared schemas',
      { 200: { type: 'array', items: { allOf: [{ $ref: 'Base#' }, named] } } },
      [{ $id: 'Base', ...base }]
    ],
    [
      'a union',
      { 200: { type: 'array', items: { anyOf: [{ ...base, properties: { ...base.properties, kind: { const: 'x' } } }, item] } } }
    ],
    ['TypeBox', { 200: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })) }],
    [
      'a TypeBox intersection',
      { 200: Type.Array(Type.Intersect([Type.Object({ id: Type.String() }), Type.Object({ name: Type.String() })])) }
    ]
  ] as [string, unknown, object[]?][])
    t.strictSame(await responsesOf(response, queries, shared), expected, title)
})

t.test('serializes rows with selected fields for recursive schemas', async (t) => {
  const row = { ...thing, children: [{ id: 'b', name: 'B', children: [] }] }
  const expected = [[{ id: 'a', name: 'A', children: [{ id: 'b', name: 'B', children: [] }] }], [{ id: 'a' }]]
  const Node: TSchema = Type.Recursive((This) => Type.Object({ id: Type.String(), name: Type.String(), children: Type.Array(This) }), {
    $id: 'Node'
  })
  const own = { ...item, properties: { ...item.properties, children: { type: 'array', items: { $ref: '#' } } } }
  const defined = { ...item, properties: { ...item.properties, children: { type: 'array', items: { $ref: '#/definitions/Node' } } } }
  for (const [title, response, shared] of [
    ['by its id', { 200: Type.Array(Node) }],
    ['as a shared schema', { 200: { type: 'array', items: { $ref: 'Tree#' } } }, [{ $id: 'Tree', ...own }]],
    ['as a definition', { 200: { type: 'array', items: { $ref: '#/definitions/Node' }, definitions: { Node: defined } } }]
  ] as [string, unknown, object[]?][]) {
    const collected = collection({ ...item, properties: { ...item.properties, children: { type: 'array' } } })(declaration as never)
    const app = Fastify()
    for (const schema of shared ?? []) app.addSchema(schema)
    await app.register(paginationQuery)
    app.get(
      '/nodes',
      { config: { collection: collected }, schema: { response: response as Record<string, unknown> } },
      async (_request, reply) => reply.page({ rows: [row], first: ['a'], last: ['a'], hasMore: false, total: undefined })
    )
    t.strictSame([(await app.inject('/nodes')).json(), (await app.inject('/nodes?fields=id')).json()], expected, title)
  }
})

t.test('returns the fields of all branches of a union without its discriminating field', async (t) => {
  const Pet = Type.Union([
    Type.Object({ id: Type.String(), kind: Type.Literal('cat'), lives: Type.Integer() }),
    Type.Object({ id: Type.String(), kind: Type.Literal('dog'), barks: Type.Boolean() })
  ])
  const pets = collection(Pet)({ ...declaration, name: 'pets', filter: { kind: ['eq'] } })
  const app = Fastify()
  await app.register(paginationQuery)
  const animals = [
    { id: 'a', kind: 'cat', lives: 7 },
    { id: 'b', kind: 'dog', barks: true }
  ] as const
  app.get('/pets', { config: { collection: pets }, schema: { response: { 200: Type.Array(Pet) } } }, async (request, reply) =>
    reply.page(runArray(animals, request.listQuery(pets)))
  )
  t.strictSame((await app.inject('/pets')).json(), animals)
  t.strictSame((await app.inject('/pets?fields=barks')).json(), [{ id: 'a' }, { id: 'b', barks: true }])
  t.equal((await app.inject('/pets?kind=bird')).statusCode, 422)
})

t.test('also selects the fields of rows that a handler transforms', async (t) => {
  const app = await ordersApp()
  const Priced = Type.Object({ ...Order.properties, total: Type.Object({ amount: Type.String(), currency: Type.String() }) })
  app.get('/v2', { config: { collection: pagedOrders }, schema: { response: { 200: Type.Array(Priced) } } }, async (request, reply) => {
    const page = runArray(rows, request.listQuery(pagedOrders))
    return reply.page({ ...page, rows: page.rows.map((row) => ({ ...row, total: { amount: row.total, currency: 'EUR' } })) })
  })
  t.strictSame(
    (await get(app, '/v2?fields=total&sort=-total&total[gte]=4&perPage=1')).rows.map(({ total }) => total as unknown),
    [{ amount: '4.50', currency: 'EUR' }]
  )
  t.strictSame((await get(app, '/v2?fields=id&perPage=1')).rows.map(Object.keys), [['id']])
})

t.test('omits nulls that the schema does not allow, and returns 500 for a row without a required field [F3]', async (t) => {
  const Row = Type.Object({
    id: Type.String(),
    name: Type.String(),
    note: Type.Optional(Type.String()),
    size: Type.Optional(Type.Integer()),
    end: Type.Union([Type.String(), Type.Null()]),
    any: Type.Optional(Type.Unknown()),
    old: Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true }))
  })
  const nullable = collection(Row)({ ...declaration, name: 'rows' })
  let row: unknown
  const app = Fastify()
  await app.register(paginationQuery)
  app.get('/rows', { config: { collection: nullable }, schema: { response: { 200: Type.Array(Row) } } }, async (_request, reply) =>
    reply.page({ rows: [row], first: ['a'], last: ['a'], hasMore: false, total: undefined })
  )
  row = { id: 'a', name: '', note: null, size: null, end: null, any: null, old: null }
  t.strictSame((await app.inject('/rows')).json(), [{ id: 'a', name: '', end: null, any: null, old: null }])
  row = { id: 'a', name: null, end: null }
  t.equal((await app.inject('/rows')).statusCode, 500)
  t.equal((await app.inject('/rows?fields=end')).statusCode, 200)
  row = { id: 'a', name: 'A' }
  t.match((await app.inject('/rows')).json().message, /: a row has undefined in "end"/)
})

// A decimal as libraries represent it.
function digits(value: string) {
  return { toFixed: () => value, toString: () => value }
}

t.test('writes every digit of a number, and returns 500 for a number that JSON would round', async (t) => {
  const cases: [schema: object, written: [value: unknown, json: string][], refused: unknown[]][] = [
    [
      { type: 'integer' },
      [
        [7, '7'],
        ['7', '7'],
        ['-12.00', '-12'],
        ['9007199254740991', '9007199254740991'],
        ['9007199254740993', '9007199254740993'],
        [-9223372036854775808n, '-9223372036854775808'],
        ['123456789012345678901234567890', '123456789012345678901234567890'],
        ['1.6777216e+07', '16777216']
      ],
      [9007199254740992, 5.5, '5.5', '1e-3', '1e+400', Number.NaN, Number.POSITIVE_INFINITY, 'seven', true]
    ],
    [
      { type: ['number', 'null'] },
      [
        [0.1, '0.1'],
        ['1.10', '1.1'],
        ['-0.30000000000000004', '-0.30000000000000004'],
        ['100000000000000000000', '100000000000000000000'],
        ['1.5e-07', '1.5e-7'],
        [digits('3.5'), '3.5'],
        [12n, '12'],
        [null, 'null']
      ],
      [
        '0.10000000000000001',
        '12345678901234567890.12',
        9007199254740993n,
        'NaN',
        'Infinity',
        Number.NEGATIVE_INFINITY,
        digits('1.00000000000000000001')
      ]
    ],
    [{ type: 'string', format: 'int64' }, [['9007199254740993', '"9007199254740993"']], []],
    [{ type: 'string', format: 'decimal' }, [['12345678901234567890.12', '"12345678901234567890.12"']], []]
  ]
  for (const [schema, written, refused] of cases) {
    const Row = { type: 'object', required: ['id', 'size'], properties: { id: { type: 'string' }, size: schema } }
    const sized = collection<{ id: string; size: unknown }>(Row)({ ...declaration, name: 'sized' })
    let size: unknown
    const app = Fastify()
    await app.register(paginationQuery)
    app.get('/sized', { config: { collection: sized }, schema: { response: { 200: { type: 'array', items: Row } } } }, async (_, reply) =>
      reply.page({ rows: [{ id: 'a', size }], first: ['a'], last: ['a'], hasMore: false, total: undefined })
    )
    for (const [value, json] of written) {
      size = value
      t.equal((await app.inject('/sized')).body, `[{"id":"a","size":${json}}]`)
      t.equal((await app.inject('/sized?fields=size')).body, `[{"id":"a","size":${json}}]`)
    }
    for (const value of refused) {
      size = value
      const response = await app.inject('/sized')
      t.equal(response.statusCode, 500, String(value))
      t.match(response.json().message, /^pagination-query: a row has .+ in "size", which is not exact .*Declare the field as a string/)
      t.equal((await app.inject('/sized?fields=id')).statusCode, 200)
    }
  }
})

t.test('returns 500 for a date or a time that RFC 3339 cannot express, and names the row and the field', async (t) => {
  for (const format of ['date', 'date-time'] as const)
    for (const type of ['string', ['string', 'null']] as const) {
      const Row = { type: 'object', required: ['id', 'until'], properties: { id: { type: 'string' }, until: { type, format } } }
      const offers = collection<{ id: string; until: string }>(Row)({ ...declaration, name: 'offers' })
      const time = format === 'date' ? '' : 'T00:00:00Z'
      const values = [`0001-01-01${time}`, `9999-12-31${time}`, 'infinity', '-infinity', `0044-03-15${time} BC`, `10000-01-01${time}`]
      let until = ''
      const app = Fastify()
      await app.register(paginationQuery)
      app.get(
        '/offers',
        { config: { collection: offers }, schema: { response: { 200: { type: 'array', items: Row } } } },
        async (_, reply) => reply.page({ rows: [{ id: 'a', until }], first: ['a'], last: ['a'], hasMore: false, total: undefined })
      )
      for (const [index, value] of values.entries()) {
        until = value
        const response = await app.inject('/offers')
        if (index < 2) t.match(response.body, JSON.stringify(value))
        else
          t.match(response.json(), {
            statusCode: 500,
            message: `pagination-query: the row of "offers" with id "a" has ${value} in "until", which the format "${format}" cannot express.`
          })
        t.equal((await app.inject('/offers?fields=id')).statusCode, 200)
      }
    }
})

t.test('returns 500 for a sort key with another type than its column, instead of a cursor that is refused', async (t) => {
  const Row = {
    type: 'object',
    required: ['id', 'at'],
    properties: { id: { type: 'string', maxLength: 9 }, at: { type: 'string', format: 'date' } }
  }
  const dated = collection<{ id: string; at?: string }>(Row)({
    ...declaration,
    style: 'cursor',
    name: 'dated',
    sort: { keys: ['at', 'id'] }
  })
  for (const at of ['2026-01-01T10:00:00', 'tomorrow', null]) {
    const app = Fastify()
    await app.register(paginationQuery, { cursor: { secrets: [secret] } })
    app.get('/dated', { config: { collection: dated }, schema: { response: { 200: { type: 'array', items: Row } } } }, async (_, reply) =>
      reply.page({ rows: [{ id: 'a' }], first: [at, 'a'], last: [at, 'a'], hasMore: true, total: undefined })
    )
    const response = await app.inject('/dated?sort=at&fields=id')
    t.equal(response.statusCode, 500)
    t.equal(
      response.json().message,
      `pagination-query: a row of "dated" has a sort key that does not fit its schema: ${at} in "at" (date), a in "id" (string). Declare the type that the column has.`
    )
  }
})

t.test('serializes the errors with the default error handler of Fastify, and passes them complete to a custom handler', async (t) => {
  const app = Fastify()
  await app.register(paginationQuery)
  app.get('/orders', { config: { collection: pagedOrders }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) =>
    reply.page(runArray(rows, request.listQuery(pagedOrders)))
  )
  const received = await app.inject('/orders?total[gte]=x&colour=red')
  t.strictSame(received.json(), {
    statusCode: 422,
    code: 'INVALID_QUERY_PARAMETERS',
    error: 'Unprocessable Entity',
    message: 'These query parameters are invalid: colour, total[gte]. Fix the parameters listed in `errors`.'
  })
  const errors: unknown[] = []
  const watched = await ordersApp()
  watched.addHook('onError', async (_request, _reply, error) => {
    if (isApiError(error)) errors.push(error.errors, error.params)
  })
  await get(watched, '/paged?perPage=0')
  t.strictSame(errors, [
    [
      {
        field: 'query.perPage',
        key: 'notBetween',
        params: { min: 1, max: 100 },
        message: 'must be an integer between 1 and 100, written in digits'
      }
    ],
    { parameters: 'perPage' }
  ])
})

t.test('parses a repeated query once, and forgets it after 500 others', async (t) => {
  const app = await ordersApp()
  // The query is frozen, because otherwise a handler could change it for the next request.
  const frozen: boolean[] = []
  app.addHook('preHandler', async (request) => {
    const query = request.listQuery(cursorOrders)
    frozen.push([query, query.conditions, query.conditions[0], query.order, query.fields, query.ranges].every(Object.isFrozen))
  })
  for (let count = 0; count < 3; count += 1) await get(app, '/orders?status=paid')
  t.strictSame(frozen.slice(1), [true, true])
  for (let number = 0; number < 1000; number += 1) await get(app, `/orders?quantity=${number % 500}&fields=id`)
  frozen.length = 0
  for (let count = 0; count < 3; count += 1) await get(app, '/orders?status=paid')
  t.strictSame(frozen, [false, true, true])
})
