import errorCatalogue, { type ErrorCatalogueOptions, errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { Type as Old } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { Type } from 'typebox'

type Part = 'body' | 'querystring' | 'params' | 'headers'

async function service(options: ErrorCatalogueOptions = {}, server: FastifyServerOptions = {}): Promise<FastifyInstance> {
  const app = Fastify({ ...errorCatalogueServerOptions(), ...server })
  await app.register(errorCatalogue, options)
  return app
}

/** Returns a function that sends a body to a route with this schema. It returns the body or the field errors as "field: message". */
async function bodies(schema: unknown, prepare?: (app: FastifyInstance) => void, server?: FastifyServerOptions) {
  const app = await service({}, server)
  prepare?.(app)
  app.post('/', { schema: { body: schema } }, async (request) => ({ got: request.body }))
  return (payload: unknown) => call(app, { body: payload })
}

async function call(
  app: FastifyInstance,
  { body = {}, url = '/', headers = {} }: { body?: unknown; url?: string; headers?: Record<string, string> }
) {
  const response = await app.inject({
    method: 'POST',
    url,
    payload: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers }
  })
  const received = response.json()
  if (response.statusCode === 200) return received.got
  return [response.statusCode, ...(received.error.errors ?? []).map(({ field, message }: Record<string, string>) => `${field}: ${message}`)]
}

const Person = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    age: { type: 'integer', minimum: 0 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
    home: { type: 'object', properties: { city: { type: 'string' } } }
  }
}

t.test('does not coerce bodies, and rejects unknown fields [U13]', async (t) => {
  const send = await bodies(Person)
  t.strictSame(await send({ name: 'Ada', age: 7, tags: ['a'], home: { city: 'x' } }), {
    name: 'Ada',
    age: 7,
    tags: ['a'],
    home: { city: 'x' }
  })
  for (const age of ['7', null, true, [7], 7.5, ''])
    t.strictSame(await send({ name: 'Ada', age }), [422, 'body.age: must be of type integer'])
  t.strictSame(await send({ name: 'Ada', tags: null }), [422, 'body.tags: must be of type array'])
  t.strictSame(await send({ name: 'Ada', other: 1, home: { street: 1 } }), [
    422,
    'body.home.street: is not a known field',
    'body.other: is not a known field'
  ])
  t.strictSame(await send([]), [422, 'body: must be of type object'])
})

t.test('lists every invalid field, sorted, with its requirement [X3]', async (t) => {
  const send = await bodies({
    ...Person,
    properties: {
      ...Person.properties,
      kind: { enum: ['a', 'b'] },
      one: { const: 1 },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', pattern: '^[A-Z]+$' },
      odd: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 10, multipleOf: 2 },
      map: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'string' } },
      few: { type: 'array', minItems: 1 },
      low: { type: 'integer', maximum: 3 },
      'a/b~c': { type: 'string' },
      not: { not: { type: 'string' } }
    },
    dependentRequired: { kind: ['age'] }
  })
  t.strictSame(
    await send({
      tags: ['x', 'x', 'x'],
      kind: 'c',
      one: 2,
      mail: 'x',
      code: 'x',
      odd: 11,
      map: {},
      few: [],
      low: 4,
      'a/b~c': 1,
      not: 'text',
      zzz: 1
    }),
    [
      422,
      'body.a/b~c: must be of type string',
      'body.age: is required',
      'body.code: must match the pattern ^[A-Z]+$',
      'body.few: must have at least 1 item',
      'body.kind: must be one of: a, b',
      'body.low: must be at most 3',
      'body.mail: must have the format email',
      'body.map: must have at least 1 field',
      'body.name: is required',
      'body.not: is invalid',
      'body.odd: must be less than 10',
      'body.odd: must be a multiple of 2',
      'body.one: must be one of: 1',
      'body.tags: must have at most 2 items',
      'body.tags: must not repeat an item',
      'body.zzz: is not a known field'
    ]
  )
  t.strictSame(await send({ name: 'A', odd: 0, map: { a: 1, b: 'x', c: 'y' }, age: -1 }), [
    422,
    'body.age: must be at least 0',
    'body.map: must have at most 2 fields',
    'body.map.a: must be of type string',
    'body.name: must have at least 2 characters',
    'body.odd: must be greater than 0'
  ])
})

