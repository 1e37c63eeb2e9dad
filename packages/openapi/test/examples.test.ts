import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { documentOf, enveloped, errors, handler, type Loose, shop } from './shop.ts'

/** Returns the example of a response with this schema, or undefined when the document has none. Throws when the example is invalid. */
async function exampleFor(schema: object): Promise<Loose> {
  const document = await documentOf({}, (app) => {
    app.addSchema({ $id: 'known', type: 'string', examples: ['known'] })
    app.get('/v1/things', { schema: { response: { 200: { type: 'object', properties: { value: schema } } } } }, handler)
  })
  const media = document.paths['/v1/things'].get.responses[200].content['application/json']
  const ajv = new Ajv2020({ strict: false, logger: false })
  addFormats.default(ajv)
  const validate = ajv.compile({ ...media.schema, components: document.components })
  if (!validate(media.example)) throw new Error(JSON.stringify([media.example, validate.errors]))
  return media.example.value
}

const cases: readonly (readonly [schema: object, example: unknown])[] = [
  [{ type: 'string' }, 'Value'],
  [{ type: 'string', maxLength: 2 }, 'Va'],
  [{ type: 'string', minLength: 6 }, 'Value.'],
  [{ type: 'string', minLength: 3, maxLength: 2 }, undefined],
  [{ type: 'string', examples: ['own'] }, 'own'],
  [{ type: 'string', default: 'usual' }, 'usual'],
  [{ type: 'string', const: 'only' }, 'only'],
  [{ enum: ['first', 'second'] }, 'first'],
  [{ type: 'string', format: 'date-time' }, '2026-01-31T12:00:00.000Z'],
  [{ type: 'string', format: 'email' }, 'ada@example.com'],
  [{ type: 'string', format: 'email', maxLength: 3 }, undefined],
  [{ type: 'string', format: 'strange' }, undefined],
  [{ type: 'string', format: 'binary' }, 'Value'],
  [{ type: 'string', pattern: '^[A-Z]{3}$' }, 'EUR'],
  [{ type: 'string', pattern: '^[x]{9}$' }, undefined],
  [{ type: 'integer' }, 1],
  [{ type: 'integer', minimum: 5 }, 5],
  [{ type: 'integer', exclusiveMinimum: 5 }, 6],
  [{ type: 'integer', maximum: -3 }, -3],
  [{ type: 'number', exclusiveMaximum: 0 }, -1],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  [{ type: 'integer', minimum: 7, maximum: 8, multipleOf: 5 }, undefined],
  [{ type: 'boolean' }, true],
  [{ type: ['null', 'boolean'] }, true],
  [{}, undefined],
  [{ type: 'array', items: { type: 'string' } }, ['Value']],
  [{ type: 'array' }, []],
  [{ type: 'array', items: {} }, []],
  [{ type: 'array', items: { type: 'string' }, maxItems: 0 }, []],
  [{ type: 'array', items: { type: 'string' }, minItems: 2 }, undefined],
  [{ type: 'array', items: {}, minItems: 1 }, undefined],
  [{ type: 'object', properties: { a: { type: 'string' }, b: {} } }, { a: 'A' }],
  [{ type: 'object', required: ['b'], properties: { b: {} } }, undefined],
  [{ type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'string' } } }, { a: 'A' }],
  [
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'string', examples: ['own'] } } }
    },
    { a: 'A', b: ['own'] }
  ],
  [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', example: 'own' } } }, { b: 'own' }],
  [
    {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'boolean' }, b: { type: 'boolean' }, c: { type: 'boolean' }, d: { type: 'boolean' } },
      dependentRequired: { b: ['c'], a: ['b'] }
    },
    { a: true, b: true, c: true }
  ],
  [{ type: 'object', properties: { a: { type: 'string' } }, not: { required: ['a'] } }, undefined],
  [{ type: 'object', properties: { a: { type: 'string' } }, if: { required: ['a'] }, else: { required: ['b'] } }, undefined],
  [{ type: 'object', properties: { orderId: { type: 'string' } } }, { orderId: '018f4e2a-7c1b-7d3e-9a5f-0123456789ab' }],
  [{ type: 'object', properties: { orderId: { type: 'string', maxLength: 8 } } }, { orderId: 'Order id' }],
  [{ type: 'string', pattern: '^[A-Za-z0-9+/]+=$', contentEncoding: 'base64' }, 'SGVsbG8='],
  [{ type: 'array', items: [{ type: 'string' }, { type: 'integer' }], minItems: 2, additionalItems: false }, ['Value', 1]],
  [{ type: 'array', items: [{}, { type: 'integer' }], minItems: 2, additionalItems: false }, undefined],
  [{ type: 'array', items: [{ type: 'integer' }], minItems: 2, additionalItems: { type: 'integer' } }, undefined],
  [{ type: 'object', required: ['c'], properties: { b: { type: 'string' } } }, undefined],
  [{ anyOf: [{}, { type: 'integer' }] }, 1],
  [{ anyOf: [{}] }, undefined],
  [{ oneOf: [{ type: 'boolean' }] }, true],
  [
    { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }], properties: { b: { type: 'boolean' } } },
    { a: 'A', b: true }
  ],
  [{ allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { minProperties: 1 }] }, undefined],
  [{ $ref: 'known#' }, 'known']
]

