import { breakingChanges, requireCompatible } from '@concordat/openapi'
import t from 'tap'
import { type Parts, partsOf, released } from './released.ts'

type Seed = readonly [what: string, change: (parts: Parts) => unknown]
const json = 'application/json'
const text = { type: 'string' }

const seeds: readonly Seed[] = [
  ['nothing changes', () => undefined],
  ['a path is added', ({ document }) => (document.paths['/v1/customers'] = { get: { responses: { 200: { description: 'All.' } } } })],
  ['a method is added', ({ item }) => (item.put = { responses: { 200: { description: 'Replaced.' } } })],
  [
    'the name of a path parameter changes',
    ({ document, item }) => {
      item.parameters[0].name = 'orderId'
      document.paths['/v1/orders/{orderId}'] = item
      delete document.paths['/v1/orders/{id}']
    }
  ],
  ['an optional query parameter is added', ({ list }) => list.parameters.push({ name: 'note', in: 'query', schema: text })],
  ['an optional header is added', ({ create }) => create.parameters.push({ name: 'If-Match', in: 'header', schema: text })],
  ['the letters of a header change', ({ create }) => (create.parameters[0].name = 'idempotency-key')],
  ['a parameter moves to the path item', ({ document, list }) => document.paths['/v1/orders'].parameters.push(list.parameters.shift())],
  [
    'a parameter moves to the components',
    ({ document, list }) => {
      document.components.parameters.Status = list.parameters[0]
      list.parameters[0] = { $ref: '#/components/parameters/Status' }
    }
  ],
  ['parameters change their order', ({ list }) => (list.parameters = list.parameters.toReversed())],
  ['a required parameter becomes optional', ({ list }) => (list.parameters[0].required = false)],
  ['a parameter takes one more value', ({ list }) => list.parameters[0].schema.enum.push('lost')],
  ['a parameter takes any value', ({ list }) => delete list.parameters[0].schema.enum],
  ['one more order can be asked for', ({ list }) => list.parameters[1].schema.items.enum.push('status')],
  ['the maximum of a parameter rises', ({ list }) => (list.parameters[2].schema.maximum = 200)],
  ['the minimum of a parameter is removed', ({ list }) => delete list.parameters[2].schema.minimum],
  ['an integer parameter takes any number', ({ list }) => (list.parameters[2].schema.type = 'number')],
  ['a parameter gets a default', ({ list }) => (list.parameters[0].schema.default = 'pending')],
  ['a style is written out', ({ list }) => Object.assign(list.parameters[0], { style: 'form', explode: true })],
  ['a parameter is deprecated', ({ list }) => (list.parameters[0].deprecated = true)],
  ['an operation is deprecated', ({ list }) => (list.deprecated = true)],
  [
    'texts change',
    ({ document, list, order }) => {
      document.info.title = 'Store'
      list.summary = 'All orders'
      list.operationId = 'orders'
      order.note.description = 'What to know.'
    }
  ],
  ['examples change', ({ order }) => (order.note.examples = ['x'])],
  [
    'an optional body is added',
    ({ document }) => (document.paths['/v1/searches'].post.requestBody = { content: { [json]: { schema: text } } })
  ],
  ['a required body becomes optional', ({ create }) => (create.requestBody.required = false)],
  ['a media type of a body is added', ({ create }) => (create.requestBody.content['text/csv'] = { schema: text })],
  ['an optional field of a body is added', ({ draft }) => (draft.coupon = text)],
  ['an optional nested field of a body is added', ({ draft }) => (draft.items.items.properties.gift = { type: 'boolean' })],
  ['a required field of a body becomes optional', ({ schemas }) => (schemas.NewOrder.required = [])],
  ['a body takes null as well', ({ draft }) => (draft.note.type = ['string', 'null'])],
  ['a body takes null as well, written as alternatives', ({ draft }) => (draft.channel = { anyOf: [draft.channel, { type: 'null' }] })],
  ['null among alternatives is written as a type', ({ draft }) => (draft.gift = { type: ['string', 'null'], enum: ['wrap', null] })],
  ['an integer of a body takes any number', ({ draft }) => (draft.step = { type: 'number', multipleOf: 5 })],
  ['a text of a body may be longer', ({ draft }) => (draft.note.maxLength = 2000)],
  ['a text of a body has no bound any more', ({ draft }) => delete draft.note.maxLength],
  ['a list of a body may be longer', ({ draft }) => (draft.items.maxItems = 500)],
  ['a list of a body may be empty', ({ draft }) => (draft.items.minItems = 0)],
  ['a number of a body has finer steps', ({ draft }) => (draft.step.multipleOf = 1)],
  ['a number of a body has no steps any more', ({ draft }) => delete draft.step.multipleOf],
  ['a body takes one more value', ({ draft }) => draft.channel.enum.push('shop')],
  [
    'an alternative of a body is added',
    ({ draft }) => draft.payment.oneOf.push({ type: 'object', required: ['cash'], properties: { cash: { type: 'boolean' } } })
  ],
  ['alternatives of a body change their order', ({ draft }) => (draft.payment.oneOf = draft.payment.oneOf.toReversed())],
  ['the format of a path parameter is removed', ({ item }) => delete item.parameters[0].schema.format],
  ['a body says that it takes further members', ({ schemas }) => (schemas.NewOrder.additionalProperties = true)],
  ['an error status is added', ({ list }) => (list.responses[429] = { description: 'Slow down.' })],
  ['a server error is added', ({ create }) => (create.responses[503] = { description: 'Later.' })],
  [
    'an error has one more code',
    ({ document }) =>
      document.components.responses.NotFound.content[json].schema.properties.error.allOf[1].properties.code.enum.push('ORDER_NOT_FOUND')
  ],
  [
    'a status is described by its range',
    ({ create }) => {
      create.responses['4XX'] = create.responses[404]
      delete create.responses[404]
    }
  ],
  ['a range of errors has one of its own', ({ item }) => (item.get.responses[404] = { description: 'Nothing.' })],
  ['a default is told in detail', ({ document }) => (document.paths['/v1/searches'].post.responses[200] = { description: 'Found.' })],
  ['304 is added', ({ item }) => (item.get.responses[304] = { description: 'Not modified.' })],
  ['a header of an answer is added', ({ create }) => (create.responses[201].headers.ETag = { schema: text })],
  ['the letters of a header of an answer change', ({ create }) => (create.responses[201].headers = { location: { schema: text } })],
  ['a header of an answer is always there', ({ create }) => (create.responses[201].headers.Location.required = true)],
  ['a media type of an answer is added', ({ item }) => (item.get.responses[200].content['text/csv'] = { schema: text })],
  ['an optional field of an answer is added', ({ order }) => (order.coupon = text)],
  [
    'a field of an answer is added that is always there',
    ({ order, schemas }) => (order.coupon = text) && schemas.Order.required.push('coupon')
  ],
  ['a field of an answer is always there', ({ schemas }) => schemas.Order.required.push('note')],
  ['a field of an answer is never null any more', ({ order }) => (order.reviewedAt.type = 'string')],
  ['a number of an answer is an integer', ({ order }) => (order.weight.type = 'integer')],
  ['a field of an answer has one value less', ({ order }) => order.status.enum.pop()],
  ['a text of an answer gets a format', ({ schemas }) => (schemas.Link.properties.rel.format = 'uri')],
  ['a text of an answer is shorter', ({ order }) => (order.note.maxLength = 20)],
  ['a number of an answer has narrower bounds', ({ order }) => Object.assign(order.count, { minimum: 1, maximum: 50 })],
  ['a list of an answer is shorter', ({ list }) => (list.responses[200].content[json].schema.properties.data.maxItems = 50)],
  ['a list of an answer has no doubles', ({ list }) => (list.responses[200].content[json].schema.properties.data.uniqueItems = true)],
  ['an alternative of an answer is removed', ({ order }) => order.payment.oneOf.pop()],
  ['an answer has no further members', ({ schemas }) => (schemas.Order.additionalProperties = false)],
  ['a schema is written out', ({ order, schemas }) => (order.total = structuredClone(schemas.Money))],
  ['a schema is put together', ({ order }) => (order.total = { allOf: [{ $ref: '#/components/schemas/Money' }] })],
  [
    'a schema has another name',
    ({ order, schemas }) => {
      schemas.Amount = schemas.Money
      order.total = { $ref: '#/components/schemas/Amount' }
    }
  ],
  ['a constant is written as an enumeration', ({ schemas }) => (schemas.Money.properties.currency = { type: 'string', enum: ['EUR'] })],
  ['an operation becomes public', ({ item }) => (item.patch.security = [])],
  ['one more scheme is taken', ({ item }) => item.delete.security.push({ bearer: [] })],
  ['a scope is needed no longer', ({ item }) => (item.delete.security[0].oauth = [])],
  ['a permission is needed no longer', ({ create }) => delete create['x-permissions']],
  ['the host changes', ({ document }) => (document.servers[0].url = 'https://api.shop.example')],
  ['a server is added', ({ document }) => document.servers.push({ url: 'https://test.shop.example/api' })],
  ['servers are left out', ({ document }) => delete document.servers],
  ['a webhook is added', ({ document }) => (document.webhooks.orderPaid = document.webhooks.orderCreated)]
]

for (const [what, change] of seeds) {
  t.test(`it is compatible when ${what} [V4]`, async (t) => {
    const present = released()
    change(partsOf(present))
    t.strictSame(breakingChanges(released(), present), [])
    t.doesNotThrow(() => requireCompatible(released(), present))
  })
}

t.test('there are at least sixty of them', async (t) => {
  t.ok(seeds.length >= 60, String(seeds.length))
})

t.test('references that only lead to one another are no schema', async (t) => {
  const round = released()
  Object.assign(round.components.schemas, { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } })
  round.components.schemas.Order.properties.total = { $ref: '#/components/schemas/A' }
  t.strictSame(breakingChanges(round, structuredClone(round)), [])
  t.ok(breakingChanges(released(), round).length > 0)
})

t.test('documents with little in them are compared as well', async (t) => {
  const bare = { openapi: '3.1.1', info: { title: 'A', version: '1' } }
  t.strictSame(breakingChanges(bare, bare), [])
  t.strictSame(breakingChanges(bare, released()), [])
  const empty = { ...bare, paths: { '/a': { get: {} } }, webhooks: { one: { post: {} } } }
  t.strictSame(breakingChanges(empty, structuredClone(empty)), [])
})