t.test('names a field as the client sent it, with slashes, tildes and percent signs', async (t) => {
  const send = await bodies({ type: 'object', additionalProperties: { type: 'integer' } })
  t.strictSame(await send({ 'a/b': 'x', '50%25': 'x', '~1': 'x' }), [
    422,
    'body.50%25: must be of type integer',
    'body.a/b: must be of type integer',
    'body.~1: must be of type integer'
  ])
})

t.test('lists at most 100 fields and truncates long names', async (t) => {
  const send = await bodies({ type: 'array', items: { type: 'integer' } })
  const all = await send(Array.from({ length: 500 }, () => 'x'))
  t.equal(all.length, 101)
  const fields = all.slice(1).map((line: string) => line.split(':')[0])
  t.strictSame(fields, fields.toSorted())
  const named = await (await bodies(Person))({ name: 'Ada', ['\u{1F600}'.repeat(200)]: 1 })
  t.match(named[1], /^body\.\u{1F600}+\ufffd: is not a known field$/u)
  t.equal(named[1].split(':')[0].length, 256)
})

const unknown = (value: unknown) => Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`a${at}`, value]))

t.test('lists the errors that the validator found first, however many unknown fields follow', async (t) => {
  const send = await bodies(Person)
  const cases: Readonly<Record<string, readonly [object, string]>> = {
    'a field of another type': [{ name: 7, ...unknown(1) }, 'body.name: must be of type string'],
    'a missing field': [unknown('x'), 'body.name: is required'],
    'a field out of range': [{ ...unknown({}), name: 'Ada', age: -1 }, 'body.age: must be at least 0'],
    'a field of an object': [{ name: 'Ada', home: { city: 1 }, ...unknown([]) }, 'body.home.city: must be of type string']
  }
  for (const [name, [body, line]] of Object.entries(cases)) {
    const lines = await send(body)
    t.equal(lines.length, 101, name)
    t.ok(lines.includes(line), name)
  }
})

t.test('reports only the first error of a very large body', async (t) => {
  const send = await bodies({ type: 'array', maxItems: 20_000, items: { anyOf: [Person, { type: 'integer' }] } })
  const fields = await send(Array.from({ length: 20_000 }, () => ({})))
  t.strictSame(fields, [422, 'body.0.name: is required'])
  t.strictSame((await send(Array.from({ length: 900 }, () => ({})))).length, 101)
})

t.test('adds defaults', async (t) => {
  const send = await bodies({
    type: 'object',
    properties: { page: { type: 'integer', default: 1 }, deep: { type: 'object', default: {}, properties: { a: { default: 'x' } } } }
  })
  t.strictSame(await send({}), { page: 1, deep: { a: 'x' } })
})

const got = async (request: { body: unknown }) => ({ got: request.body })

const Thing = {
  type: 'object',
  properties: {
    status: { type: 'string', default: 'active' },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, color: { type: 'string', default: 'red' } } } },
    address: { type: 'object', properties: { city: { type: 'string' }, country: { type: 'string', default: 'DE' } } },
    owner: { $ref: 'Owner#' }
  }
}
const Owner = { $id: 'Owner', type: 'object', properties: { name: { type: 'string' }, role: { type: 'string', default: 'member' } } }

