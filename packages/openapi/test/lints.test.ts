import openapi, { lintIds } from '@concordat/openapi'
import { findingsText, lintDocument } from '@concordat/openapi/lint'
import { inEnvironment } from '@concordat/test-harness/environment'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t from 'tap'
import { documentOf, enveloped, errors, handler, type Loose, shop } from './shop.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ 'application/json': { schema } })
const text = { type: 'string' }

/** Returns a new document that breaks no rule. */
function clean(): Loose {
  const document = {
    openapi: '3.1.1',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/v1/orders': {
        get: {
          security: [],
          parameters: [
            { name: 'status', in: 'query', schema: { ...text, enum: ['open', 'paid'] } },
            { name: 'total[gte]', in: 'query', schema: text },
            { name: 'sort', in: 'query', schema: { type: 'array', items: { ...text, enum: ['total', '-total'] } } },
            { name: 'perPage', in: 'query', schema: { type: 'integer', default: 25, maximum: 100 } },
            { name: 'X-Shop', in: 'header', schema: text }
          ],
          responses: {
            200: {
              description: 'A page.',
              content: { ...json({ type: 'object', properties: { data: { type: 'array', items: ref('Order') } } }), 'text/csv': {} }
            }
          }
        },
        post: {
          security: [],
          'x-idempotency': 'accepted',
          parameters: [{ name: 'Idempotency-Key', in: 'header', schema: text }],
          requestBody: { content: json(ref('NewOrder')) },
          responses: {
            201: { description: 'Created.', content: json({ type: 'object', properties: { data: ref('Order') } }) },
            '4XX': {
              description: 'Wrong.',
              content: json({ type: 'object', required: ['error'], properties: { error: { type: 'object' } } })
            }
          }
        }
      },
      '/v1/orders/{orderId}': {
        parameters: [{ name: 'orderId', in: 'path', required: true, schema: { ...text, format: 'uuid' } }],
        get: { security: [], responses: { 200: { description: 'One.', content: json(ref('Order')) } } },
        put: { security: [], requestBody: { content: json(ref('Replacement')) }, responses: { 204: { description: 'Replaced.' } } }
      }
    },
    components: {
      schemas: {
        Order: {
          type: 'object',
          required: ['id', 'total'],
          properties: {
            id: { ...text, format: 'uuid', readOnly: true },
            total: text,
            placedAt: { anyOf: [{ ...text, format: 'date-time' }, { type: 'null' }], description: 'Null: not placed yet.' },
            deliveryDate: { ...text, format: 'date' },
            tags: { type: 'array', items: text },
            reviewedAt: { type: ['string', 'null'], format: 'date-time', description: 'Null: not reviewed yet.' },
            weight: { type: ['integer', 'number'] },
            nothing: { type: 'null' },
            customerIds: { type: 'array', items: { ...text, format: 'uuid' } },
            state: { oneOf: [{ const: 'a' }, { enum: ['b'] }, { type: 'string' }] }
          }
        },
        NewOrder: { type: 'object', properties: { total: text, _links: { type: 'array' } } },
        Replacement: {
          type: 'object',
          required: ['total'],
          properties: Object.fromEntries(
            ['total', 'placedAt', 'deliveryDate', 'tags', 'reviewedAt', 'weight', 'nothing', 'customerIds', 'state'].map((name) => [
              name,
              { ...text, format: 'date-time' }
            ])
          )
        },
        Unused: { type: 'object', properties: { fine: text } }
      }
    }
  }
  // The copy has no shared objects, so a test can change each place alone.
  return JSON.parse(JSON.stringify(document))
}

interface Shop {
  readonly document: Loose
  readonly list: Loose
  readonly create: Loose
  readonly item: Loose
  readonly order: Loose
}

function findingsAfter(change: (shop: Shop) => unknown) {
  const document = clean()
  const { paths, components } = document
  change({
    document,
    list: paths['/v1/orders'].get,
    create: paths['/v1/orders'].post,
    item: paths['/v1/orders/{orderId}'],
    order: components.schemas.Order.properties
  })
  return lintDocument(document)
}

