import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { Type as Old } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { Type } from 'typebox'

interface Setup {
  readonly part?: 'body' | 'querystring' | 'headers' | 'params'
  readonly shared?: readonly object[]
  readonly locale?: string
  readonly server?: FastifyServerOptions
}

/** Returns a function that sends a value to a route with this schema. It returns "ok", or the field errors as "field: message". */
async function route(schema: unknown, { part = 'body', shared = [], locale = 'en', server = {} }: Setup = {}) {
  const app: FastifyInstance = Fastify({ ...errorCatalogueServerOptions(), ...server })
  await app.register(errorCatalogue, { locale: () => locale })
  for (const one of shared) app.addSchema(one)
  app.post('/:id', { schema: { [part]: schema } }, async () => 'ok')
  return async (payload: object | undefined, url = '/1', headers: Record<string, string> = {}) => {
    const response = await app.inject({ method: 'POST', url, headers, ...(payload && { payload }) })
    if (response.statusCode === 200) return response.body
    const { errors = [] } = response.json().error
    return [response.statusCode, ...errors.map(({ field, message }: Record<string, string>) => `${field}: ${message}`)]
  }
}

const object = (properties: object, required = Object.keys(properties), rest: object = {}) => ({
  type: 'object',
  properties,
  required,
  ...rest
})
const bank = object({ kind: { const: 'bank' }, iban: { type: 'string', minLength: 5 } })
const card = object({ kind: { enum: ['card'] }, number: { type: 'string', minLength: 12 }, holder: object({ name: { type: 'string' } }) })
const cash = object({ kind: { type: 'string', enum: ['notes', 'coins'] }, amount: { type: 'number', minimum: 1 } })
const alternatives = 'must match one of its alternatives: fix the errors of one of them'

const shapes: Readonly<Record<string, readonly [schema: object, setup?: Setup]>> = {
  oneOf: [{ oneOf: [bank, card, cash] }],
  anyOf: [{ anyOf: [bank, card, cash] }],
  'oneOf with the discriminator of OpenAPI': [{ type: 'object', discriminator: { propertyName: 'kind' }, oneOf: [bank, card, cash] }],
  'oneOf with a discriminator that Ajv could evaluate': [
    { type: 'object', discriminator: { propertyName: 'kind' }, required: ['kind'], oneOf: [bank, card, cash] },
    { server: { ajv: { customOptions: { discriminator: true } } } }
  ],
  'branches in $defs': [
    { anyOf: [{ $ref: 'Payment#/$defs/bank' }, { $ref: 'Payment#/$defs/card' }, { $ref: 'Payment#/$defs/cash' }] },
    { shared: [{ $id: 'Payment', $defs: { bank, card, cash } }] }
  ],
  'branches that are shared schemas': [
    { oneOf: [{ $ref: 'bank#' }, { $ref: 'card#' }, cash] },
    {
      shared: [
        { $id: 'bank', ...bank },
        { $id: 'card', ...card }
      ]
    }
  ],
  'branches with a base': [
    {
      oneOf: [{ allOf: [object({ kind: {} }), bank] }, { allOf: [object({ kind: {} }), card] }, { allOf: [object({ kind: {} }), cash] }]
    }
  ],
  'a union inside a union': [{ oneOf: [bank, { anyOf: [card, cash] }] }],
  'a union or null': [{ anyOf: [{ oneOf: [bank, card, cash] }, { type: 'null' }] }],
  'branches that reject unknown members': [{ oneOf: [bank, card, cash].map((branch) => ({ ...branch, additionalProperties: false })) }],
  'TypeBox 0.34': [
    Old.Union([
      Old.Object({ kind: Old.Literal('bank'), iban: Old.String({ minLength: 5 }) }),
      Old.Object({ kind: Old.Literal('card'), number: Old.String({ minLength: 12 }), holder: Old.Object({ name: Old.String() }) }),
      Old.Object({ kind: Old.Union([Old.Literal('notes'), Old.Literal('coins')]), amount: Old.Number({ minimum: 1 }) })
    ])
  ],
  'TypeBox 1': [
    Type.Union([
      Type.Object({ kind: Type.Literal('bank'), iban: Type.String({ minLength: 5 }) }),
      Type.Object({ kind: Type.Literal('card'), number: Type.String({ minLength: 12 }), holder: Type.Object({ name: Type.String() }) }),
      Type.Object({ kind: Type.Enum(['notes', 'coins']), amount: Type.Number({ minimum: 1 }) })
    ])
  ]
}