t.test(
  'the body of a PATCH reaches the handler without defaults, at any depth, and with every member that the client sent [M5]',
  async (t) => {
    const app = await service()
    app.addSchema(Owner)
    app.patch('/only', { schema: { body: Thing } }, got)
    app.post('/only', { schema: { body: Thing } }, got)
    app.route({ method: ['PUT', 'PATCH', 'POST'], url: '/several', schema: { body: Thing }, handler: got })
    app.patch('/reference', { schema: { body: { $ref: 'Owner#' } } }, got)
    app.patch('/merge', { schema: { body: { content: { 'application/merge-patch+json': { schema: Thing } } } } }, got)
    app.patch('/open', got)
    const send = async (method: 'PATCH' | 'POST' | 'PUT', url: string, payload: object, type = 'application/json') =>
      (await app.inject({ method, url, payload: JSON.stringify(payload), headers: { 'content-type': type } })).json()
    const sent = [
      {},
      { tags: [{ name: 'a' }] },
      { address: { city: 'Bonn' }, owner: {} },
      { status: 'archived', address: { country: 'FR' } }
    ]
    for (const payload of sent) {
      for (const url of ['/only', '/several', '/open']) t.strictSame((await send('PATCH', url, payload)).got, payload, url)
      t.strictSame((await send('PATCH', '/merge', payload, 'application/merge-patch+json')).got, payload)
    }
    t.strictSame((await send('PATCH', '/reference', { name: 'Ada' })).got, { name: 'Ada' })
    const complete = { status: 'active', address: { city: 'Bonn', country: 'DE' } }
    t.strictSame((await send('POST', '/only', { address: { city: 'Bonn' } })).got, complete)
    for (const method of ['POST', 'PUT'] as const)
      t.strictSame((await send(method, '/several', { address: { city: 'Bonn' } })).got, complete)
    for (const url of ['/only', '/several'])
      t.strictSame((await send('PATCH', url, { status: 7, x: 1 })).error.errors, [
        { field: 'body.status', message: 'must be of type string' },
        { field: 'body.x', message: 'is not a known field' }
      ])
    t.match((await send('PATCH', '/several', [])).error.errors, [{ field: 'body', message: 'must be of type object' }])
  }
)

t.test('a PATCH gets the defaults of its query', async (t) => {
  const app = await service()
  const querystring = { type: 'object', properties: { dryRun: { type: 'boolean', default: false } } }
  app.patch('/', { schema: { querystring, body: Thing } }, async (request) => request.query)
  app.addSchema(Owner)
  t.strictSame((await app.inject({ method: 'PATCH', url: '/', payload: {} })).json(), { dryRun: false })
})

t.test('coerces query, path and headers; rejects unknown query parameters, but not unknown headers', async (t) => {
  const app = await service()
  const number = { type: 'object', properties: { n: { type: 'integer' }, list: { type: 'array', items: { type: 'string' } } } }
  app.post(
    '/:n',
    { schema: { params: number, querystring: number, headers: { type: 'object', properties: { 'X-N': { type: 'integer' } } } } },
    async (request) => ({
      got: [request.params, request.query, request.headers['x-n']]
    })
  )
  t.strictSame(await call(app, { url: '/7?n=8&list=a', headers: { 'x-n': '9', 'x-other': '1' } }), [{ n: 7 }, { n: 8, list: ['a'] }, 9])
  t.strictSame(await call(app, { url: '/7?n=x&m=1&m=2' }), [422, 'query.m: is not a known field', 'query.n: must be of type integer'])
  t.strictSame(await call(app, { url: '/7', headers: { 'x-n': 'x' } }), [422, 'header.x-n: must be of type integer'])
})

