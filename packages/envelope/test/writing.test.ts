import envelope from '@concordat/envelope'
import { publish } from '@concordat/plugin-kit/wiring'
import { type TSchema, Type } from '@sinclair/typebox'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'

type Schema = TSchema | Record<string, unknown>

// The envelope is compared with Fastify alone and its compiled serializer.
async function written(schema: Schema) {
  let value: unknown
  const bare = Fastify()
  const own = Fastify()
  await own.register(envelope)
  for (const app of [bare, own]) app.get('/', { schema: { response: { 200: schema } } }, async () => value)
  return async (sent: unknown) => {
    value = sent
    const [expected, response] = await Promise.all([bare.inject('/'), own.inject('/')])
    const data = response.statusCode === 200 ? response.payload.slice('{"data":'.length, response.payload.lastIndexOf(',"_links":[')) : ''
    return { expected: expected.statusCode === 200 ? expected.payload : '', data, status: response.statusCode }
  }
}

const Plain = Type.Object({
  later: Type.Optional(Type.String()),
  'with "quotes"': Type.String(),
  count: Type.Integer(),
  ratio: Type.Optional(Type.Number()),
  on: Type.Boolean(),
  at: Type.String({ format: 'date-time' }),
  day: Type.Optional(Type.String({ format: 'date' })),
  status: Type.Union([Type.Literal('open'), Type.Literal('closed')]),
  kind: Type.Literal('order'),
  unit: Type.Unsafe({ type: 'string', enum: ['kg', 'l'] }),
  note: Type.Union([Type.String(), Type.Null()]),
  rating: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  code: Type.Optional(Type.Unsafe({ type: ['string', 'null'] })),
  place: Type.Optional(Type.Object({ city: Type.String(), zip: Type.Optional(Type.String()) })),
  tags: Type.Array(Type.Object({ name: Type.String() })),
  marks: Type.Optional(Type.Array(Type.Union([Type.Integer(), Type.Null()])))
})

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '"', '\\', '\u2028', '\ud800', '😀', 'a\nb'))
const valid = fc.record(
  {
    later: text,
    'with "quotes"': text,
    count: fc.oneof(fc.maxSafeInteger(), fc.constant(-0)),
    ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
    on: fc.boolean(),
    at: fc.oneof(
      fc.date({ noInvalidDate: true }),
      // RFC 3339 has no other years, and no text with one is sent.
      fc.date({ noInvalidDate: true, min: new Date('0001-01-01Z'), max: new Date('9999-12-31Z') }).map((date) => date.toISOString())
    ),
    day: fc.constantFrom('2026-01-01'),
    status: fc.constantFrom('open', 'closed'),
    kind: fc.constant('order'),
    unit: fc.constantFrom('kg', 'l'),
    note: fc.option(text),
    rating: fc.option(fc.integer()),
    code: fc.option(text),
    place: fc.record({ city: text, zip: text, secret: text }, { requiredKeys: ['city'] }),
    tags: fc.array(fc.record({ name: text, secret: text })),
    marks: fc.array(fc.option(fc.integer())),
    undeclared: fc.anything()
  },
  { requiredKeys: ['with "quotes"', 'count', 'on', 'at', 'status', 'kind', 'unit', 'note', 'tags'] }
)

t.test('writes a resource byte for byte as the compiled serializer does', async (t) => {
  const write = await written(Type.Array(Plain))
  await fc.assert(
    fc.asyncProperty(fc.array(valid, { maxLength: 3 }), async (rows) => {
      const { data, expected, status } = await write(rows)
      return status === 200 && data === expected
    }),
    { numRuns: 300 }
  )
  t.pass('300 lists')
})

t.test('converts or refuses values of another type as Fastify does, except for numbers that would lose digits', async (t) => {
  const base = { 'with "quotes"': 'x', count: 1, on: true, at: 'now', status: 'open', kind: 'order', unit: 'kg', note: null, tags: [] }
  const write = await written(Plain)
  const odd: Record<string, unknown>[] = [
    { count: '7' },
    { count: 7.9 },
    { count: Number.NaN },
    { count: 12n },
    { count: undefined },
    { ratio: '1.5' },
    { on: 1 },
    { on: 'yes' },
    { at: 5 },
    { at: new Date(Number.NaN) },
    { day: new Date(0) },
    { later: 12 },
    { later: new Date(0) },
    { status: 'lost' },
    { kind: 'other' },
    { unit: 'm' },
    { tags: {} },
    { tags: 'x' },
    { place: 'x' },
    { place: { toJSON: () => ({ city: 'hidden' }) } }
  ]
  for (const change of odd) {
    const { data, expected, status } = await write({ ...base, ...change })
    t.equal(data, expected, `${Object.keys(change).join()} of ${String(Object.values(change)[0])}`)
    t.equal(status, expected === '' ? 500 : 200)
  }
})