t.test(
  'finds nothing in a valid document [F1] [F2] [F3] [F4] [F5] [F7] [F8] [M11] [Q10] [Q11] [Q13] [I1] [S3] [U10] [U13] [V7] [X2]',
  async (t) => {
    t.strictSame(
      findingsAfter(() => undefined),
      []
    )
    t.equal(findingsText([]), 'No findings.')
  }
)

type Firing = readonly [rule: string, what: string, change: (shop: Shop) => unknown]
const firing: readonly Firing[] = [
  ['F1', 'a field in snake case', ({ order }) => (order.order_lines = text)],
  ['F1', 'a field that starts with an upper-case letter', ({ order }) => (order.Total = text)],
  ['F1', 'a parameter in kebab case', ({ list }) => (list.parameters[0].name = 'order-status')],
  ['F1', 'a name without a letter', ({ order }) => (order['$'] = text)],
  ['F1', 'a field in an unused schema', ({ document }) => (document.components.schemas.Unused.properties.not_fine = text)],
  ['F2', 'a time without a format', ({ order }) => (order.shippedAt = text)],
  ['F2', 'a time that is a number', ({ order }) => (order.shippedAt = { type: 'integer' })],
  ['F2', 'a date in another format', ({ order }) => (order.deliveryDate.format = 'time')],
  ['F2', 'a time with an alternative of another format', ({ order }) => (order.placedAt.anyOf[0] = text)],
  ['F3', 'a null without a description', ({ order }) => delete order.reviewedAt.description],
  ['F3', 'a null in alternatives without a description', ({ order }) => (order.placedAt.description = ' ')],
  ['F3', 'a null in the form of OpenAPI 3.0', ({ order }) => (order.total = { type: 'string', nullable: true })],
  ['F4', 'a field of two types', ({ order }) => (order.total = { type: ['string', 'number'] })],
  ['F4', 'alternatives of two types', ({ order }) => (order.total = { oneOf: [text, { type: 'integer' }] })],
  ['F4', 'alternatives of two types behind references', ({ order }) => (order.total = { anyOf: [ref('Unused'), text, ref('Nowhere')] })],
  ['F4', 'constants of two types', ({ order }) => (order.total = { anyOf: [{ const: 'a' }, { const: 1 }, {}] })],
  ['F4', 'values of two types', ({ order }) => (order.total = { enum: ['a', 1, null] })],
  ['F4', 'alternatives of an object and a string', ({ order }) => (order.total = { anyOf: [text, { properties: {} }] })],
  ['F5', 'a list that can be null', ({ order }) => (order.tags = { type: ['array', 'null'], description: 'Null: none.' })],
  [
    'F5',
    'a list in alternatives with null',
    ({ order }) => (order.tags = { anyOf: [{ type: 'array' }, { type: 'null' }], description: 'Null: none.' })
  ],
  ['F7', 'JSON in a string', ({ order }) => (order.total = { ...text, contentMediaType: 'application/json' })],
  ['F7', 'JSON as a format', ({ order }) => (order.total = { ...text, format: 'json' })],
  ['F8', 'a number as an identifier', ({ order }) => (order.id = { type: 'integer' })],
  ['F8', 'a number as the identifier of another resource', ({ order }) => (order.customerId = { type: 'integer' })],
  ['F8', 'numbers as identifiers', ({ order }) => (order.customerIds.items = { type: 'integer' })],
  ['F8', 'a number as an identifier in the path', ({ item }) => (item.parameters[0].schema = { type: 'integer' })],
  ['S3', 'a response without JSON', ({ list }) => delete list.responses[200].content['application/json']],
  ['M9', 'a GET with a body', ({ list, create }) => (list.requestBody = create.requestBody)],
  [
    'M11',
    'a PUT that does not accept a field of the resource',
    ({ document }) => delete document.components.schemas.Replacement.properties.tags
  ],
  ['M11', 'a PUT without required fields', ({ document }) => delete document.components.schemas.Replacement.required],
  [
    'M11',
    'an incomplete PUT of a resource without GET',
    ({ item }) => {
      item.put.responses = item.get.responses
      item.put.requestBody.content = json({ type: 'object', required: ['total'], properties: { total: text } })
      delete item.get
    }
  ],
  ['Q10', 'a list without pages', ({ list }) => list.parameters.splice(3, 1)],
  [
    'Q11',
    'a parameter with a nonstandard name',
    ({ list }) => list.parameters.push({ name: 'pageSize', in: 'query', schema: { type: 'integer' } })
  ],
  ['Q13', 'a page without a maximum', ({ list }) => delete list.parameters[3].schema.maximum],
  ['Q13', 'a sort parameter that does not list its fields', ({ list }) => (list.parameters[2].schema = text)],
  [
    'Q13',
    'filters in a single object',
    ({ list }) => list.parameters.push({ name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } })
  ],
  ['I1', 'an idempotency key for a method that does not use it', ({ item, create }) => item.parameters.push(create.parameters[0])],
  ['I1', 'support for idempotency keys without the header', ({ create }) => create.parameters.pop()],
  ['U10', 'an operation without security', ({ list }) => delete list.security],
  ['U13', 'a parameter without a schema', ({ list }) => delete list.parameters[0].schema],
  ['U13', 'a body without a schema', ({ create }) => (create.requestBody.content['application/json'] = {})],
  ['V7', 'a reference to a definition that is not in the document', ({ order }) => (order.total = { $ref: '#/$defs/Total' })],
  [
    'V7',
    'a reference to a component that is missing',
    ({ create }) => (create.responses.default = { $ref: '#/components/responses/None' })
  ],
  ['V7', 'a reference to another document', ({ order }) => (order.total = { $ref: 'total.json' })],
  ['X2', 'an unregistered status code', ({ list }) => (list.responses[299] = { description: 'Odd.' })],
  ['X2', 'an error in a success response', ({ create }) => (create.responses[201].content = create.responses['4XX'].content)]
]

