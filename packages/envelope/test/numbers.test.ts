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

t.test('returns 500 for a value that is not the text that the schema declares, and names the member and the resource', async (t) => {
  const string = { type: 'string' }
  const texts: readonly (readonly [schema: object, sent: readonly unknown[], refused: readonly unknown[], problem: string])[] = [
    ...(['date', 'date-time'] as const).map((format) => {
      const time = format === 'date' ? '' : 'T00:00:00Z'
      const odd = ['infinity', '-infinity', '0044-03-15 BC', '0044-03-15 12:00:00+00 BC', '12345-01-01', '+012345-01-01T00:00:00.000Z']
      return [
        { ...string, format },
        [`0001-01-01${time}`, `9999-12-31${time}`],
        odd,
        `, which the format "${format}" cannot express`
      ] as const
    }),
    [
      string,
      ['infinity', '0044-03-15 BC', '12345-01-01'],
      [Buffer.from('a'), new Uint8Array(2), new DataView(new ArrayBuffer(1))],
      ' is bytes'
    ],
    [{ ...string, format: 'int64' }, ['9007199254740993'], [largest + 1, -largest - 1], ' is an integer beyond 2^53 - 1']
  ]
  for (const [schema, sent, refused, problem] of texts)
    for (const value of [schema, { anyOf: [schema, { type: 'null' }] }, { ...schema, type: ['string', 'null'] }]) {
      const members = { id: { type: 'string' }, value }
      // With a reference, or an open object, another writer is used.
      for (const more of [{}, { properties: { ...members, size: { $ref: 'size#' } } }, { additionalProperties: true }]) {
        const send = await responder({ type: 'object', properties: members, ...more })
        for (const one of sent) t.equal(await send({ id: 'a', value: one }), `{"id":"a","value":${JSON.stringify(one)}}`)
        for (const one of refused) {
          const response = await send({ id: 'a', value: one })
          t.match(response, /^500 envelope: the member "value" of the response with id "a" is /, String(one))
          t.ok(response.includes(problem), response)
        }
      }
    }
  const send = await responder({
    type: 'object',
    properties: { at: { type: 'string', format: 'date-time' }, digits: { type: 'string', format: 'int64' } }
  })
  for (const at of ['', 'soon', '20260131', 'infinite']) t.equal(await send({ at }), `{"at":"${at}"}`, 'not checked')
  t.equal(await send({ at: new Date(0), digits: 9007199254740993n }), '{"at":"1970-01-01T00:00:00.000Z","digits":"9007199254740993"}')
})