t.test('leaves schemas of every other form to the compiled serializer', async (t) => {
  const forms: [Schema, unknown][] = [
    [{ type: 'object', additionalProperties: true }, { a: 1 }],
    [{ type: 'object', properties: { a: { type: 'string', default: 'x' } } }, {}],
    [
      { type: 'object', properties: { 7: { type: 'string' }, b: { type: 'string' } } },
      { b: 'b', 7: 'a' }
    ],
    [{ type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }, JSON.parse('{"__proto__":"x"}')],
    [
      { type: 'object', required: ['b'], properties: { a: { type: 'string' } } },
      { a: 'a', b: 'b' }
    ],
    [{ type: 'object', properties: { a: { type: ['string', 'integer'] } } }, { a: 1 }],
    [{ type: 'object', required: ['a'], properties: { a: { type: ['string'] } } }, { a: 'a' }],
    [
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [{ type: 'object', properties: { b: { type: 'string' } } }]
      },
      { a: 'a', b: 'b' }
    ],
    [
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        oneOf: [{ type: 'object', properties: { b: { type: 'string' } } }]
      },
      { a: 'a', b: 'b' }
    ],
    [
      {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'string' } } },
        anyOf: [{ type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } }]
      },
      [{ a: 'a', b: 'b' }]
    ],
    [{ type: 'object', properties: { a: { const: 'x', anyOf: [{ type: 'string' }] } } }, { a: 'y' }],
    [{ type: 'object', properties: { a: { oneOf: [{ type: 'string' }], anyOf: [{ type: 'string' }] } } }, { a: 'y' }],
    [{ type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } }, { a: 1 }],
    [{ type: 'object', properties: { a: { const: 5 } } }, { a: 5 }],
    [{ type: 'object', properties: { a: { enum: [1, 'x'] } } }, { a: 'x' }],
    [{ type: 'object', properties: { a: {} } }, { a: { b: 1 } }],
    [{ type: 'object', properties: { a: { type: 'string', format: 'unsafe' } } }, { a: 'x' }],
    [{ type: 'array', items: [{ type: 'string' }, { type: 'integer' }] }, ['a', 1]],
    [{ type: 'array' }, [1, 'a']],
    [{ allOf: [{ type: 'object', properties: { a: { type: 'string' } } }] }, { a: 'a' }]
  ]
  for (const [schema, value] of forms) {
    const { data, expected } = await (await written(schema))(value)
    t.equal(data, expected, JSON.stringify(schema))
    t.not(data, '')
  }
})

t.test('a list of types allows null only if it contains null [F3]', async (t) => {
  const write = await written({ type: 'object', required: ['a'], properties: { a: { type: ['string'] }, b: { type: ['string'] } } })
  t.equal((await write({ a: null })).status, 500)
  t.equal((await write({ a: 'a', b: null })).data, '{"a":"a"}')
})

t.test('writes plain values and nullable roots too', async (t) => {
  const forms: [Schema, unknown][] = [
    [Type.Integer(), 5],
    [Type.Boolean(), false],
    [{ type: 'object', nullable: true, properties: { a: { type: 'string' } } }, { a: 'a' }]
  ]
  for (const [schema, value] of forms) {
    const { data } = await (await written(schema))(value)
    t.equal(data, JSON.stringify(value))
  }
})

t.test('uses a media type or serializer of the handler', async (t) => {
  const app = Fastify()
  await app.register(envelope)
  app.get('/', { schema: { response: { 200: Type.Object({ a: Type.String() }) } } }, async (_request, reply) => {
    reply.type('application/vnd.x+json').serializer((payload: unknown) => `own:${Object.keys(payload as object).join()}`)
    return { a: 'a' }
  })
  t.equal((await app.inject('/')).payload, 'own:data,_links,_meta')
})

t.test('responds with 500 when a getter of the resource throws', async (t) => {
  const app = Fastify()
  await app.register(envelope)
  app.get('/', { schema: { response: { 200: Type.Object({ a: Type.String() }) } } }, async () => ({
    get a(): string {
      throw new Error('broken getter')
    }
  }))
  t.equal((await app.inject('/')).statusCode, 500)
})

t.test('further members of _meta are declared for each route, and the timestamp stays last [G2]', async (t) => {
  const app = Fastify()
  publish(app, {
    pages: {
      filters: () => undefined,
      parts: ({ url }) => (url === '/' ? { meta: { pagination: { perPage: 25 } } } : {}),
      meta: ({ url }) => (url === '/' ? { pagination: { type: 'object', properties: { perPage: { type: 'integer' } } } } : undefined)
    }
  })
  await app.register(envelope)
  const open = { type: 'object', additionalProperties: true }
  app.get('/', { schema: { response: { 200: Type.Array(Type.String()) } } }, async () => ['a'])
  app.get('/open', { schema: { response: { 200: open } } }, async () => ({ a: 1 }))
  const { _meta } = (await app.inject('/')).json()
  t.strictSame(Object.keys(_meta), ['version', 'pagination', 'timestamp'])
  t.strictSame(_meta.pagination, { perPage: 25 })
  t.strictSame(Object.keys((await app.inject('/open')).json()._meta), ['version', 'timestamp'])
})
