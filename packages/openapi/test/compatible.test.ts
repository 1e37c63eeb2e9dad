import { breakingChanges, requireCompatible } from '@concordat/openapi/diff'
import t from 'tap'
import { type Parts, partsOf, released } from './released.ts'
import type { Loose } from './shop.ts'

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
  ['the letter case of a request header changes', ({ create }) => (create.parameters[0].name = 'idempotency-key')],
  ['a parameter moves to the path item', ({ document, list }) => document.paths['/v1/orders'].parameters.push(list.parameters.shift())],
  [
    'a parameter moves to the components',
    ({ document, list }) => {
      document.components.parameters.Status = list.parameters[0]
      list.parameters[0] = { $ref: '#/components/parameters/Status' }
    }
  ],
  [
    'a parameter that is a reference to itself changes nothing',
    ({ document, list }) => {
      document.components.parameters.Loop = { $ref: '#/components/parameters/Loop' }
      list.parameters.push({ $ref: '#/components/parameters/Loop' })
    }
  ],
  ['the order of the parameters changes', ({ list }) => (list.parameters = list.parameters.toReversed())],
  ['a required parameter becomes optional', ({ list }) => (list.parameters[0].required = false)],
  ['a parameter accepts another value', ({ list }) => list.parameters[0].schema.enum.push('lost')],
  ['a parameter accepts any value', ({ list }) => delete list.parameters[0].schema.enum],
  ['a sort order is added', ({ list }) => list.parameters[1].schema.items.enum.push('status')],
  ['the maximum of a parameter increases', ({ list }) => (list.parameters[2].schema.maximum = 200)],
  ['the minimum of a parameter is removed', ({ list }) => delete list.parameters[2].schema.minimum],
  ['an integer parameter accepts any number', ({ list }) => (list.parameters[2].schema.type = 'number')],
  ['a parameter gets a default', ({ list }) => (list.parameters[0].schema.default = 'pending')],
  ['the default style is declared explicitly', ({ list }) => Object.assign(list.parameters[0], { style: 'form', explode: true })],
  ['a parameter is deprecated', ({ list }) => (list.parameters[0].deprecated = true)],
  ['an operation is deprecated', ({ list }) => (list.deprecated = true)],
  [
    'descriptions, summaries and operation ids change',
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
  ['a body accepts null', ({ draft }) => (draft.note.type = ['string', 'null'])],
  ['a body accepts null, declared as alternatives', ({ draft }) => (draft.channel = { anyOf: [draft.channel, { type: 'null' }] })],
  ['null in alternatives is declared as a type', ({ draft }) => (draft.gift = { type: ['string', 'null'], enum: ['wrap', null] })],
  ['an integer in a body accepts any number', ({ draft }) => (draft.step = { type: 'number', multipleOf: 5 })],
  ['the maximum length of a string in a body increases', ({ draft }) => (draft.note.maxLength = 2000)],
  ['the maximum length of a string in a body is removed', ({ draft }) => delete draft.note.maxLength],
  ['the maximum length of a list in a body increases', ({ draft }) => (draft.items.maxItems = 500)],
  ['a list in a body can be empty', ({ draft }) => (draft.items.minItems = 0)],
  ['the multipleOf of a number in a body gets smaller', ({ draft }) => (draft.step.multipleOf = 1)],
  ['the multipleOf of a number in a body is removed', ({ draft }) => delete draft.step.multipleOf],
  ['a body accepts another value', ({ draft }) => draft.channel.enum.push('shop')],
  [
    'an alternative of a body is added',
    ({ draft }) => draft.payment.oneOf.push({ type: 'object', required: ['cash'], properties: { cash: { type: 'boolean' } } })
  ],
  ['the order of the alternatives of a body changes', ({ draft }) => (draft.payment.oneOf = draft.payment.oneOf.toReversed())],
  ['the format of a path parameter is removed', ({ item }) => delete item.parameters[0].schema.format],
  ['a body explicitly accepts unknown properties', ({ schemas }) => (schemas.NewOrder.additionalProperties = true)],
  ['an error status code is added', ({ list }) => (list.responses[429] = { description: 'Slow down.' })],
  ['a server error is added', ({ create }) => (create.responses[503] = { description: 'Later.' })],
  [
    'an error code is added',
    ({ document }) =>
      document.components.responses.NotFound.content[json].schema.properties.error.allOf[1].properties.code.enum.push('ORDER_NOT_FOUND')
  ],
  [
    'an error code is added that is longer than those before, and the length of a code is limited',
    ({ document }) => {
      document.components.schemas.ErrorDetail.properties.code.maxLength = 100
      document.components.responses.NotFound.content[json].schema.properties.error.allOf[1].properties.code.enum.push(
        'ORDER_AND_ITS_ITEMS_NOT_FOUND'
      )
    }
  ],
  [
    'a status code is described by its range',
    ({ create }) => {
      create.responses['4XX'] = create.responses[404]
      delete create.responses[404]
    }
  ],
  ['an error status code is described in addition to its range', ({ item }) => (item.get.responses[404] = { description: 'Nothing.' })],
  [
    'a status code is described in addition to default',
    ({ document }) => (document.paths['/v1/searches'].post.responses[200] = { description: 'Found.' })
  ],
  ['304 is added', ({ item }) => (item.get.responses[304] = { description: 'Not modified.' })],
  ['a header of a response is added', ({ create }) => (create.responses[201].headers.ETag = { schema: text })],
  ['the letter case of a response header changes', ({ create }) => (create.responses[201].headers = { location: { schema: text } })],
  ['a header of a response becomes required', ({ create }) => (create.responses[201].headers.Location.required = true)],
  ['a media type of a response is added', ({ item }) => (item.get.responses[200].content['text/csv'] = { schema: text })],
  ['an optional field of a response is added', ({ order }) => (order.coupon = text)],
  ['a required field of a response is added', ({ order, schemas }) => (order.coupon = text) && schemas.Order.required.push('coupon')],
  ['a field of a response becomes required', ({ schemas }) => schemas.Order.required.push('note')],
  ['a field of a response can no longer be null', ({ order }) => (order.reviewedAt.type = 'string')],
  ['a number in a response becomes an integer', ({ order }) => (order.weight.type = 'integer')],
  ['a value of a field of a response is removed', ({ order }) => order.status.enum.pop()],
  ['a string in a response gets a format', ({ schemas }) => (schemas.Link.properties.rel.format = 'uri')],
  ['the maximum length of a string in a response decreases', ({ order }) => (order.note.maxLength = 20)],
  ['the bounds of a number in a response get narrower', ({ order }) => Object.assign(order.count, { minimum: 1, maximum: 50 })],
  [
    'the maximum length of a list in a response decreases',
    ({ list }) => (list.responses[200].content[json].schema.properties.data.maxItems = 50)
  ],
  [
    'the items of a list in a response become unique',
    ({ list }) => (list.responses[200].content[json].schema.properties.data.uniqueItems = true)
  ],
  ['an alternative of a response is removed', ({ order }) => order.payment.oneOf.pop()],
  ['a response no longer has unknown properties', ({ schemas }) => (schemas.Order.additionalProperties = false)],
  ['a reference is replaced by its schema', ({ order, schemas }) => (order.total = structuredClone(schemas.Money))],
  ['a reference is wrapped in allOf', ({ order }) => (order.total = { allOf: [{ $ref: '#/components/schemas/Money' }] })],
  [
    'a component is renamed',
    ({ order, schemas }) => {
      schemas.Amount = schemas.Money
      order.total = { $ref: '#/components/schemas/Amount' }
    }
  ],
  ['a constant is declared as an enumeration', ({ schemas }) => (schemas.Money.properties.currency = { type: 'string', enum: ['EUR'] })],
  ['an operation becomes public', ({ item }) => (item.patch.security = [])],
  ['a security scheme is added', ({ item }) => item.delete.security.push({ bearer: [] })],
  ['a scope is removed', ({ item }) => (item.delete.security[0].oauth = [])],
  ['a permission is removed', ({ create }) => delete create['x-permissions']],
  ['the host changes', ({ document }) => (document.servers[0].url = 'https://api.shop.example')],
  ['a server is added', ({ document }) => document.servers.push({ url: 'https://test.shop.example/api' })],
  ['the servers are removed', ({ document }) => delete document.servers],
  ['a webhook is added', ({ document }) => (document.webhooks.orderPaid = document.webhooks.orderCreated)]
]