for (const [schema, example] of cases) {
  const title = example === undefined ? 'none, because it could be invalid' : JSON.stringify(example)
  t.test(`the example of ${JSON.stringify(schema)} is ${title}`, async (t) => {
    t.strictSame(await exampleFor(schema), example)
  })
}

t.test('a recursive schema has a finite example', async (t) => {
  const document = await documentOf({}, (app) => {
    app.addSchema({ $id: 'node', type: 'object', properties: { name: { type: 'string' }, next: { $ref: 'node#' } } })
    app.get('/v1/nodes/:id', { schema: { response: { 200: { $ref: 'node#' } } } }, handler)
  })
  t.match(document.paths['/v1/nodes/{id}'].get.responses[200].content['application/json'].example, { name: 'Name', next: { name: 'Name' } })
})

t.test('keeps the examples of the author', async (t) => {
  const document = await documentOf({}, (app) => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, examples: [{ a: 'own' }] }
    const content = { 'application/json': { schema, example: { a: 'mine' } } }
    app.get('/v1/a/:id', { schema: { response: { 200: schema } } }, handler)
    app.get('/v1/b/:id', { schema: { response: { 200: { description: 'B.', content } } } }, handler)
  })
  const media = (path: string) => document.paths[path].get.responses[200].content['application/json']
  t.strictSame(media('/v1/a/{id}').example, { a: 'own' })
  t.strictSame(media('/v1/b/{id}').example, { a: 'mine' })
})

function selfAt(root: string, path: string, method: string) {
  return [{ rel: 'self', href: root + path, method }]
}

const uuid = '018f4e2a-7c1b-7d3e-9a5f-0123456789ab'

for (const [publicUrl, root] of [
  ['https://shop.example/base', 'https://shop.example/base'],
  [undefined, 'https://api.example.com']
] as const) {
  t.test(`links in examples lead to the resources of the document below ${root} [K2] [K3]`, async (t) => {
    const linked = { type: 'object', properties: { rel: {}, href: { type: 'string' }, method: {} } }
    const { paths, components } = await documentOf({ publicUrl, errors }, (app) => {
      shop(app)
      const response = {
        202: enveloped({ type: 'object', properties: { id: { type: 'string' }, _links: { type: 'array', items: linked } } })
      }
      app.post('/v1/exports', { schema: { response }, handler })
      app.get('/v1/exports/:id', { schema: { response: { 200: { type: 'string' } } }, handler })
      app.post('/v1/orders/:id/cancellations', { schema: { response: { 201: enveloped({ type: 'object', properties: {} }) } }, handler })
    })
    const example = (path: string, method: string, status: number) =>
      paths[path][method].responses[status].content['application/json'].example
    t.strictSame(example('/v1/orders', 'get', 200)._links, selfAt(root, '/v1/orders', 'GET'))
    t.strictSame(example('/v1/orders', 'post', 201)._links, selfAt(root, `/v1/orders/${uuid}`, 'GET'), 'the created resource')
    t.strictSame(example('/v1/orders/{id}', 'patch', 200)._links, selfAt(root, `/v1/orders/${uuid}`, 'PATCH'))
    t.strictSame(example('/v1/orders/{id}/cancellations', 'post', 201)._links, selfAt(root, `/v1/orders/${uuid}/cancellations`, 'POST'))
    t.strictSame(example('/v1/exports', 'post', 202)._links, selfAt(root, '/v1/exports', 'POST'))
    t.strictSame(example('/v1/exports', 'post', 202).data, { id: uuid, _links: selfAt(root, `/v1/exports/${uuid}`, 'GET') })
    t.strictSame(paths['/v1/exports/{id}'].get.parameters, [
      {
        schema: { type: 'string', maxLength: 100 },
        name: 'id',
        in: 'path',
        required: true,
        description: 'The path parameter id.',
        example: uuid
      }
    ])
    const failure = Object.values(components.responses).flatMap((one: Loose) => Object.values(one.content['application/json'].examples))
    for (const { value } of failure as Loose[]) t.strictSame(value._links, selfAt(root, '/v1', 'GET'))
  })
}

const samples = (operation: Loose) =>
  operation.parameters.flatMap(({ name, in: where, required, schema }: Loose) =>
    where === 'header' ? [[name, required, schema.examples]] : []
  )

t.test('required headers have an example, so that samples of requests have them; optional headers have none [I1] [O1]', async (t) => {
  const { paths } = await documentOf({}, shop)
  const { get, put, patch } = paths['/v1/orders/{id}']
  t.strictSame(samples(paths['/v1/orders'].post), [['Idempotency-Key', true, ['8e03978e-40d5-43e8-bc93-6894a57f9324']]])
  t.strictSame(samples(patch), [
    ['Idempotency-Key', false, undefined],
    ['If-Match', true, ['"33a64df5"']]
  ])
  t.strictSame(samples(put), [['If-Match', false, undefined]])
  t.strictSame(samples(get), [
    ['If-None-Match', false, undefined],
    ['If-Modified-Since', false, undefined]
  ])
})