t.test('responds with 400 that names a missing header, and with 404 for an invalid path parameter', async (t) => {
  const app = await service()
  const schema = {
    params: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
    headers: {
      type: 'object',
      required: ['X-Tenant'],
      properties: {},
      allOf: [{ required: ['x-n'], properties: { 'X-N': { type: 'integer' } } }, true]
    }
  }
  app.post('/:id', { schema }, async () => ({ got: 'fine' }))
  const id = '0197c9a0-7e5e-7c3f-8f5e-2f6f3f0b4b1a'
  t.strictSame(await call(app, { url: '/17' }), [404])
  t.strictSame(await call(app, { url: `/${id}` }), [400, 'header.x-n: is required', 'header.x-tenant: is required'])
  t.strictSame(await call(app, { url: `/${id}`, headers: { 'x-tenant': 'a', 'x-n': '1' } }), 'fine')
  const missing = await app.inject({ method: 'POST', url: `/${id}`, payload: {} })
  t.match(missing.json().error, { error: 'Bad Request', code: 'MALFORMED_REQUEST' })
})

t.test('a route can set the error code of its 422, which must be in the catalogue', async (t) => {
  const orders = defineErrors({
    INVALID_ORDER: { statusCode: 422, message: { en: 'Not valid.', es: 'No válido.' }, remedy: 'Fix it.' },
    GONE_ORDER: { statusCode: 410, message: { en: 'Gone.', es: 'Ya no está.' }, remedy: 'Forget it.' }
  })
  const app = await service({ include: [orders] })
  app.post('/', { config: { validationCode: 'INVALID_ORDER' }, schema: { body: Person } }, async () => 'fine')
  t.match((await app.inject({ method: 'POST', url: '/', payload: {} })).json().error, {
    status: 422,
    error: 'ValidationError',
    code: 'INVALID_ORDER',
    message: 'Not valid.',
    errors: [{ field: 'body.name', message: 'is required' }]
  })
  for (const validationCode of ['INVALID_THING', 'GONE_ORDER', 'toString']) {
    const app = await service({ include: [orders] })
    app.post('/x', { config: { validationCode } }, async () => 'fine')
    await t.rejects(async () => app.ready(), /^error-catalogue: POST \/x has config\.validationCode \w+, which is not a 422/)
  }
})