for (const [what, change] of seeds) {
  t.test(`reports no breaking change when ${what} [V4]`, async (t) => {
    const present = released()
    change(partsOf(present))
    t.strictSame(breakingChanges(released(), present), [])
    t.doesNotThrow(() => requireCompatible(released(), present))
  })
}

t.test('covers at least sixty compatible changes', async (t) => {
  t.ok(seeds.length >= 60, String(seeds.length))
})

t.test('reports a schema whose references only refer to each other', async (t) => {
  const round = released()
  Object.assign(round.components.schemas, { A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } })
  round.components.schemas.Order.properties.total = { $ref: '#/components/schemas/A' }
  t.strictSame(breakingChanges(round, structuredClone(round)), [])
  t.ok(breakingChanges(released(), round).length > 0)
})

t.test('compares schemas that contain themselves in allOf, or as one of two alternatives', async (t) => {
  const nested = released()
  nested.components.schemas.Order.allOf = [{ $ref: '#/components/schemas/Order' }]
  nested.components.schemas.Money.anyOf = [{ $ref: '#/components/schemas/Money' }, { type: 'null' }]
  t.strictSame(breakingChanges(nested, structuredClone(nested)), [])
})

function tree() {
  const document = released()
  const children = { type: 'array', items: { $ref: '#/components/schemas/Tree' } }
  const branch = { type: 'object', required: ['children'], properties: { children } }
  Object.assign(document.components.schemas, { Tree: { oneOf: [branch, { type: 'object', properties: { leaf: { type: 'string' } } }] } })
  document.components.schemas.Order.properties.tree = { $ref: '#/components/schemas/Tree' }
  return document
}

