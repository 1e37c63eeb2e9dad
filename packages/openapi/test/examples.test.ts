import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { documentOf, handler, type Loose } from './shop.ts'

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