for (const [rule, what, change] of firing) {
  t.test(`the lint finds ${what} [${rule}]`, async (t) => {
    const found = findingsAfter(change).filter((finding) => finding.rule === rule)
    t.ok(found.length > 0)
    for (const { place, problem, remedy } of found) {
      t.match(place, /^(?:(?:GET|POST|PUT) \/v1|schema \w|#\/(?:paths|components)\/)/)
      t.match(problem, /\.$/)
      t.match(remedy, /\.$/)
    }
  })
}

t.test('has a test for every rule of this package', async (t) => {
  t.strictSame([...new Set(firing.map(([rule]) => rule))].toSorted(), lintIds.toSorted())
})

type Silent = readonly [what: string, change: (shop: Shop) => unknown]
const silent: readonly Silent[] = [
  [
    'what looks like a reference in a value, and names that are keywords elsewhere',
    ({ order }) => {
      order.total = { type: 'object', properties: { example: ref('Order') }, example: { $ref: 'a' }, enum: [{ $ref: 'b' }] }
    }
  ],
  ['the name of a header', ({ list }) => (list.parameters[4].name = 'X-Shop-Name')],
  [
    'a deprecated parameter with a nonstandard name',
    ({ list }) => list.parameters.push({ name: 'limit', in: 'query', deprecated: true, schema: { type: 'integer' } })
  ],
  ['a parameter with its own media type', ({ list }) => list.parameters.push({ name: 'area', in: 'query', content: json({}) })],
  ['security for the whole document', ({ document, list }) => delete list.security && (document.security = [])],
  ['a PUT without properties in its schema', ({ item }) => (item.put.requestBody.content = json({ type: 'array' }))],
  ['a PUT of a resource that no response contains', ({ item }) => delete item.get],
  ['a time with a fixed set of values', ({ order }) => (order.dueDate = { enum: ['today'], type: 'string', readOnly: true })],
  ['a collection without a sort parameter', ({ list }) => list.parameters.splice(2, 1)],
  ['a recursive schema', ({ order }) => (order.parts = { type: 'array', items: ref('Order'), readOnly: true })],
  ['an operation without responses', ({ item }) => (item.delete = { security: [] })]
]
for (const [what, change] of silent) t.test(`the lint ignores ${what}`, async (t) => t.strictSame(findingsAfter(change), []))

function left(change: (shop: Shop) => unknown) {
  return findingsAfter((parts) => spoil(parts) && change(parts)).map(({ rule }) => rule)
}

function spoil({ document, order, list }: Shop) {
  order.order_lines = { ...text, readOnly: true }
  list.parameters.splice(3, 1)
  return document
}

t.test('waives a rule by its id with a reason for an operation or a schema', async (t) => {
  t.strictSame(
    left(() => undefined),
    ['Q10', 'F1']
  )
  t.strictSame(
    left(({ list }) => (list['x-waivers'] = { Q10: 'There are three.', F1: 'As the printer wants it.' })),
    []
  )
  t.strictSame(
    left(({ document }) => (document.components.schemas.Order['x-waivers'] = { F1: 'As the printer wants it.' })),
    ['Q10']
  )
  t.strictSame(lintDocument(clean(), { waive: { F1: 'So.' } }), [])
})

t.test('reports a waiver without a reason', async (t) => {
  t.match(
    findingsAfter(({ list, order }) => {
      list['x-waivers'] = { F1: '' }
      order.total['x-waivers'] = { F3: 3 }
    }),
    [
      { rule: 'F1', place: 'GET /v1/orders', problem: /without a reason/ },
      { rule: 'F3', place: 'schema Order.total' }
    ]
  )
})

t.test('follows references with percent-encoding, and those that lead through a list', async (t) => {
  const document = clean()
  document.paths['/v1/orders/{orderId}'].get.parameters = [
    { $ref: '#/paths/~1v1~1orders/get/parameters/1' },
    { $ref: '#/components/parameters/in%20stock' }
  ]
  document.components.parameters = { 'in stock': { name: 'stock', in: 'query', schema: { type: 'boolean' } } }
  const seen = new Map<string, object>()
  const check = ({ method, url, schema }: { method: string; url: string; schema: { querystring: object } }) =>
    void seen.set(`${method} ${url}`, schema.querystring)
  lintDocument(document, { routeLints: [{ id: 'P9', check }] })
  t.match(seen.get('GET /v1/orders/:orderId'), { properties: { 'total[gte]': text, stock: { type: 'boolean' } } })
})

t.test('the lints of other packages get each operation in the shape of a route', async (t) => {
  const seen: unknown[] = []
  const check = (route: Loose) => {
    seen.push([route.method, route.url, Object.keys(route.schema.querystring.properties), Object.keys(route.schema.headers.properties)])
    return route.method === 'POST' ? 'it is a POST. Make it a GET.' : undefined
  }
  const odd = { id: 'P5', check: ({ method }: { method: string }) => (method === 'PUT' ? 'odd' : undefined) }
  const findings = lintDocument(clean(), { routeLints: [{ id: 'P9', check }, odd] })
  t.strictSame(findings, [
    { rule: 'P9', place: 'POST /v1/orders', problem: 'it is a POST.', remedy: 'Make it a GET.' },
    { rule: 'P5', place: 'PUT /v1/orders/{orderId}', problem: 'odd', remedy: '' }
  ])
  t.strictSame(seen[0], ['GET', '/v1/orders', ['status', 'total[gte]', 'sort', 'perPage'], ['X-Shop']])
  t.strictSame(seen[2], ['GET', '/v1/orders/:orderId', [], []])
})

function badRoutes(app: Loose) {
  app.get(
    '/v1/orders',
    {
      config: { public: true },
      schema: { response: { 200: { type: 'array', items: { type: 'object', properties: { order_id: { type: 'integer' } } } } } }
    },
    handler
  )
}

const old = { reason: 'Clients read the old names.', until: '2026-06-30' }
const waive = (until: unknown) => ({ F1: { ...old, until } })

t.test('the document waives a rule until a day, and names the waiver when the day is over', async (t) => {
  const wrong = 'the rule is waived without a reason and a last day.'
  const cases: readonly (readonly [waivers: unknown, now: string, problems: readonly string[]])[] = [
    [waive('2026-06-30'), '2026-06-30T23:59:59Z', []],
    [waive('2026-06-30'), '2026-07-01T00:00:00Z', ['the waiver ended on 2026-06-30.', 'found']],
    [waive('2026-02-30'), '2026-01-01T00:00:00Z', [wrong, 'found']],
    [waive('tomorrow'), '2026-01-01T00:00:00Z', [wrong, 'found']],
    [waive(1), '2026-01-01T00:00:00Z', [wrong, 'found']],
    [{ F1: { ...old, reason: ' ' } }, '2026-01-01T00:00:00Z', [wrong, 'found']],
    [{ F1: 'Old.' }, '2026-01-01T00:00:00Z', [wrong, 'found']],
    [{ F3: old }, '2026-01-01T00:00:00Z', ['found']],
    ['F1', '2026-01-01T00:00:00Z', ['found']]
  ]
  for (const [waivers, time, problems] of cases) {
    const document = { ...clean(), 'x-waivers': waivers }
    document.components.schemas.Legacy = { type: 'object', properties: { order_id: text } }
    document.paths['/v1/orders'].get.responses[200].content['application/json'].schema.properties.old = ref('Legacy')
    movedDate(t, Date.parse(time))
    const found = lintDocument(document)
    t.strictSame(
      found.map(({ rule, place, problem }) => (place === 'the document' ? problem : rule === 'F1' && 'found')),
      problems,
      JSON.stringify([waivers, time])
    )
    t.strictSame(lintDocument(document, { waive: { F1: 'The command waives it.' } }), [])
  }
})

t.test('a service with findings does not start, and the error lists all of them', async (t) => {
  await t.rejects(
    documentOf({ lint: 'error' }, badRoutes),
    /2 places break a rule[^]*Q10 \/v1\/openapi GET \/v1\/orders: it returns a list that is not paginated[^]*F1 \/v1\/openapi schema Order\.order_id: "order_id" is not in camelCase\. Rename it to "orderId"\./
  )
  await t.rejects(documentOf({ lint: 'error', waivers: { F1: old } }, badRoutes), /1 place breaks a rule/)
  await t.resolves(documentOf({ lint: 'error', waivers: { F1: old, Q10: old } }, badRoutes))
})

t.test('in production, what the tests have started is not linted again, unless the service says so', async (t) => {
  await t.rejects(documentOf({ lint: undefined }, badRoutes), /2 places break a rule/)
  inEnvironment(t, 'production')
  t.ok((await documentOf({ lint: undefined }, badRoutes)).paths['/v1/orders'])
  await t.rejects(documentOf({ lint: 'error' }, badRoutes), /2 places break a rule/)
})

t.test('a route can waive a rule for itself, and the document lists the waiver', async (t) => {
  const document = await documentOf({ lint: 'error' }, (app) => {
    const config = { public: true, waivers: { Q10: 'There are three.', P2: 'For another package.' } }
    app.get(
      '/v1/orders',
      { config, schema: { response: { 200: enveloped({ type: 'array', items: { type: 'object', properties: {} } }) } } },
      handler
    )
  })
  // Also those of rules that only the lints of other packages check.
  t.strictSame(document.paths['/v1/orders'].get['x-waivers'], { Q10: 'There are three.', P2: 'For another package.' })
})

t.test('logs findings as warnings when lint is "warning"', async (t) => {
  const lines: Loose[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => lines.push(JSON.parse(line)) } } })
  await app.register(openapi, { lint: 'warning', reference: false })
  app.get('/v1/orders', { schema: { querystring: { type: 'object', properties: { order_id: { type: 'string' } } } } }, handler)
  await app.ready()
  t.match(lines, [
    {
      rule: 'F1',
      place: '/v1/openapi GET /v1/orders query order_id',
      msg: /^openapi: "order_id" is not in camelCase\. Rename it to "orderId"\.$/
    }
  ])
})

t.test('the parts that this package adds break no rule', async (t) => {
  const document = await documentOf({ errors, errorsOf: () => errors.map(({ code }) => code) }, shop)
  t.strictSame(lintDocument(document), [])
})

t.test('a document whose parts are elsewhere waives the rule about references as a whole', async (t) => {
  const document = clean()
  document.components.schemas.Order.properties.total = { $ref: 'total.json' }
  t.match(lintDocument(document), [{ rule: 'V7', place: '#/components/schemas/Order/properties/total' }])
  t.strictSame(lintDocument(document, { waive: { V7: 'The files are bundled later.' } }), [])
})