for (const [name, [schema, setup]] of Object.entries(shapes)) {
  t.test(`${name}: the constant of a member selects the branch whose errors are listed [X3]`, async (t) => {
    const send = await route(object({ payment: schema, more: { type: 'array', items: schema } }, []), setup)
    t.equal(await send({ payment: { kind: 'coins', amount: 1 }, more: [{ kind: 'bank', iban: 'ES123' }] }), 'ok')
    t.strictSame(await send({ payment: { kind: 'bank', iban: 'ES' } }), [422, 'body.payment.iban: must have at least 5 characters'])
    t.strictSame(await send({ payment: { kind: 'card', number: 7, holder: {} } }), [
      422,
      'body.payment.holder.name: is required',
      'body.payment.number: must be of type string'
    ])
    t.strictSame(await send({ payment: { kind: 'notes' } }), [422, 'body.payment.amount: is required'])
    t.strictSame(await send({ more: [{ kind: 'bank' }, { kind: 'coins', amount: 0 }] }), [
      422,
      'body.more.0.iban: is required',
      'body.more.1.amount: must be at least 1'
    ])
    const allowed = 'must be one of: bank, card, notes, coins'
    t.strictSame(await send({ payment: { kind: 'cheque', number: 7 } }), [422, `body.payment.kind: ${allowed}`])
    t.strictSame(await send({ more: [{ kind: 7 }] }), [422, `body.more.0.kind: ${allowed}`])
  })
}

t.test('a missing constant is reported with the values that it can have, in the language of the client [G1]', async (t) => {
  const english = await route({ oneOf: [bank, card, cash] })
  t.strictSame(await english({}), [422, 'body.kind: must be one of: bank, card, notes, coins'])
  t.strictSame(await english({ number: '1' }), [422, 'body.kind: must be one of: bank, card, notes, coins'])
  const spanish = await route({ oneOf: [bank, card] }, { locale: 'es' })
  t.strictSame(await spanish({ kind: 'x' }), [422, 'body.kind: debe ser uno de: bank, card'])
})

t.test('the values of a tag decide, and not other constants or lists of values', async (t) => {
  const first = object({ kind: { const: 'first' }, accepted: { const: true }, level: { enum: [1, 2] } })
  const second = object({ kind: { const: 'second' }, level: { enum: [1, 2] }, size: { enum: ['s', 'm'] } }, ['kind'])
  const send = await route({ oneOf: [first, second] })
  t.strictSame(await send({ kind: 'first', accepted: false, level: 1 }), [422, 'body.accepted: must be one of: true'])
  t.strictSame(await send({ kind: 'first', level: 9 }), [422, 'body.accepted: is required', 'body.level: must be one of: 1, 2'])
  t.strictSame(await send({ kind: 'second', level: 9, size: 'x' }), [
    422,
    'body.level: must be one of: 1, 2',
    'body.size: must be one of: s, m'
  ])
  t.strictSame(await send({ kind: 'third', level: 9 }), [
    422,
    'body.kind: must be one of: first, second',
    'body.level: must be one of: 1, 2'
  ])
  const lists = await route({
    oneOf: [
      object({ kind: { enum: ['a', 'b'] }, level: { enum: [1, 2] } }),
      object({ kind: { enum: ['c', 'd'] }, 'a/b~': { type: 'string' } })
    ]
  })
  t.strictSame(await lists({ kind: 'e', level: 9, 'a/b~': 1 }), [422, 'body.kind: must be one of: a, b, c, d'])
  t.strictSame(await lists({ kind: 'c', 'a/b~': 1 }), [422, 'body.a/b~: must be of type string'])
  const escaped = await route({ oneOf: [object({ 'a/b': { const: 1 } }), object({ 'a/b': { const: 2 } })] })
  t.strictSame(await escaped({}), [422, 'body.a/b: must be one of: 1, 2'])
  t.strictSame(await escaped({ 'a/b': 3 }), [422, 'body.a/b: must be one of: 1, 2'])
})

t.test('several branches with the constant of the value are alternatives, and those without it are left out', async (t) => {
  const send = await route({
    anyOf: [
      object({ kind: { const: 'mail' }, address: { type: 'string' } }),
      object({ kind: { const: 'mail' }, box: { type: 'integer' } }),
      object({ kind: { const: 'push' }, device: { type: 'string' } })
    ]
  })
  t.strictSame(await send({ kind: 'mail' }), [422, `body: ${alternatives}`, 'body.address: is required', 'body.box: is required'])
  const nested = await route({
    oneOf: [
      {
        oneOf: [
          object({ kind: { const: 'a' }, sub: { const: 'x' }, n: { type: 'integer' } }),
          object({ kind: { const: 'a' }, sub: { const: 'y' } })
        ]
      },
      object({ kind: { const: 'b' } })
    ]
  })
  t.strictSame(await nested({ kind: 'a', sub: 'x', n: 'x' }), [422, 'body.n: must be of type integer'])
  t.strictSame(await nested({ kind: 'a', sub: 'z' }), [422, 'body.sub: must be one of: x, y'])
  t.strictSame(await nested({ kind: 'c' }), [422, 'body.kind: must be one of: a, b'])
  t.strictSame(await nested({}), [422, 'body.kind: must be one of: a, b'])
})

