import { breakingChanges, changesText, requireCompatible } from '@concordat/openapi/diff'
import t from 'tap'
import { type Parts, partsOf, released } from './released.ts'
import type { Loose } from './shop.ts'

type Seed = readonly [what: string, change: (parts: Parts) => unknown]
const json = 'application/json'
const schemaOf = (operation: Parts['list'], status: number) => operation.responses[status].content[json].schema

const seeds: readonly Seed[] = [
  ['a path is removed', ({ document }) => delete document.paths['/v1/orders/{id}']],
  [
    'a path is renamed',
    ({ document }) =>
      Object.assign(document.paths, { '/v1/purchases': document.paths['/v1/orders'] }) && delete document.paths['/v1/orders']
  ],
  ['a method is removed', ({ item }) => delete item.delete],
  ['a method is replaced', ({ item }) => Object.assign(item, { put: item.patch }) && delete item.patch],
  ['a query parameter is removed', ({ list }) => list.parameters.shift()],
  ['a query parameter is renamed', ({ list }) => (list.parameters[2].name = 'pageSize')],
  ['a shared parameter is removed', ({ list }) => list.parameters.pop()],
  ['a parameter of the path item is removed', ({ document }) => delete document.paths['/v1/orders'].parameters],
  ['a header parameter is removed', ({ create }) => create.parameters.pop()],
  ['an optional parameter becomes required', ({ list }) => (list.parameters[0].required = true)],
  ['an optional header becomes required', ({ create }) => (create.parameters[0].required = true)],
  [
    'a required query parameter is added',
    ({ list }) => list.parameters.push({ name: 'tenant', in: 'query', required: true, schema: { type: 'string' } })
  ],
  [
    'a required header is added',
    ({ create }) => create.parameters.push({ name: 'X-Shop', in: 'header', required: true, schema: { type: 'string' } })
  ],
  ['the type of a parameter changes', ({ list }) => (list.parameters[2].schema = { type: 'string' })],
  ['a parameter no longer accepts a value', ({ list }) => list.parameters[0].schema.enum.pop()],
  ['a parameter now accepts only some values', ({ document }) => (document.components.parameters.After.schema.enum = ['a'])],
  ['the maximum of a parameter decreases', ({ list }) => (list.parameters[2].schema.maximum = 50)],
  ['the minimum of a parameter increases', ({ list }) => (list.parameters[2].schema.minimum = 5)],
  ['the maximum length of a cursor decreases', ({ document }) => (document.components.parameters.After.schema.maxLength = 100)],
  ['the default of a parameter changes', ({ list }) => (list.parameters[2].schema.default = 50)],
  ['the default of a parameter is removed', ({ list }) => delete list.parameters[2].schema.default],
  ['the default sort order changes', ({ list }) => (list.parameters[1].schema.default = ['total'])],
  ['a sort order is removed', ({ list }) => list.parameters[1].schema.items.enum.pop()],
  ['a list parameter is serialized in another style', ({ list }) => (list.parameters[1].explode = true)],
  ['the format of a path parameter changes', ({ item }) => (item.parameters[0].schema.format = 'ulid')],
  ['a parameter gets a pattern', ({ document }) => (document.components.parameters.After.schema.pattern = '^[a-z]+$')],
  ['a body becomes required', ({ item }) => (item.patch.requestBody.required = true)],
  ['a required body is added', ({ document }) => (document.paths['/v1/searches'].post.requestBody = { required: true, content: {} })],
  ['a body is removed', ({ item }) => delete item.patch.requestBody],
  ['a media type of a body is removed', ({ create }) => delete create.requestBody.content['application/x-www-form-urlencoded']],
  ['a field of a body is removed', ({ draft }) => delete draft.note],
  ['a field of a body is renamed', ({ draft }) => Object.assign(draft, { remark: draft.note }) && delete draft.note],
  [
    'a required field of a body is added',
    ({ schemas, draft }) => Object.assign(draft, { customer: { type: 'string' } }) && schemas.NewOrder.required.push('customer')
  ],
  ['a field of a body becomes required', ({ schemas }) => schemas.NewOrder.required.push('note')],
  ['a field of a list item in a body becomes required', ({ draft }) => draft.items.items.required.push('quantity')],
  ['the type of a field of a body changes', ({ draft }) => (draft.note.type = 'integer')],
  ['a number of a body becomes an integer', ({ schemas }) => (schemas.OrderChanges.properties.weight.type = 'integer')],
  ['a body no longer accepts null', ({ schemas }) => (schemas.OrderChanges.properties.note.type = 'string')],
  ['a body no longer accepts null, declared as alternatives', ({ draft }) => (draft.gift = { type: 'string', enum: ['wrap'] })],
  ['a body no longer accepts a value', ({ draft }) => draft.channel.enum.pop()],
  ['the maximum length of a string in a body decreases', ({ draft }) => (draft.note.maxLength = 100)],
  ['a string in a body gets a maximum length', ({ draft }) => (draft.when.maxLength = 10)],
  ['the maximum length of a list in a body decreases', ({ draft }) => (draft.items.maxItems = 10)],
  ['a list in a body requires more items', ({ draft }) => (draft.items.minItems = 2)],
  ['a string in a body gets a format', ({ draft }) => (draft.when.format = 'date')],
  ['a number in a body gets another multipleOf', ({ draft }) => (draft.step.multipleOf = 10)],
  ['the items of a list in a body must become unique', ({ draft }) => (draft.items.uniqueItems = true)],
  ['an alternative of a body is removed', ({ draft }) => draft.payment.oneOf.pop()],
  ['a body no longer accepts unknown properties', ({ schemas }) => (schemas.NewOrder.additionalProperties = false)],
  ['a default of a body changes', ({ draft }) => (draft.items.items.properties.quantity.default = 2)],
  [
    'a success status code changes',
    ({ create }) => Object.assign(create.responses, { 200: create.responses[201] }) && delete create.responses[201]
  ],
  ['a success status code is added', ({ create }) => (create.responses[202] = { description: 'Later.' })],
  ['a redirect is added', ({ list }) => (list.responses[301] = { description: 'Moved.' })],
  [
    'an error status code changes',
    ({ create }) => Object.assign(create.responses, { 410: create.responses[404] }) && delete create.responses[404]
  ],
  ['the body of a response is removed', ({ item }) => delete item.get.responses[200].content],
  ['a media type of a response is removed', ({ list }) => delete list.responses[200].content['text/csv']],
  ['a header of a response is removed', ({ create }) => delete create.responses[201].headers.Location],
  ['a header of a response becomes optional', ({ list }) => (list.responses[200].headers['Request-Id'].required = false)],
  ['the type of a header changes', ({ document }) => (document.components.headers.Vary.schema.type = 'integer')],
  ['a field of a response is removed', ({ order }) => delete order.note],
  ['a field of a response is renamed', ({ order }) => Object.assign(order, { remark: order.note }) && delete order.note],
  ['a nested field of a response is removed', ({ schemas }) => delete schemas.Money.properties.currency],
  ['a field of a response becomes optional', ({ schemas }) => schemas.Order.required.pop()],
  ['the type of a field of a response changes', ({ order }) => (order.total = { type: 'string' })],
  ['an integer in a response becomes a number', ({ order }) => (order.count.type = 'number')],
  ['a field of a response can become null', ({ order }) => (order.note.type = ['string', 'null'])],
  [
    'a field of a response can become null, declared as alternatives',
    ({ order }) => (order.placedAt = { anyOf: [order.placedAt, { type: 'null' }] })
  ],
  ['a field of a response can have a new value', ({ order }) => order.status.enum.push('lost')],
  ['a field of a response can have any value', ({ order }) => delete order.status.enum],
  ['a constant in a response changes', ({ schemas }) => (schemas.Money.properties.currency.const = 'USD')],
  ['the format of a field of a response changes', ({ order }) => (order.placedAt.format = 'date')],
  ['the format of a field of a response is removed', ({ order }) => delete order.placedAt.format],
  ['the pattern of a field of a response changes', ({ schemas }) => (schemas.Money.properties.amount.pattern = '^\\d+$')],
  ['the maximum of a number in a response increases', ({ order }) => (order.count.maximum = 1000)],
  ['the minimum of a number in a response is removed', ({ order }) => delete order.count.minimum],
  ['a list in a response becomes an object', ({ list }) => (schemaOf(list, 200).properties.data = { $ref: '#/components/schemas/Order' })],
  ['the maximum length of a list in a response increases', ({ list }) => (schemaOf(list, 200).properties.data.maxItems = 1000)],
  ['the type of the list items in a response changes', ({ order }) => (order.tags.items.type = 'integer')],
  ['a list in a response can have duplicate items', ({ order }) => delete order.tags.uniqueItems],
  ['the type of the values of a map changes', ({ order }) => (order.labels.additionalProperties.type = 'boolean')],
  [
    'an alternative of a response is added',
    ({ order }) => order.payment.oneOf.push({ type: 'object', required: ['cash'], properties: { cash: { type: 'boolean' } } })
  ],
  ['a field of a recursive schema is removed', ({ schemas }) => delete schemas.Customer.properties.referredBy],
  ['a field of the error envelope is removed', ({ schemas }) => delete schemas.ErrorDetail.properties.message],
  ['a public operation requires a token', ({ list }) => delete list.security],
  ['a security scheme is removed', ({ item }) => item.patch.security.pop()],
  ['a scope is added', ({ item }) => item.delete.security[0].oauth.push('admin')],
  ['a second credential is required', ({ item }) => (item.patch.security = [{ bearer: [], key: [] }])],
  ['a permission is added', ({ create }) => create['x-permissions'].push('orders:import')],
  ['a permission is required for the first time', ({ item }) => (item.get['x-permissions'] = ['orders:read'])],
  ['the path before the version changes', ({ document }) => (document.servers[0].url = 'https://shop.example/api')],
  ['a webhook is removed', ({ document }) => delete document.webhooks.orderCreated],
  ['the method of a webhook changes', ({ document }) => (document.webhooks.orderCreated = { put: document.webhooks.orderCreated.post })],
  ['the media type of a webhook changes', ({ document }) => (document.webhooks.orderCreated.post.requestBody.content = {})],
  ['a response has a broken reference', ({ create }) => (create.responses[404] = { $ref: '#/components/responses/Nowhere' })],
  ['a schema has a broken reference', ({ order }) => (order.total = { $ref: 'https://elsewhere.example/money.json' })]
]