t.test('reports the fault that a condition or a rule for names finds, and not the condition or rule', async (t) => {
  const send = await bodies({
    type: 'object',
    properties: {
      kind: { type: 'string' },
      vat: { type: 'string' },
      map: { type: 'object', propertyNames: { pattern: '^[a-z]+$' }, additionalProperties: true }
    },
    if: { properties: { kind: { const: 'firm' } }, required: ['kind'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ['vat'] },
    else: { properties: { vat: false } }
  })
  t.strictSame(await send({ kind: 'firm' }), [422, 'body.vat: is required'])
  t.strictSame(await send({ kind: 'person', vat: 'x' }), [422, 'body.vat: is not a known field'])
  t.strictSame(await send({ map: { a: 1, B: 2, C: 3 } }), [422, 'body.map.B: is not a known field', 'body.map.C: is not a known field'])
})

const share = (app: FastifyInstance) => {
  app.addSchema({ $id: 'Address', type: 'object', required: ['city'], properties: { city: { type: 'string' } } })
  app.addSchema({ $id: 'Both', allOf: [{ $ref: 'Address#' }, { type: 'object', properties: { zip: { type: 'string' } } }] })
  app.addSchema({ $id: 'Open', type: 'object', properties: { a: {} }, additionalProperties: true })
  app.addSchema({ $id: 'Node', type: 'object', required: ['v'], properties: { v: { type: 'string' }, next: { $ref: 'Node#' } } })
}

t.test('closes shared, intersected, recursive, tuple and record schemas only at the top level of each value', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      ref: { $ref: 'Address#' },
      both: { $ref: 'Both#' },
      open: { $ref: 'Open#' },
      free: { type: 'object' },
      node: { $ref: 'Node#' },
      tuple: { type: 'array', items: [{ type: 'object', properties: { a: {} } }, { $ref: 'Address#' }], additionalItems: false },
      rest: { type: 'array', items: [{ type: 'string' }], unevaluatedItems: { type: 'object', properties: { a: {} } } },
      record: { type: 'object', patternProperties: { '^x-': { type: 'object', properties: { a: {} } } } },
      map: { type: 'object', additionalProperties: { $ref: 'Address#' } },
      inline: { $id: 'Address', type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    }
  }
  const send = await bodies(schema, share)
  const fine = {
    ref: { city: 'x' },
    both: { city: 'x', zip: 'y' },
    open: { a: 1, b: 2 },
    free: { any: { thing: 1 } },
    node: { v: '1', next: { v: '2' } },
    tuple: [{ a: 1 }, { city: 'x' }],
    rest: ['x', { a: 1 }],
    record: { 'x-a': { a: 1 } },
    map: { home: { city: 'x' } },
    inline: { city: 'x' }
  }
  t.strictSame(await send(fine), fine)
  const e = 'is not a known field'
  t.strictSame(await send({ ref: { city: 'x', u: 1 } }), [422, `body.ref.u: ${e}`])
  t.strictSame(await send({ both: { city: 'x', zip: 'y', u: 1 } }), [422, `body.both.u: ${e}`])
  t.strictSame(await send({ tuple: [{ u: 1 }, { city: 'x', w: 1 }] }), [422, `body.tuple.0.u: ${e}`, `body.tuple.1.w: ${e}`])
  t.strictSame(await send({ rest: ['x', { u: 1 }] }), [422, `body.rest.1.u: ${e}`])
  t.strictSame(await send({ record: { y: 1, 'x-a': { u: 1 } } }), [422, `body.record.x-a.u: ${e}`, `body.record.y: ${e}`])
  t.strictSame(await send({ map: { home: { city: 'x', u: 1 } } }), [422, `body.map.home.u: ${e}`])
  t.strictSame(await send({ inline: { city: 'x', u: 1 } }), [422, `body.inline.u: ${e}`])
  t.strictSame(await send({ ref: { city: 7, u: 1 } }), [422, 'body.ref.city: must be of type string', `body.ref.u: ${e}`])
  t.strictSame(await send({ node: { v: '1', next: { v: '2', u: 1 } } }), [422, `body.node.next.u: ${e}`])
  t.strictSame(
    await send({ node: { v: '1', next: { v: 7 } } }),
    [422, 'body.node.next.v: must be of type string'],
    'a valid field is not reported as unknown'
  )
})

t.test('a shared schema rejects unknown fields when it is the whole body', async (t) => {
  const shared = { $id: 'Order', type: 'object', properties: { a: { type: 'string' } } }
  for (const schema of [shared, { $ref: 'Order#' }]) {
    const send = await bodies(schema, (app) => app.addSchema(shared))
    t.strictSame(await send({ a: 'x' }), { a: 'x' })
    t.strictSame(await send({ a: 'x', u: 1 }), [422, 'body.u: is not a known field'])
  }
  const app = await service()
  app.addSchema(shared)
  app.post('/', { schema: { querystring: shared, headers: shared } }, async (request) => ({ got: request.query }))
  t.strictSame(await call(app, { url: '/?a=1' }), { a: '1' })
  t.strictSame(await call(app, { url: '/?u=1' }), [422, 'query.u: is not a known field'])
})

t.test('routes can use the same $id at the top level or nested, even for different schemas', async (t) => {
  const app = await service()
  const address = { $id: 'Address', type: 'object', properties: { city: { type: 'string' } } }
  const node = { $id: 'Node', type: 'object', properties: { v: { type: 'string' }, next: { $ref: 'Node' } } }
  const other = { $id: 'Address', type: 'object', properties: { city: { type: 'integer' } } }
  for (const [url, body] of Object.entries({
    '/a': address,
    '/b': address,
    '/c': { type: 'object', properties: { home: address } },
    '/d': { type: 'object', properties: { work: address } },
    '/e': other,
    '/f': node,
    '/g': node
  })) {
    app.post(url, { schema: { body } }, got)
  }
  for (const url of ['/a', '/b'])
    t.strictSame(await call(app, { url, body: { city: 1, u: 1 } }), [
      422,
      'body.city: must be of type string',
      'body.u: is not a known field'
    ])
  t.strictSame(await call(app, { url: '/c', body: { home: { city: 'x', u: 1 } } }), [422, 'body.home.u: is not a known field'])
  t.strictSame(await call(app, { url: '/d', body: { work: { city: 'x' } } }), { work: { city: 'x' } })
  t.strictSame(await call(app, { url: '/e', body: { city: 1 } }), { city: 1 })
  for (const url of ['/f', '/g'])
    t.strictSame(await call(app, { url, body: { next: { next: { u: 1 } } } }), [422, 'body.next.next.u: is not a known field'])
})