t.test('without constants, the errors of every branch of the right type are listed, and one that says so', async (t) => {
  const send = await route(
    object(
      {
        pet: { oneOf: [object({ bark: {} }), object({ purr: {} })] },
        value: {
          anyOf: [{ type: 'integer' }, { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'boolean' }] } }, { const: 'x' }]
        },
        amount: {
          anyOf: [
            { type: 'string', pattern: '^[0-9]+$' },
            { type: 'string', enum: ['all'] }
          ]
        },
        place: { anyOf: [object({ at: object({ zone: { const: 'a' } }) }), object({ at: object({ zone: { enum: ['b', 'c'] } }) })] },
        never: { anyOf: [false, { type: 'string' }] },
        nothing: { anyOf: [false, false] },
        shared: { anyOf: [{ $ref: 'Cat#' }, object({ bark: { type: 'boolean' } })] }
      },
      []
    ),
    { shared: [{ $id: 'Cat', ...object({ purr: { type: 'boolean' } }) }] }
  )
  t.strictSame(await send({ pet: {} }), [422, `body.pet: ${alternatives}`, 'body.pet.bark: is required', 'body.pet.purr: is required'])
  t.strictSame(await send({ value: ['x', true] }), [422, 'body.value.0: must be of type integer, boolean'])
  t.strictSame(await send({ value: {} }), [422, 'body.value: must be of type integer, array, or one of: x'])
  t.strictSame(await send({ amount: 'x' }), [
    422,
    'body.amount: must be one of: all',
    `body.amount: ${alternatives}`,
    'body.amount: must match the pattern ^[0-9]+$'
  ])
  t.strictSame(await send({ amount: 7 }), [422, 'body.amount: must be of type string, or one of: all'])
  t.strictSame(await send({ place: { at: { zone: 'd' } } }), [
    422,
    `body.place: ${alternatives}`,
    'body.place.at.zone: must be one of: a, b, c'
  ])
  t.strictSame(await send({ never: 7, nothing: 7 }), [422, 'body.never: must be of type string', 'body.nothing: is invalid'])
  t.strictSame(await send({ pet: { bark: 1, purr: 1 } }), [
    422,
    'body.pet: must match exactly one of its alternatives, but matches several'
  ])
  t.strictSame(await send({ pet: { bark: 1, other: 1 } }), [422, 'body.pet.other: is not a known field'])
  t.strictSame(await send({ shared: { bark: 'x', more: 1 } }), [
    422,
    `body.shared: ${alternatives}`,
    'body.shared.bark: must be of type boolean',
    'body.shared.purr: is required'
  ])
  const spanish = await route({ oneOf: [object({ a: {} }), object({ b: {} })] }, { locale: 'es' })
  t.strictSame(await spanish({}), [
    422,
    'body: debe cumplir una de sus alternativas: corrija los errores de una de ellas',
    'body.a: es obligatorio',
    'body.b: es obligatorio'
  ])
  t.strictSame(await spanish({ a: 1, b: 1 }), [422, 'body: debe cumplir exactamente una de sus alternativas, pero cumple varias'])
})

t.test('a list of values that only one branch has does not decide', async (t) => {
  const send = await route({ anyOf: [object({ status: { enum: ['open', 'closed'] } }), object({ note: { type: 'string' } })] })
  t.strictSame(await send({ status: 'x' }), [
    422,
    `body: ${alternatives}`,
    'body.note: is required',
    'body.status: must be one of: open, closed'
  ])
})

t.test('literals and types of a union are listed in one error, once each', async (t) => {
  const send = await route(
    object(
      {
        kind: {
          anyOf: [
            { const: 'a', type: 'string' },
            { const: 'b', type: 'string' }
          ]
        },
        nested: { anyOf: [{ anyOf: [{ const: 'a' }, { type: 'integer' }] }, { type: ['integer', 'null'] }, { enum: ['a', 'c'] }] }
      },
      []
    )
  )
  t.strictSame(await send({ kind: 'c', nested: true }), [
    422,
    'body.kind: must be one of: a, b',
    'body.nested: must be of type integer, null, or one of: a, c'
  ])
  t.strictSame(await send({ kind: 7 }), [422, 'body.kind: must be one of: a, b'])
  const spanish = await route({ anyOf: [{ const: 'a' }, { type: 'array' }] }, { locale: 'es' })
  t.strictSame(await spanish({}), [422, 'body: debe ser de tipo array, o uno de: a'])
})