t.test('compares alternatives that contain each other', async (t) => {
  t.strictSame(breakingChanges(tree(), tree()), [])
  const changed = tree()
  delete changed.components.schemas.Tree.oneOf[1].properties.leaf
  t.match(breakingChanges(tree(), changed), [{ problem: /alternatives/ }])
})

// As messages and channels of a chat. Comparing each pair again takes years.
t.test('compares kinds whose unions contain one another', async (t) => {
  const kinds = ['Text', 'Image', 'Quote', 'Thread']
  const chat = () => {
    const document = released()
    const ref = (index: number) => ({ $ref: `#/components/schemas/${kinds[index % kinds.length]}` })
    for (const [index, kind] of kinds.entries()) {
      const parts = { type: 'array', items: { oneOf: kinds.map((_, other) => ref(other)) } }
      const other = { anyOf: [{ type: 'null' }, ref(index + 1), ref(index + 2)] }
      document.components.schemas[kind] = { type: 'object', required: ['kind'], properties: { kind: { const: kind }, parts, other } }
    }
    document.components.schemas.Order.properties.message = { oneOf: kinds.map((_, index) => ref(index)) }
    return document
  }
  t.strictSame(breakingChanges(chat(), chat()), [])
  const renamed = JSON.parse(JSON.stringify(chat()).replaceAll('schemas/Text', 'schemas/Words').replace('"Text":', '"Words":'))
  t.strictSame(breakingChanges(chat(), renamed), [])
  const changed = chat()
  delete changed.components.schemas.Thread.properties.parts
  t.ok(breakingChanges(chat(), changed).some(({ problem }) => problem.includes('alternatives')))
})

function recursive() {
  const [order, part] = [{ $ref: '#/components/schemas/Order' }, { $ref: '#/components/schemas/Part' }]
  const document = released()
  Object.assign(document.components.schemas, { Part: { properties: { parent: order, sibling: part, label: { type: 'string' } } } })
  document.components.schemas.Order.allOf = [part]
  Object.assign(document.components.schemas.Order.properties, { parent: part, sibling: order })
  return document
}

t.test('compares a recursive property that two parts of allOf declare', async (t) => {
  t.strictSame(breakingChanges(recursive(), recursive()), [])
  const changed = recursive()
  delete changed.components.schemas.Part.properties.label
  t.match(breakingChanges(recursive(), changed), [{ problem: 'was removed' }])
})

t.test('compares documents without paths, operations or components', async (t) => {
  const bare = { openapi: '3.1.1', info: { title: 'A', version: '1' } }
  t.strictSame(breakingChanges(bare, bare), [])
  t.strictSame(breakingChanges(bare, released()), [])
  const empty = { ...bare, paths: { '/a': { get: {} } }, webhooks: { one: { post: {} } } }
  t.strictSame(breakingChanges(empty, structuredClone(empty)), [])
})

// Each level is another schema.
function nested(depth: number, leaf: Loose) {
  const document = released()
  for (let level = 0; level < depth; level += 1) {
    const inner = level + 1 < depth ? { $ref: `#/components/schemas/Level${level + 1}` } : leaf
    document.components.schemas[`Level${level}`] = { type: 'object', properties: { inner } }
  }
  document.components.schemas.Order.properties.level = { $ref: '#/components/schemas/Level0' }
  return document
}

t.test('compares schemas of any depth', async (t) => {
  t.strictSame(breakingChanges(nested(2000, { type: 'string' }), nested(2000, { type: 'string', maxLength: 9 })), [])
  const changes = breakingChanges(nested(2000, { type: 'string' }), nested(2000, { type: 'integer' }))
  t.match(changes, [{ place: /(\.inner){2000}$/, problem: 'its type was string and is integer' }])
})
