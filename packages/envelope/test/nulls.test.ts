import envelope from '@concordat/envelope'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

async function sent(schema: TSchema | Record<string, unknown>, value: unknown, shared: readonly Record<string, unknown>[] = []) {
  const app = Fastify()
  await app.register(envelope)
  for (const one of shared) app.addSchema(one)
  app.get('/', { schema: { response: { 200: schema } } }, async () => value)
  const response = await app.inject('/')
  return response.statusCode === 200 ? response.json().data : response.statusCode
}

const Row = Type.Object({
  id: Type.String(),
  text: Type.Optional(Type.String()),
  count: Type.Optional(Type.Integer()),
  note: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  address: Type.Optional(Type.Object({ city: Type.Optional(Type.String()), zip: Type.Optional(Type.String()) })),
  tags: Type.Optional(Type.Array(Type.Object({ name: Type.Optional(Type.String()) }))),
  free: Type.Optional(Type.Unknown())
})

t.test('omits a null member unless the schema allows null [F3]', async (t) => {
  const row = {
    id: '1',
    text: null,
    count: null,
    note: null,
    address: { city: null, zip: '1' },
    tags: [{ name: null }, { name: 'a' }],
    free: null
  }
  t.strictSame(await sent(Row, row), { id: '1', note: null, address: { zip: '1' }, tags: [{}, { name: 'a' }], free: null })
})

t.test('sends an empty string and an empty list [F5] [F6]', async (t) => {
  t.strictSame(await sent(Row, { id: '', text: '', tags: [] }), { id: '', text: '', tags: [] })
})

t.test('does not change the value that a handler returns', async (t) => {
  const row: Static<typeof Row> | Record<string, unknown> = { id: '1', text: null, tags: [{ name: null }] }
  const before = structuredClone(row)
  await sent(Row, row)
  t.strictSame(row, before)
})

t.test('responds with 500 to a required member that is null, not with an empty string', async (t) => {
  t.equal(await sent(Row, { id: null }), 500)
})

t.test('responds with 500 to a null item of a list unless its schema allows null', async (t) => {
  t.equal(await sent(Type.Array(Type.String()), ['a', null]), 500)
  t.strictSame(await sent(Type.Array(Type.Union([Type.String(), Type.Null()])), ['a', null]), ['a', null])
})

t.test('finds nulls through references, unions, intersections and recursion', async (t) => {
  const shared = { $id: 'Shared', type: 'object', properties: { v: { type: 'string' }, more: { $ref: 'Deep#/definitions/d' } } }
  const deep = { $id: 'Deep', definitions: { d: { type: 'object', properties: { w: { type: 'string' } } } } }
  t.strictSame(await sent({ type: 'array', items: { $ref: 'Shared#' } }, [{ v: null, more: { w: null } }, { v: 'x' }], [deep, shared]), [
    { more: {} },
    { v: 'x' }
  ])

  const local = { type: 'object', properties: { next: { $ref: '#' }, v: { type: 'string' } } }
  t.strictSame(await sent(local, { v: null, next: { v: null, next: { v: 'x' } } }), { next: { next: { v: 'x' } } })

  const both = Type.Intersect([Type.Object({ a: Type.Optional(Type.String()) }), Type.Object({ b: Type.Optional(Type.String()) })])
  t.strictSame(await sent(both, { a: null, b: 'x' }), { b: 'x' })

  const either = Type.Union([
    Type.Object({ kind: Type.Literal('a'), v: Type.Union([Type.String(), Type.Null()]) }),
    Type.Object({ kind: Type.Literal('b'), v: Type.Optional(Type.String()), list: Type.Optional(Type.Array(Type.String())) })
  ])
  t.strictSame(await sent(either, { kind: 'a', v: null }), { kind: 'a', v: null })
})

t.test('nullable, null constants and enums allow null', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'string', nullable: true },
      b: { const: null },
      c: { enum: ['x', null] },
      d: { type: ['string', 'null'] },
      e: { enum: ['x'] }
    }
  }
  t.strictSame(await sent(schema, { a: null, b: null, c: null, d: null, e: null }), { a: null, b: null, c: null, d: null })
})