t.test('a shared schema and a different schema of a route can have the same $id', async (t) => {
  const app = await service()
  app.addSchema({ $id: 'Thing', type: 'object', properties: { a: { type: 'string' } } })
  app.post('/', { schema: { body: { $id: 'Thing', type: 'object', properties: { a: { type: 'integer' } } } } }, async (request) => ({
    got: request.body
  }))
  t.strictSame(await call(app, { body: { a: 1 } }), { a: 1 })
})

t.test('closes schemas of both generations of TypeBox like other schemas', async (t) => {
  const u = 'is not a known field'
  const OldNode = Old.Recursive((Node) => Old.Object({ v: Old.String(), children: Old.Array(Node) }))
  const OldBody = Old.Object({
    both: Old.Intersect([Old.Object({ a: Old.String() }), Old.Object({ b: Old.Optional(Old.Integer()) })]),
    either: Old.Union([Old.Object({ kind: Old.Literal('x'), x: Old.String() }), Old.Object({ kind: Old.Literal('y'), y: Old.String() })]),
    tuple: Old.Tuple([Old.Object({ a: Old.String() }), Old.Integer()]),
    record: Old.Record(Old.String(), Old.Object({ a: Old.String() })),
    node: OldNode,
    nullable: Old.Union([Old.Object({ a: Old.String() }), Old.Null()])
  })
  const NewBody = Type.Object({
    both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Optional(Type.Integer()) })]),
    either: Type.Union([
      Type.Object({ kind: Type.Literal('x'), x: Type.String() }),
      Type.Object({ kind: Type.Literal('y'), y: Type.String() })
    ]),
    tuple: Type.Tuple([Type.Object({ a: Type.String() }), Type.Integer()]),
    record: Type.Record(Type.String(), Type.Object({ a: Type.String() })),
    node: Type.Cyclic({ Node: Type.Object({ v: Type.String(), children: Type.Array(Type.Ref('Node')) }) }, 'Node'),
    nullable: Type.Union([Type.Object({ a: Type.String() }), Type.Null()])
  })
  for (const schema of [OldBody, NewBody]) {
    const send = await bodies(schema)
    const fine = {
      both: { a: 'x', b: 1 },
      either: { kind: 'y', y: 'y' },
      tuple: [{ a: 'x' }, 1],
      record: { k: { a: 'x' } },
      node: { v: '1', children: [{ v: '2', children: [] }] },
      nullable: null
    }
    t.strictSame(await send(fine), fine)
    t.strictSame(await send({ ...fine, both: { a: 'x', u: 1 } }), [422, `body.both.u: ${u}`])
    t.strictSame(await send({ ...fine, both: { a: 1, b: 'x' } }), [
      422,
      'body.both.a: must be of type string',
      'body.both.b: must be of type integer'
    ])
    t.strictSame(await send({ ...fine, either: { kind: 'y', y: 'y', x: 'x' } }), [422, `body.either.x: ${u}`])
    t.strictSame(await send({ ...fine, tuple: [{ a: 'x', u: 1 }, 1] }), [422, `body.tuple.0.u: ${u}`])
    t.strictSame(await send({ ...fine, record: { k: { a: 'x', u: 1 } } }), [422, `body.record.k.u: ${u}`])
    t.strictSame(await send({ ...fine, nullable: { a: 'x', u: 1 } }), [422, `body.nullable.u: ${u}`])
    t.strictSame(await send({ ...fine, node: { v: '1', children: [{ v: '2', children: [], u: 1 }] } }), [
      422,
      `body.node.children.0.u: ${u}`
    ])
    t.strictSame(await send({ ...fine, node: { v: '1', children: [{ v: 2, children: [] }] } }), [
      422,
      'body.node.children.0.v: must be of type string'
    ])
  }
  t.strictSame(await (await bodies(OldNode))({ v: '1', children: [{ v: '2', children: [], u: 1 }] }), [422, `body.children.0.u: ${u}`])
})