t.test('unions in the query and in headers have the same errors, and one in the path is 404', async (t) => {
  const limit = { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'all' }] }
  const query = await route(object({ limit }, []), { part: 'querystring' })
  t.equal(await query(undefined, '/1?limit=7'), 'ok')
  t.strictSame(await query(undefined, '/1?limit=none'), [422, 'query.limit: must be of type integer, or one of: all'])
  const tagged = await route({ type: 'object', oneOf: [bank, cash] }, { part: 'querystring' })
  t.strictSame(await tagged(undefined, '/1?kind=coins&amount=0'), [422, 'query.amount: must be at least 1'])
  t.strictSame(await tagged(undefined, '/1?kind=x'), [422, 'query.kind: must be one of: bank, notes, coins'])
  const header = await route(object({ 'X-Limit': limit }, []), { part: 'headers' })
  t.strictSame(await header(undefined, '/1', { 'x-limit': 'x' }), [422, 'header.x-limit: must be of type integer, or one of: all'])
  const path = await route(object({ id: limit }), { part: 'params' })
  t.strictSame(await path(undefined, '/some'), [404])
})

t.test('the errors of a union that contains itself are found in values of any depth and size', async (t) => {
  const operation = (op: string, members: object) => object({ ...members, op: { const: op } }, ['op'])
  const send = await route({
    ...object({ filter: { $ref: '#/definitions/Filter' } }),
    definitions: {
      Filter: {
        oneOf: [
          operation('not', { of: { $ref: '#/definitions/Filter' } }),
          operation('all', { of: { type: 'array', items: { $ref: '#/definitions/Filter' } } }),
          operation('maybe', { of: { $ref: '#/definitions/Filter' } }),
          operation('equals', { field: { type: 'string' } })
        ]
      }
    }
  })
  const deep = (leaf: object, depth: number): object => (depth === 0 ? leaf : { op: 'not', of: deep(leaf, depth - 1) })
  t.equal(await send({ filter: deep({ op: 'equals', field: 'x' }, 50) }), 'ok')
  for (const depth of [1, 5, 50]) {
    const [status, error, ...others] = await send({ filter: deep({ op: 'equals', field: 7 }, depth) })
    t.match([status, error, others], [422, /^body\.filter(\.of)*.*: must be of type string$/, []], `depth ${depth}`)
  }
  const unknown = await send({ filter: deep({ op: 'like' }, 20) })
  t.match(unknown, [422, /\.of\.op: must be one of: not, all, maybe, equals$/])
  const wide = { op: 'all', of: Array.from({ length: 1500 }, () => ({ op: 'equals', field: 7 })) }
  t.strictSame(await send({ filter: wide }), [422, 'body.filter.of.0.field: must be of type string'])
})

t.test('in a very large value, the constant selects the branch of the one error too', async (t) => {
  const send = await route({ type: 'array', maxItems: 6001, items: { oneOf: [bank, card, cash] } })
  const payments = Array.from({ length: 6000 }, () => ({ kind: 'bank', iban: 'ES123' }))
  t.strictSame(await send([...payments, { kind: 'card', number: '1' }]), [422, 'body.6000.holder: is required'])
  t.strictSame(await send([...payments, { kind: 'x' }]), [422, 'body.6000.kind: must be one of: bank, card, notes, coins'])
})

t.test('a union with many branches of the right type is only named', async (t) => {
  const send = await route(object({ one: { anyOf: Array.from({ length: 30 }, (_, n) => object({ [`member${n}`]: {} })) } }))
  t.strictSame(await send({ one: {} }), [422, 'body.one: is invalid'])
})

t.test('the errors of another validator have no branches, so a union is only named', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(errorCatalogue)
  const validation = [
    { keyword: 'type', instancePath: '/a', schemaPath: '#/properties/a/anyOf/0/type', params: { type: 'string' } },
    { keyword: 'anyOf', instancePath: '/a', schemaPath: '#/properties/a/anyOf', params: {} }
  ]
  const validatorCompiler = () => () => ({ error: Object.assign(new Error('invalid'), { validation }) })
  app.post('/', { schema: { body: {} }, validatorCompiler }, async () => 'ok')
  const response = await app.inject({ method: 'POST', url: '/', payload: {} })
  t.strictSame(response.json().error.errors, [{ field: 'body.a', message: 'is invalid' }])
})
