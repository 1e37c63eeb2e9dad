import webhooks, { type WebhooksOptions } from '@concordat/webhooks'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { startService, startWitness } from './service.ts'

const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))

const text = { type: 'string' }
const description = 'Something changed.'

function objectOf(properties: object, more: object = {}) {
  return { type: 'object', properties, ...more }
}

/** Returns the data that is sent for each of these events, of which each has a schema of its own. */
async function sentFor(t: Test, forms: readonly (readonly [schema: object, data: unknown, expected: unknown])[]) {
  const events = Object.fromEntries(forms.map(([schema], index) => [`event.${index}`, { description, schema, example: {} }]))
  const { store, webhooks: ours } = await startService(t, { events, worker: false })
  const { id } = await ours.subscribe('ada', { url: 'https://hooks.example.com', eventTypes: Object.keys(events) })
  for (const [index, [, data]] of forms.entries()) await ours.emit(`event.${index}`, data)
  const deliveries = await ours.deliveries('ada', id, { limit: 100, oldestFirst: true })
  const found = await Promise.all(deliveries.map(async (delivery) => store.deliveryToSend(delivery.id)))
  return found.map((delivery) => (JSON.parse(delivery?.body ?? '') as { data: unknown }).data)
}

t.test('a receiver gets only what the schema of the event declares, at every depth [W3]', async (t) => {
  const person = objectOf({ name: text, address: objectOf({ city: text }) })
  const secrets = { password_hash: 'x', version: 7 }
  const node = objectOf({ name: text, children: { type: 'array', items: { $ref: '#/$defs/Node' } } })
  const card = objectOf({ kind: { const: 'card' }, last4: text }, { required: ['kind', 'last4'] })
  const bank = objectOf({ kind: { const: 'bank' }, iban: text }, { required: ['kind', 'iban'] })
  const cases = [
    [person, { name: 'Ada', ...secrets, address: { city: 'London', ...secrets } }, { name: 'Ada', address: { city: 'London' } }],
    [
      objectOf({ people: { type: 'array', items: person } }),
      { people: [{ name: 'Ada', ...secrets }, secrets] },
      { people: [{ name: 'Ada' }, {}] }
    ],
    [objectOf({ name: text }, { additionalProperties: false }), { name: 'Ada', ...secrets }, { name: 'Ada' }],
    [objectOf({}, { additionalProperties: person }), { a: { name: 'Ada', ...secrets } }, { a: { name: 'Ada' } }],
    [objectOf({}, { patternProperties: { '^x_': text } }), { x_a: 'A', ...secrets }, { x_a: 'A' }],
    [{ allOf: [person, objectOf({ age: { type: 'integer' } })] }, { name: 'Ada', age: 36, ...secrets }, { name: 'Ada', age: 36 }],
    [{ oneOf: [card, bank] }, { kind: 'bank', iban: 'ES91', last4: '1234', ...secrets }, { kind: 'bank', iban: 'ES91' }],
    [
      { ...node, $defs: { Node: { ...node, $defs: undefined } } },
      { name: 'a', children: [{ name: 'b', ...secrets, children: [{ name: 'c', ...secrets, children: [] }] }] },
      { name: 'a', children: [{ name: 'b', children: [{ name: 'c', children: [] }] }] }
    ],
    [
      objectOf({ pair: { type: 'array', prefixItems: [person, text] } }, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
      { pair: [{ name: 'Ada', ...secrets }, 'x'] },
      { pair: [{ name: 'Ada' }, 'x'] }
    ],
    [{ type: 'array', items: person }, [{ name: 'Ada', ...secrets }], [{ name: 'Ada' }]],
    [objectOf({ name: text }, { additionalProperties: true }), { name: 'Ada', tag: 'x' }, { name: 'Ada', tag: 'x' }],
    [{}, { name: 'Ada', tag: 'x' }, { name: 'Ada', tag: 'x' }],
    [{}, undefined, null]
  ] as const
  t.strictSame(
    await sentFor(t, cases),
    cases.map(([, , expected]) => expected)
  )
})

t.test('nulls that the schema does not allow are left out, as in a response, and defaults are filled in', async (t) => {
  const optional = { anyOf: [text, { type: 'integer' }] }
  const cases = [
    [objectOf({ note: text, paidAt: { ...text, format: 'date-time' } }), { note: null, paidAt: null }, {}],
    [objectOf({ note: { type: ['string', 'null'] }, other: text }), { note: null, other: null }, { note: null }],
    [objectOf({ note: { ...text, nullable: true } }), { note: null }, { note: null }],
    [
      objectOf({ note: optional, inner: objectOf({ note: optional, name: text }) }),
      { note: null, inner: { note: null, name: 'x' } },
      { inner: { name: 'x' } }
    ],
    [
      objectOf({ list: { type: 'array', items: objectOf({ 'a/b~': text }) } }),
      { list: [{ 'a/b~': null }, { 'a/b~': 'x' }] },
      { list: [{}, { 'a/b~': 'x' }] }
    ],
    [objectOf({ status: { enum: ['paid'] }, kind: { const: 'a' } }), { status: null, kind: null }, {}],
    [objectOf({ status: { ...text, default: 'open' } }, { required: ['status'] }), {}, { status: 'open' }]
  ] as const
  t.strictSame(
    await sentFor(t, cases),
    cases.map(([, , expected]) => expected)
  )
})

t.test('dates and objects with toJSON are written as JSON writes them', async (t) => {
  const placedAt = new Date('2026-01-02T03:04:05.678Z')
  const schema = objectOf({ placedAt: { ...text, format: 'date-time' }, total: text, gone: text })
  const data = { placedAt, total: { toJSON: () => '12.50' }, gone: undefined, version: 3 }
  t.strictSame(await sentFor(t, [[schema, data, undefined]]), [{ placedAt: placedAt.toISOString(), total: '12.50' }])
})

const product = {
  description,
  schema: objectOf(
    {
      id: { ...text, format: 'uuid' },
      name: { ...text, minLength: 1 },
      stock: { type: 'integer', minimum: 0 },
      price: { type: 'number' },
      isNew: { type: 'boolean' },
      status: { enum: ['draft', 'sold'] },
      maker: objectOf({ name: text, tags: { type: 'array', items: text } }, { required: ['name'] }),
      media: {
        oneOf: [
          objectOf({ kind: { const: 'image' }, url: text }, { required: ['kind', 'url'], additionalProperties: false }),
          objectOf(
            { kind: { const: 'video' }, seconds: { type: 'integer' } },
            { required: ['kind', 'seconds'], additionalProperties: false }
          )
        ]
      }
    },
    { required: ['id', 'name'] }
  ),
  example: {},
  versions: {
    2: {
      schema: objectOf({ title: text }, { required: ['title'] }),
      example: {},
      represent: ({ name, status }: { name: string; status?: string }) => (status === 'sold' ? {} : { title: name })
    }
  }
} satisfies WebhooksOptions['events'][string]
const good = { id: '019b7c2e-7a4f-7d31-b1c5-9a8c0f6f2f11', name: 'Vinegar' }

t.test('emit rejects data that does not match the schema, names the type and the field, and stores nothing', async (t) => {
  const { webhooks: ours } = await startService(t, { events: { 'product.updated': product } })
  const { id } = await ours.subscribe('ada', { url: 'https://hooks.example.com', eventTypes: ['product.updated'] })
  for (const [change, says] of [
    [{ id: undefined }, /: id is required\. Correct the data that is passed to emit\.$/],
    [{ name: null }, /: name is required\. /],
    [{ id: undefined, name: undefined }, /: id is required; name is required\. /],
    [{ id: 'secret-value' }, /: id must match format "uuid"\. /],
    [{ name: '' }, /: name must NOT have fewer than 1 characters\. /],
    [{ name: 5 }, /: name must be string\. /],
    [{ stock: '7' }, /: stock must be integer\. /],
    [{ stock: 1.5 }, /: stock must be integer\. /],
    [{ stock: -1 }, /: stock must be >= 0\. /],
    [{ price: 'many' }, /: price must be number\. /],
    [{ isNew: 'false' }, /: isNew must be boolean\. /],
    [{ status: 'secret-value' }, /: status must be equal to one of the allowed values\. /],
    [{ maker: {} }, /: maker\.name is required\. /],
    [{ maker: 'secret-value' }, /: maker must be object\. /],
    [{ maker: { name: 'x', tags: ['a', null] } }, /: maker\.tags\.1 must be string\. /],
    [{ maker: [] }, /: maker must be object\. /],
    [{ media: { kind: 'audio' } }, /: .*media\.kind must be equal to constant; .*media must match exactly one schema in oneOf/],
    [{ media: { kind: 'image', url: 'x', version: 3 } }, /: .*media must not have the member version/],
    [{ price: Number.NaN }, /: price is a value that JSON cannot express\. /],
    [{ price: Number.POSITIVE_INFINITY }, /: price is a value that JSON cannot express\. /],
    [{ stock: 7n }, /: stock is a value that JSON cannot express\. /],
    [{ maker: { name: new Date(Number.NaN) } }, /: name is a value that JSON cannot express\. /]
  ] as const) {
    const refused = await ours.emit('product.updated', { ...good, ...change }).catch((error: unknown) => error as Error)
    t.match(refused, { name: 'TypeError', message: /^webhooks: the data of the event "product\.updated" does not match its schema: / })
    t.match((refused as Error).message, says)
    t.notMatch((refused as Error).message, /secret-value|\n/)
  }
  for (const data of [null, undefined, 'text', [], () => {}, 7n]) await t.rejects(ours.emit('product.updated', data), /: the data /)
  t.equal(await ours.count('ada', { subscriptionId: id }, 10), 0)
  await t.rejects(ours.emit('product.updated', { ...good, status: 'sold' }), {
    name: 'TypeError',
    message:
      'webhooks: the data of the event "product.updated" version 2 does not match its schema: title is required. Correct represent of version 2.'
  })
  t.equal(await ours.count('ada', { subscriptionId: id }, 10), 0)
  t.equal((await ours.emit('product.updated', good)).deliveries, 1)
})

t.test('data that does not match the schema is rejected also without a subscription', async (t) => {
  const { webhooks: ours } = await startService(t, { events: { 'product.updated': product } })
  await t.rejects(ours.emit('product.updated', { id: good.id }), /name is required/)
  await t.rejects(ours.emit('product.updated', { ...good, status: 'sold' }), /version 2 .* title is required/)
})

t.test('mayReceive gets what is sent; audiences and represent get what was emitted', async (t) => {
  const calls: Record<string, unknown[]> = { audiences: [], represent: [], mayReceive: [] }
  const noted = (name: string, data: unknown) => void calls[name]?.push(structuredClone(data))
  const service = await startService(t, {
    events: {
      'order.created': {
        description,
        schema: objectOf({ id: text }),
        example: {},
        audiences: (data: { customer: string }) => (noted('audiences', data), [data.customer]),
        versions: {
          2: {
            schema: objectOf({ number: text }),
            example: {},
            represent: (data: { id: string }) => (noted('represent', data), { number: data.id, secret: 1 })
          }
        }
      }
    },
    mayReceive: (subscriptions, { data }) => (noted('mayReceive', data), subscriptions)
  })
  const { url, seen } = await startWitness(t, service.now, () => 200)
  await service.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] }, 2)
  const row = { id: '7', customer: 'ada', version: 3 }
  t.equal((await service.webhooks.emit('order.created', row)).deliveries, 1)
  t.strictSame(calls, { audiences: [row], represent: [row], mayReceive: [{ id: '7' }] })
  await service.clock.advance(1000)
  t.strictSame(calls['mayReceive'], [{ id: '7' }, { number: '7' }])
  t.strictSame(
    seen.map(({ body }) => body.data),
    [{ number: '7' }]
  )
})

t.test('an event schema that cannot be compiled stops the start with a one-line message', async (t) => {
  for (const [schema, says] of [
    [
      objectOf({ order: { $ref: 'Order#' } }),
      /^webhooks: options\.events "order\.created" schema cannot be compiled: .*Order.*\. Define it in \$defs of the schema, or .*addSchema.*\.$/
    ],
    [
      objectOf({ order: { type: 'strin' } }),
      /^webhooks: options\.events "order\.created" schema cannot be compiled: .+\. Correct the schema\.$/
    ]
  ] as const) {
    const events = { 'order.created': { description, schema, example: {} } }
    await t.rejects(started(events), { name: 'TypeError', message: says })
  }
  const events = {
    a: { description, schema: {}, example: {}, versions: { 3: { schema: { $ref: '#/$defs/X' }, example: {}, represent: () => 1 } } }
  }
  await t.rejects(started(events), /^webhooks: options\.events "a" version 3 schema cannot be compiled/)
})

async function started(events: WebhooksOptions['events']) {
  const app = Fastify()
  app.register(webhooks, { events, mayReceive: 'everyone' })
  await app.ready()
}