t.test('supports $schema, OpenAPI keywords and boolean schemas', async (t) => {
  for (const $schema of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2019-09/schema']) {
    const send = await bodies({
      $schema,
      type: 'object',
      properties: { a: { type: 'string', nullable: true, example: 'x', 'x-secret': true }, b: true, c: false }
    })
    t.strictSame(await send({ a: null, b: 1 }), { a: null, b: 1 })
    t.strictSame(await send({ c: 1 }), [422, 'body.c: is not a known field'])
  }
  t.strictSame(await (await bodies(false))({}), [422, 'body: is not a known field'])
  t.strictSame(await (await bodies({ anyOf: [false, { type: 'object', properties: { a: {} } }] }))({ a: 1 }), { a: 1 })
})

t.test('a schema that is not JSON Schema is refused, except in production', async (t) => {
  const twice = { type: 'object', required: ['a', 'a'], properties: { a: {} } }
  const { NODE_ENV } = process.env
  t.teardown(() => Object.assign(process.env, { NODE_ENV }))
  const refusal = { message: /data\/required must NOT have duplicate items/ }
  await t.rejects(
    bodies(twice).then((send) => send({})),
    refusal
  )
  process.env['NODE_ENV'] = 'production'
  t.strictSame(await (await bodies(twice))({}), [422, 'body.a: is required'])
})

t.test('contexts of a server share their validators, except a context with its own shared schema', async (t) => {
  let made = 0
  const app = await service({}, { ajv: { plugins: [() => void made++] as never } })
  for (const prefix of ['/a', '/b', '/c']) {
    await app.register(async (child) => {
      child.post(prefix, { schema: { body: Person } }, async (request) => ({ got: request.body }))
    })
  }
  const wrong = async (url: string) => t.strictSame(await call(app, { url, body: { name: 7 } }), [422, 'body.name: must be of type string'])
  await app.ready()
  const ofAll = made
  for (const url of ['/a', '/b', '/c']) await wrong(url)
  t.ok(ofAll > 0)
  t.equal(made, ofAll + 1, 'the validator that finds all errors is created once')

  const other = await service()
  await other.register(async (child) => {
    child.addSchema({ $id: 'Own', type: 'string' })
    child.post('/own', { schema: { body: { type: 'object', properties: { own: { $ref: 'Own#' } } } } }, async (request) => ({
      got: request.body
    }))
  })
  await other.register(async (child) => {
    child.addSchema({ $id: 'Own', type: 'integer' })
    child.post('/other', { schema: { body: { type: 'object', properties: { own: { $ref: 'Own#' } } } } }, async (request) => ({
      got: request.body
    }))
  })
  t.strictSame(await call(other, { url: '/own', body: { own: 7 } }), [422, 'body.own: must be of type string'])
  t.strictSame(await call(other, { url: '/other', body: { own: 7 } }), { own: 7 })
})

