import { isStandardSchema, jsonSchemaOf, libraryDefault, type StandardSchema, withJsonSchema } from '@concordat/plugin-kit/json-schema'
import t from 'tap'

/** A schema of a library that converts to a given JSON Schema. */
function schemaWith(jsonSchema: object): StandardSchema {
  const convert = () => jsonSchema
  return {
    '~standard': { version: 1, vendor: 'mine', validate: (value) => ({ value }), jsonSchema: { input: convert, output: convert } }
  }
}

const converted = (jsonSchema: object) => jsonSchemaOf(schemaWith(jsonSchema), 'input', 'here')

t.test('recognizes objects and functions that implement Standard Schema', async (t) => {
  const standard = schemaWith({})
  t.equal(isStandardSchema(standard), true)
  t.equal(isStandardSchema(Object.assign(() => {}, standard)), true)
  t.equal(
    isStandardSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...standard }),
    false,
    'as z.toJSONSchema() returns it'
  )
  for (const other of [
    null,
    undefined,
    'text',
    {},
    () => {},
    { '~standard': null },
    { '~standard': { version: 2, validate() {} } },
    { '~standard': { version: 1 } }
  ])
    t.equal(isStandardSchema(other), false)
})

t.test('returns other schemas unchanged', async (t) => {
  const plain = { type: 'object' }
  t.equal(jsonSchemaOf(plain, 'input', 'here'), plain)
})

t.test('replaces references by their definitions, whose names become titles', async (t) => {
  const Address = { type: 'object', properties: { city: { $ref: '#/definitions/City' } } }
  const City = { title: 'Place', type: 'string' }
  const schema = converted({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      home: { $ref: '#/definitions/Address', description: 'Where it is' },
      n: { $ref: '#/definitions/__schema0' },
      $ref: { type: 'string' }
    },
    items: [{ $ref: '#/definitions/City' }],
    definitions: { Address, City, __schema0: { type: 'integer' } }
  })
  t.strictSame(schema, {
    type: 'object',
    properties: {
      home: {
        title: 'Address',
        type: 'object',
        properties: { city: { title: 'Place', type: 'string' } },
        description: 'Where it is'
      },
      n: { type: 'integer' },
      $ref: { type: 'string' }
    },
    items: [{ title: 'Place', type: 'string' }]
  })
})

t.test('keeps the references of recursive schemas, whose names become titles unless the library generated them', async (t) => {
  const Tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/definitions/Tree' } } } }
  const Even = { type: 'object', properties: { next: { $ref: '#/definitions/Odd' } } }
  const Odd = { type: 'object', properties: { next: { $ref: '#/definitions/Even' } } }
  const definitions = { Tree, Even, Odd }
  const properties = {
    tree: { $ref: '#/definitions/Tree' },
    even: { $ref: '#/definitions/Even' },
    self: { $ref: '#' },
    lost: { $ref: '#/definitions/Lost' }
  }
  const titled = { Tree: { title: 'Tree', ...Tree }, Even: { title: 'Even', ...Even }, Odd: { title: 'Odd', ...Odd } }
  t.strictSame(converted({ properties, definitions }), { properties, definitions: titled })
  const one = { __schema0: { ...Tree, properties: { children: { $ref: '#/definitions/__schema0' } } } }
  t.strictSame(converted({ $ref: '#/definitions/__schema0', definitions: one }), { $ref: '#/definitions/__schema0', definitions: one })
})

t.test('drops formats that only the library knows, and the pattern of a known format', async (t) => {
  const properties = {
    key: { type: 'string', format: 'cuid2', pattern: '^[0-9a-z]+$' },
    id: { type: 'string', format: 'uuid', pattern: '^long$' },
    format: { type: 'string', pattern: '^a$' },
    pattern: { enum: [{ format: 'cuid2' }], examples: [{ pattern: 'p', format: 'uuid' }] }
  }
  t.strictSame(converted({ type: 'object', properties }), {
    type: 'object',
    properties: {
      ...properties,
      key: { type: 'string', pattern: '^[0-9a-z]+$' },
      id: { type: 'string', format: 'uuid' }
    }
  })
})

t.test('a default of an input is under a key that validators do not read, and under its own in outputs', async (t) => {
  const count = { type: 'integer', default: 1 }
  const deep = { type: 'array', items: { type: 'object', properties: { default: { type: 'object', default: { default: 2 } } } } }
  const schema = { type: 'object', properties: { count, deep, other: {} }, required: ['count', 'other'] }
  const input = converted(schema)
  t.strictSame(JSON.parse(JSON.stringify(input)), {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      deep: { type: 'array', items: { type: 'object', properties: { default: { type: 'object' } } } },
      other: {}
    },
    required: ['other']
  })
  t.match(input, { properties: { count: { [libraryDefault]: 1 } } })
  t.strictSame(jsonSchemaOf(schemaWith(schema), 'output', 'here'), schema)
})

t.test('a JSON Schema can be added or replaced for each side', async (t) => {
  const { jsonSchema: _none, ...standard } = schemaWith({})['~standard']
  const schema = withJsonSchema({ '~standard': standard }, (side) => ({ description: side }))
  t.strictSame(
    [jsonSchemaOf(schema, 'input', ''), jsonSchemaOf(schema, 'output', '')],
    [{ description: 'input' }, { description: 'output' }]
  )
  t.strictSame(schema['~standard'].validate(1), { value: 1 })
  t.throws(() => jsonSchemaOf({ '~standard': standard }, 'input', 'jobs: options.input'), {
    message: 'jobs: options.input is a schema of "mine" without a JSON Schema. Add the JSON Schema with withJsonSchema().'
  })
})

t.test('the error of a library keeps its reason', async (t) => {
  const failing = withJsonSchema(schemaWith({}), () => {
    throw new Error('Dates are not supported.')
  })
  t.throws(() => jsonSchemaOf(failing, 'output', 'here'), {
    message:
      'here has no JSON Schema for its output: Dates are not supported. Use a type that JSON has, for example a date as text, or set the JSON Schema with withJsonSchema().'
  })
})
