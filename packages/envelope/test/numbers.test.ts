import envelope from '@concordat/envelope'
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'

async function responder(schema: TSchema | Record<string, unknown>) {
  const errors: string[] = []
  let value: unknown
  const app = Fastify()
  app.addHook('onError', async (_request, _reply, error) => void errors.push(error.message))
  await app.register(envelope)
  app.addSchema({ $id: 'size', type: 'integer' })
  app.get('/', { schema: { response: { 200: schema } } }, async () => value)
  return async (sent: unknown) => {
    value = sent
    const { statusCode, payload } = await app.inject('/')
    return statusCode === 200 ? payload.slice('{"data":'.length, payload.lastIndexOf(',"_links":[')) : `${statusCode} ${errors.pop()}`
  }
}

const largest = Number.MAX_SAFE_INTEGER
const infinite = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]
const number = { type: 'number' }
const places: [TSchema | Record<string, unknown>, (value: unknown) => unknown, string][] = [
  [Type.Object({ n: Type.Number() }), (n) => ({ n }), 'the member "n"'],
  [Type.Object({ n: Type.Optional(Type.Number()) }), (n) => ({ n }), 'the member "n"'],
  [Type.Object({ n: Type.Union([Type.Number(), Type.Null()]) }), (n) => ({ n }), 'the member "n"'],
  [Type.Object({ n: Type.Unsafe({ type: ['null', 'number'] }) }), (n) => ({ n }), 'the member "n"'],
  [Type.Array(Type.Object({ at: Type.Object({ x: Type.Number() }) })), (x) => [{ at: { x: 1 } }, { at: { x } }], 'the member "x"'],
  [Type.Array(Type.Number()), (n) => [1, n], 'a list item in'],
  [number, (n) => n, 'the response'],
  [{ type: 'object', properties: { n: number }, patternProperties: { '^x': number } }, (x1) => ({ n: 1, x1 }), 'the member "x1"'],
  [{ type: 'object', additionalProperties: number }, (n) => ({ n }), 'the response'],
  [{ type: 'object', properties: { free: {} } }, (n) => ({ free: { deep: [{ n }] } }), 'the member "free"'],
  [{ allOf: [Type.Object({ a: Type.Integer() }), Type.Object({ n: Type.Number() })] }, (n) => ({ a: 1, n }), 'the member "n"'],
  [{ anyOf: [Type.Object({ n: Type.Number() }), Type.Object({ n: Type.Number() })] }, (n) => ({ n }), 'the member "n"']
]

t.test('returns 500 for a number that JSON does not have, wherever the schema has it, and never null', async (t) => {
  for (const [schema, place, name] of places) {
    const send = await responder(schema)
    t.match(await send(place(1.5)), '1.5', JSON.stringify(schema))
    for (const value of infinite)
      t.match(await send(place(value)), new RegExp(`^500 envelope: ${name}.* is not a finite number`), String(value))
  }
})

t.test('leaves a number alone that the schema does not send', async (t) => {
  const send = await responder({ type: 'object', properties: { id: { type: 'string' }, size: { $ref: 'size#' } } })
  t.equal(await send({ id: '1', size: 2, internal: Number.POSITIVE_INFINITY }), '{"id":"1","size":2}')
  const free = await responder({ type: 'object', additionalProperties: true })
  t.equal(
    await free({ at: new Date(0), price: { toJSON: () => '1.5', big: Number.NaN }, none: null }),
    '{"at":"1970-01-01T00:00:00.000Z","price":"1.5","none":null}'
  )
})

t.test('sends an integer with exactly its digits, or returns 500', async (t) => {
  for (const n of [Type.Integer(), { $ref: 'size#' }, { type: ['integer', 'null'] }]) {
    const send = await responder({ type: 'object', properties: { n } })
    for (const value of [largest, -largest, 0]) t.equal(await send({ n: value }), `{"n":${value}}`)
    for (const value of [largest + 1, -largest - 1, 1e300, '9007199254740993', '-9223372036854775807'])
      t.match(await send({ n: value }), /^500 envelope: the member "n" of the response is an integer beyond 2\^53 - 1/, String(value))
    if ('type' in n && Array.isArray(n.type)) continue
    for (const value of [9007199254740993n, '9007199254740991', '12']) t.equal(await send({ n: value }), `{"n":${value}}`)
  }
})

t.test('sends an integer beyond 2^53 - 1 if the schema declares such a range, but never with other digits', async (t) => {
  for (const limit of [{ maximum: 2 ** 60 }, { minimum: -(2 ** 60) }, { exclusiveMaximum: 2 ** 60 }]) {
    const send = await responder({ type: 'object', properties: { n: { type: 'integer', ...limit } } })
    t.equal(await send({ n: 2 ** 54 }), '{"n":18014398509481984}')
    t.equal(await send({ n: '18014398509481984' }), '{"n":18014398509481984}')
    t.match(await send({ n: '18014398509481985' }), /^500/)
  }
})

t.test('returns 500 for text or a bigint that a fraction cannot represent', async (t) => {
  const send = await responder(Type.Object({ n: Type.Number() }))
  for (const [value, digits] of [
    ['2.50', '2.5'],
    [12n, '12'],
    [1e21, '1e+21'],
    ['1e3', '1000']
  ] as const)
    t.equal(await send({ n: value }), `{"n":${digits}}`)
  for (const value of ['9007199254740993', 9007199254740993n]) t.match(await send({ n: value }), /^500/)
})

t.test('accepts text beside a number in a union', async (t) => {
  for (const n of [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { type: ['integer', 'string'] }]) {
    const send = await responder({ type: 'object', properties: { n } })
    t.equal(await send({ n: '9007199254740993' }), '{"n":"9007199254740993"}')
    t.equal(await send({ n: 5 }), '{"n":5}')
  }
})