for (const [what, change] of seeds) {
  t.test(`reports a breaking change when ${what} [V3]`, async (t) => {
    const present = released()
    change(partsOf(present))
    const changes = breakingChanges(released(), present)
    t.ok(changes.length > 0)
    t.throws(() => requireCompatible(released(), present), /rule V3/)
  })
}

t.test('covers at least sixty breaking changes', async (t) => {
  t.ok(seeds.length >= 60, String(seeds.length))
})

t.test('reports the place and the problem of each change [V3]', async (t) => {
  const present = released()
  const { order, list } = partsOf(present)
  order.total = { type: 'number' }
  list.parameters[2].schema.maximum = 50
  t.strictSame(breakingChanges(released(), present).slice(0, 2), [
    { place: 'GET /v1/orders query perPage', problem: 'its maximum was 100 and is 50' },
    { place: 'GET /v1/orders 200 application/json.data[].total', problem: 'its type was object and is number' }
  ])
  t.match(
    changesText(breakingChanges(released(), present)),
    /breaking changes \(rule V3\)\. Revert each change, or release a new version\.\n {2}GET \/v1\/orders query perPage: its/
  )
  t.equal(changesText([]), 'No breaking changes.')
  t.match(changesText([{ place: 'here', problem: 'was removed' }]), /^1 breaking change /)
})