t.test('keeps keywords, formats and plugins of the Fastify option ajv, but not coercion', async (t) => {
  const ajv = {
    customOptions: {
      keywords: ['x-note'],
      formats: { even: (text: string) => text.length % 2 === 0 },
      coerceTypes: true,
      removeAdditional: true
    } as const,
    plugins: [
      (ajv: { addKeyword(name: string): unknown }) => ajv.addKeyword('x-one'),
      [(ajv: { addKeyword(name: string): unknown }, name: string) => ajv.addKeyword(name), 'x-two']
    ]
  } as unknown as NonNullable<FastifyServerOptions['ajv']>
  const send = await bodies(
    { type: 'object', properties: { a: { type: 'string', format: 'even', 'x-note': 1, 'x-one': 1, 'x-two': 1 } } },
    undefined,
    { ajv }
  )
  t.strictSame(await send({ a: 'ab' }), { a: 'ab' })
  t.strictSame(await send({ a: 'abc', b: 1 }), [422, 'body.a: must have the format even', 'body.b: is not a known field'])
  t.strictSame(await send({ a: 7 }), [422, 'body.a: must be of type string'])
})

t.test('awaits an asynchronous schema and lists its errors', async (t) => {
  const ajv = {
    customOptions: { keywords: [{ keyword: 'taken', async: true, validate: async (_schema: unknown, value: string) => value !== 'taken' }] }
  } as unknown as NonNullable<FastifyServerOptions['ajv']>
  const send = await bodies({ $async: true, type: 'object', properties: { name: { type: 'string', taken: true } } }, undefined, { ajv })
  t.strictSame(await send({ name: 'free' }), { name: 'free' })
  t.strictSame(await send({ name: 'taken' }), [422, 'body.name: is invalid'])
  t.strictSame(await send({ name: 7 }), [422, 'body.name: must be of type string'])
})

t.test('responds with 422 and at least the part for another validator, and with 500 when it throws', async (t) => {
  const app = await service()
  const compilers: Readonly<Record<string, (value: unknown) => { error?: Error; value?: unknown }>> = {
    '/error': () => ({ error: new Error('internal detail') }),
    '/list': () => ({
      error: Object.assign(new Error('internal detail'), { validation: [{ instancePath: '/a', message: 'internal detail' }, {}] })
    }),
    '/value': (value) => ({ value: { ...(value as object), added: true } }),
    '/throws': () => {
      throw new Error('internal detail')
    }
  }
  for (const [url, validate] of Object.entries(compilers)) {
    app.post(url, { schema: { body: {} }, validatorCompiler: () => validate }, async (request) => ({ got: request.body }))
  }
  t.strictSame(await call(app, { url: '/error' }), [422, 'body: is invalid'])
  t.strictSame(await call(app, { url: '/list' }), [422, 'body: is invalid', 'body.a: is invalid'])
  t.strictSame(await call(app, { url: '/value', body: { a: 1 } }), { a: 1, added: true })
  t.strictSame(await call(app, { url: '/throws' }), [500])
})

t.test('sends the texts of field errors in the language of the client [G1]', async (t) => {
  const app = await service({ locale: () => 'es' })
  app.post('/', { schema: { body: Person } }, async () => 'fine')
  t.strictSame(await call(app, { body: { age: -1, name: 'Ada', u: 1 } }), [
    422,
    'body.age: debe ser al menos 0',
    'body.u: no es un campo conocido'
  ])
})

t.test('a handler that validates manually gets the same two validators', async (t) => {
  const app = await service()
  const tries: readonly (readonly [Part, unknown, boolean])[] = [
    ['body', { n: 1 }, true],
    ['body', { n: '1' }, false],
    ['querystring', { n: '1' }, true],
    ['querystring', { m: '1' }, false],
    ['headers', { n: '1', m: '1' }, true]
  ]
  app.get('/', async (request) => ({
    got: tries.map(([part, value]) =>
      request.compileValidationSchema({ type: 'object', properties: { n: { type: 'integer' } } }, part)(value)
    )
  }))
  t.strictSame(
    (await app.inject('/')).json().got,
    tries.map(([, , fits]) => fits)
  )
})