const documentWith = (schema: Readonly<Record<string, unknown>>) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  paths: { '/v1/points': { get: { responses: { 200: { description: 'A point.', content: { [json]: { schema } } } } } } }
})

t.test('compares tuples by position, also with a released document in the form of draft 7 [V3]', async (t) => {
  const pair = [{ type: 'string' }, { type: 'integer' }]
  const now = documentWith({ type: 'array', prefixItems: pair, items: false })
  t.strictSame(breakingChanges(documentWith({ type: 'array', items: pair, additionalItems: false }), now), [])
  t.strictSame(breakingChanges(documentWith({ type: 'array', prefixItems: pair.toReversed(), items: false }), now), [
    { place: 'GET /v1/points 200 application/json[0]', problem: 'its type was integer and is string' },
    { place: 'GET /v1/points 200 application/json[1]', problem: 'its type was string and is integer' }
  ])
})

const search = (flags: object) => ({ parameters: [{ in: 'query', name: 'text', schema: { type: 'string' }, ...flags }] })
const behindReference = (operation: object): Loose => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  paths: { '/v1/files': { $ref: '#/components/pathItems/Files' } },
  components: { pathItems: { Files: { post: operation } } }
})

const problemsOf = (was: object, is: object) => breakingChanges(behindReference(was), behindReference(is)).map(({ problem }) => problem)

t.test('compares what surrounds a schema: encodings, flags of parameters, and path items behind a reference [V3]', async (t) => {
  const schema = { type: 'object', properties: { file: { type: 'string' } } }
  const upload = (contentType: string) => ({
    requestBody: { content: { 'multipart/form-data': { schema, encoding: { file: { contentType } } } } }
  })
  t.strictSame(problemsOf(upload('image/png'), upload('image/png')), [])
  t.strictSame(problemsOf(upload('image/png'), upload('image/gif')), ['its encoding has changed, which cannot be judged'])
  t.strictSame(problemsOf(search({ allowReserved: true }), search({})), ['lost allowReserved'])
  t.strictSame(problemsOf(search({}), search({ allowEmptyValue: true })), [])
})

const union = (start: number) => ({ anyOf: Array.from({ length: 40 }, (_, index) => ({ type: 'string', pattern: `^${start + index}` })) })

t.test('compares a schema with more than a thousand alternatives by its text [V3]', async (t) => {
  const both = { allOf: [union(0), union(100)] }
  t.strictSame(breakingChanges(documentWith(both), documentWith(structuredClone(both))), [])
  t.match(breakingChanges(documentWith(both), documentWith({ allOf: [union(0), union(101)] })), [{ problem: /cannot be judged$/ }])
})
