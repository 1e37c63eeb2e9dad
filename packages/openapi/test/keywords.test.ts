/* oxlint-disable unicorn/no-thenable -- then is a keyword of JSON Schema */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { breakingChanges } from '@concordat/openapi/diff'
import { isObject } from '@concordat/plugin-kit/json-schema'
import t from 'tap'
import type { Loose } from './shop.ts'

type Schema = Loose
type Wrap = (schema: Schema) => Loose

const text = { type: 'string' }
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
const object = (properties: Loose, rest: Loose = {}) => ({ type: 'object', properties, ...rest })

// Where a client sends or reads a value.
const parameter = (where: string) => (schema: Schema) => ({ parameters: [{ in: where, name: 'thing', required: true, schema }] })
const sent: Readonly<Record<string, Wrap>> = {
  request: (schema) => ({ requestBody: json(schema) }),
  'query parameter': parameter('query'),
  'path parameter': parameter('path'),
  'request header': parameter('header'),
  cookie: parameter('cookie'),
  'parameter with a media type': (schema) => ({ parameters: [{ in: 'query', name: 'thing', ...json(schema) }] })
}
const read: Readonly<Record<string, Wrap>> = {
  response: (schema) => ({ responses: { 200: { description: 'A thing.', ...json(schema) } } }),
  error: (schema) => ({ responses: { 404: { description: 'No thing.', ...json(schema) } } }),
  'response header': (schema) => ({ responses: { 200: { description: 'A thing.', headers: { Thing: { schema } } } } })
}

const kinds = ['card', 'bank'].map((kind) => object({ kind: { const: kind } }, { required: ['kind'] }))
// Where the schema is in the schema of the value.
const wraps: Readonly<Record<string, Wrap>> = {
  'the value': (schema) => ({ allOf: [schema] }),
  'a property': (schema) => object({ member: schema }),
  'a property beside oneOf': (schema) => ({ ...object({ member: schema }), oneOf: kinds }),
  'a property of a branch': (schema) => ({
    oneOf: [kinds[0], object({ kind: { const: 'bank' }, member: schema }, { required: ['kind'] })]
  }),
  'a property in allOf with a union': (schema) => ({ allOf: [object({ member: schema }), { anyOf: kinds }] }),
  'the items of a list': (schema) => ({ type: 'array', items: schema }),
  'an item of a tuple': (schema) => ({ type: 'array', prefixItems: [text, schema] }),
  'the values of a map': (schema) => ({ type: 'object', additionalProperties: schema }),
  'the values of a map with a pattern': (schema) => ({ type: 'object', patternProperties: { '^x-': schema } }),
  'a value or null': (schema) => ({ anyOf: [schema, { type: 'null' }] })
}

// Each place with each wrap has a path.
const sites = [sent, read].flatMap((places) =>
  Object.entries(places).flatMap(([place, placed]) =>
    Object.entries(wraps).map(([where, wrap]) => ({ side: places === sent ? 'sent' : 'read', place, placed, where, wrap }) as const)
  )
)

function documentOf(schema: Schema): Loose {
  const paths = sites.map(({ placed, wrap }, index) => [`/v1/${index}/{thing}`, { post: { responses: {}, ...placed(wrap(schema)) } }])
  return {
    openapi: '3.1.1',
    info: { title: 'Things', version: '1.0.0' },
    paths: Object.fromEntries(paths),
    components: { schemas: { Other: text } }
  }
}

interface Row {
  readonly keyword: string
  readonly what: string
  readonly was: Schema
  readonly is: Schema
  readonly breaks: { readonly sent: boolean; readonly read: boolean }
  /** The wraps for which the row holds: all of them, unless it says otherwise. */
  readonly except?: readonly string[]
}

type Change = readonly [keyword: string, was: Schema, is: Schema, ...except: string[]]

const list = (rest: Loose) => ({ type: 'array', ...rest })
const both = object({ a: text, b: text })
const isNull = 'a value or null'

const withB = object({ b: text }, { required: ['b'] })

// The new schema accepts fewer values than the old one.
const narrower: readonly Change[] = [
  ['type', { type: ['string', 'integer'] }, text],
  ['type', { type: 'number' }, { type: 'integer' }],
  ['type', { type: ['string', 'null'] }, text, isNull],
  ['type', true, text, isNull],
  ['enum', { enum: ['a', 'b'] }, { enum: ['a'] }],
  ['enum', text, { type: 'string', enum: ['a'] }],
  ['const', { enum: ['a', 'b'] }, { const: 'a' }],
  ['const', text, { const: 'a' }],
  ['minimum', { type: 'integer' }, { type: 'integer', minimum: 1 }],
  ['maximum', { type: 'integer', maximum: 2 }, { type: 'integer', maximum: 1 }],
  ['exclusiveMinimum', { type: 'number', minimum: 1 }, { type: 'number', exclusiveMinimum: 1 }],
  ['exclusiveMaximum', { type: 'number', maximum: 1 }, { type: 'number', exclusiveMaximum: 1 }],
  ['multipleOf', { type: 'integer', multipleOf: 2 }, { type: 'integer', multipleOf: 4 }],
  ['minLength', text, { type: 'string', minLength: 1 }],
  ['maxLength', { type: 'string', maxLength: 9 }, { type: 'string', maxLength: 8 }],
  ['pattern', text, { type: 'string', pattern: '^a' }],
  ['format', text, { type: 'string', format: 'date' }],
  ['contentEncoding', text, { type: 'string', contentEncoding: 'base64' }],
  ['contentMediaType', text, { type: 'string', contentMediaType: 'application/json' }],
  ['contentSchema', { type: 'string', contentSchema: { type: ['string', 'integer'] } }, { type: 'string', contentSchema: text }],
  ['minItems', list({}), list({ minItems: 1 })],
  ['maxItems', list({}), list({ maxItems: 1 })],
  ['uniqueItems', list({}), list({ uniqueItems: true })],
  ['items', list({}), list({ items: text })],
  ['items', list({ items: { type: 'number' } }), list({ items: { type: 'integer' } })],
  ['prefixItems', list({ items: { type: ['string', 'number'] } }), list({ prefixItems: [text], items: { type: ['string', 'number'] } })],
  ['unevaluatedItems', list({}), list({ unevaluatedItems: text })],
  ['additionalProperties', { type: 'object' }, { type: 'object', additionalProperties: text }],
  ['unevaluatedProperties', { type: 'object' }, { type: 'object', unevaluatedProperties: text }],
  ['patternProperties', { type: 'object' }, { type: 'object', patternProperties: { '^a': text } }],
  ['propertyNames', { type: 'object' }, { type: 'object', propertyNames: { maxLength: 3 } }],
  ['minProperties', { type: 'object' }, { type: 'object', minProperties: 1 }],
  ['maxProperties', { type: 'object' }, { type: 'object', maxProperties: 1 }],
  ['required', both, { ...both, required: ['a'] }],
  ['properties', object({ a: { type: 'number' } }), object({ a: { type: 'integer' } })],
  ['properties', object({ a: true }), object({ a: text })],
  ['dependentRequired', both, { ...both, dependentRequired: { a: ['b'] } }],
  ['dependentSchemas', both, { ...both, dependentSchemas: { a: { required: ['b'] } } }],
  ['if', both, { ...both, if: { required: ['a'] }, then: { required: ['b'] } }],
  ['not', text, { type: 'string', not: { const: 'x' } }],
  ['contains', list({}), list({ contains: { const: 1 } })],
  ['minContains', list({ contains: { const: 1 } }), list({ contains: { const: 1 }, minContains: 2 })],
  ['maxContains', list({ contains: { const: 1 } }), list({ contains: { const: 1 }, maxContains: 2 })],
  ['allOf', text, { allOf: [text, { minLength: 1 }] }],
  ['anyOf', { anyOf: [text, { type: 'integer' }] }, text],
  ['anyOf', { anyOf: [text, { type: 'integer' }, { type: 'boolean' }] }, { anyOf: [text, { type: 'integer' }] }],
  ['oneOf', { oneOf: [text, { type: 'integer' }] }, { oneOf: [text] }],
  ['$ref', { $ref: '#/components/schemas/Other' }, { $ref: '#/components/schemas/Other', maxLength: 3 }]
]

// Neither accepts all values of the other, or a declared property is lost.
const different: readonly Change[] = [
  ['type', text, { type: 'integer' }],
  ['const', { const: 'a' }, { const: 'b' }],
  ['format', { type: 'string', format: 'date' }, { type: 'string', format: 'date-time' }],
  ['pattern', { type: 'string', pattern: '^a' }, { type: 'string', pattern: '^b' }],
  ['multipleOf', { type: 'integer', multipleOf: 2 }, { type: 'integer', multipleOf: 3 }],
  ['contentEncoding', { type: 'string', contentEncoding: 'base64' }, { type: 'string', contentEncoding: 'base64url' }],
  ['items', list({ items: text }), list({ items: { type: 'integer' } })],
  ['prefixItems', list({ prefixItems: [text] }), list({ prefixItems: [{ type: 'integer' }] })],
  ['patternProperties', { type: 'object', patternProperties: { '^a': text } }, { type: 'object', patternProperties: { '^a': list({}) } }],
  ['additionalProperties', { type: 'object', additionalProperties: text }, { type: 'object', additionalProperties: list({}) }],
  ['additionalProperties', { type: 'object', additionalProperties: text }, { type: 'object', additionalProperties: false }],
  ['properties', object({ a: text, b: text }), object({ a: text })],
  ['properties', object({ a: text }), object({ b: text })],
  ['properties', object({ a: text }), object({ a: list({}) })],
  ['properties', object({ a: text }), object({ a: false })],
  ['$ref', { $ref: '#/components/schemas/Other' }, { type: 'integer' }],
  ['$ref', text, { $ref: 'https://elsewhere.example/text.json' }],
  // An invalid regular expression matches no name.
  [
    'patternProperties',
    object({ a: text }, { patternProperties: { '(': {} } }),
    object({ a: list({}) }, { patternProperties: { '(': {} } })
  ],
  // What has a long `a` and a `b` now satisfies both branches, and is refused.
  ['oneOf', { oneOf: [object({ a: { ...text, maxLength: 9 } }), withB] }, { oneOf: [object({ a: text }), withB] }]
]

const discriminator = (propertyName: string, values: readonly string[] = []) => ({
  ...object({ a: text, b: text }, { required: ['a', 'b'] }),
  discriminator: { propertyName, mapping: Object.fromEntries(values.map((value) => [value, '#/components/schemas/Other'])) }
})

// What these changes mean cannot be judged.
const unknown: readonly Change[] = [
  ['not', { type: 'string', not: { const: 'x' } }, { type: 'string', not: { const: 'y' } }],
  ['then', { ...both, if: { required: ['a'] }, then: { required: ['b'] } }, { ...both, if: { required: ['a'] }, then: false }],
  ['else', { ...both, if: { required: ['a'] }, else: { required: ['b'] } }, { ...both, if: { required: ['a'] }, else: false }],
  [
    'dependentSchemas',
    { ...both, dependentSchemas: { a: { required: ['b'] } } },
    { ...both, dependentSchemas: { b: { required: ['a'] } } }
  ],
  ['contains', list({ contains: { const: 1 } }), list({ contains: { const: 2 } })],
  ['$dynamicRef', { $dynamicRef: '#a' }, { $dynamicRef: '#b' }],
  ['$dynamicAnchor', { type: 'string', $dynamicAnchor: 'a' }, { type: 'string', $dynamicAnchor: 'b' }],
  ['$anchor', { type: 'string', $anchor: 'a' }, { type: 'string', $anchor: 'b' }],
  ['$id', { type: 'string', $id: 'https://shop.example/a' }, { type: 'string', $id: 'https://shop.example/b' }],
  ['$vocabulary', text, { type: 'string', $vocabulary: { 'https://shop.example/a': true } }],
  ['a keyword that nobody knows', text, { type: 'string', divisibleInto: 3 }]
]

const annotated = (annotation: Loose): readonly Change[] => [
  [Object.keys(annotation)[0] as string, text, { ...text, ...annotation }],
  [Object.keys(annotation)[0] as string, object({ a: text }), { ...object({ a: { ...text, ...annotation } }), ...annotation }]
]
const annotations = [
  ...['title', 'description', '$comment', 'example'].map((key) => ({ [key]: 'Anything.' })),
  { examples: ['a'] },
  { deprecated: true },
  { externalDocs: { url: 'https://shop.example' } },
  { xml: { attribute: true } },
  { $schema: 'https://json-schema.org/draft/2020-12/schema' },
  { $defs: { Text: text } },
  { 'x-anything': { more: 1 } }
].flatMap(annotated)

// The same values in other words, and new properties, which a client ignores or need not send.
const compatible: readonly Change[] = [
  ...annotations,
  ['properties', object({ a: text }), object({ a: text, b: text })],
  ['type', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
  ['type', { type: ['string', 'integer'] }, { anyOf: [text, { type: 'integer' }] }],
  ['const', { const: 'a' }, { enum: ['a'] }],
  [
    'enum',
    { type: 'string', enum: ['a', 'b'] },
    {
      oneOf: [
        { const: 'b', title: 'B' },
        { const: 'a', title: 'A' }
      ]
    }
  ],
  ['exclusiveMinimum', { type: 'integer', minimum: 1 }, { type: 'integer', exclusiveMinimum: 0 }],
  ['exclusiveMaximum', { type: 'integer', maximum: 1 }, { type: 'integer', exclusiveMaximum: 2 }],
  ['pattern', text, { type: 'string', pattern: '.*' }],
  ['minLength', text, { type: 'string', minLength: 0 }],
  ['pattern', { enum: ['ab', 'ac'] }, { enum: ['ab', 'ac'], pattern: '^a' }],
  [
    'patternProperties',
    object({ a: text }, { patternProperties: { '^a': text } }),
    object({ a: {} }, { patternProperties: { '^a': text } })
  ],
  ['oneOf', { oneOf: [object({ a: text }), withB] }, { oneOf: [object({ a: text, c: text }), withB] }],
  ['minProperties', object({ a: text }, { required: ['a'] }), object({ a: text }, { required: ['a'], minProperties: 1 })],
  ['allOf', { type: 'string', minLength: 1 }, { allOf: [text, { minLength: 1 }] }],
  ['anyOf', text, { anyOf: [text] }],
  ['anyOf', { anyOf: [text, { type: 'integer' }] }, { anyOf: [{ type: 'integer' }, text] }],
  ['oneOf', { oneOf: [text, { type: 'integer' }] }, { oneOf: [{ type: 'integer' }, text] }],
  ['$ref', { $ref: '#/components/schemas/Other' }, text],
  ['unevaluatedProperties', object({ a: text }, { additionalProperties: false }), object({ a: text }, { unevaluatedProperties: false })],
  ['unevaluatedItems', list({ prefixItems: [text], items: false }), list({ prefixItems: [text], unevaluatedItems: false })],
  ['not', { type: 'string', not: { const: 'x', title: 'X' } }, { not: { title: 'Y', const: 'x' }, type: 'string' }],
  ['if', { ...both, if: { required: ['a'] }, then: false }, { allOf: [both, { then: false, if: { required: ['a'] } }] }],
  ['minLength', { type: 'integer' }, { type: 'integer', minLength: 3 }]
]

const unjudged = 'cannot be judged'
// The loss of an alternative does not say why.
const isUnjudged = (problem: string) => problem.endsWith('which cannot be judged') || problem.includes('alternatives')
const rowOf = ([keyword, was, is, ...except]: Change, what: string, isSent: boolean, isRead: boolean): Row => {
  return { keyword, what, was, is, breaks: { sent: isSent, read: isRead }, except }
}
const reversed = ([keyword, was, is, ...except]: Change): Change => [keyword, is, was, ...except]

const rows: readonly Row[] = [
  ...narrower.map((one) => rowOf(one, 'accepts fewer values', true, false)),
  ...narrower.map((one) => rowOf(reversed(one), 'accepts more values', false, true)),
  ...different.map((one) => rowOf(one, 'accepts other values', true, true)),
  ...unknown.map((one) => rowOf(one, unjudged, true, true)),
  ...compatible.map((one) => rowOf(one, 'has the same meaning', false, false)),
  // The service may fill in what a client leaves out differently; a response is complete.
  rowOf(['default', { ...text, default: 'a' }, { ...text, default: 'b' }], 'has another default', true, false),
  rowOf(['default', { ...text, default: 'a' }, text], 'has no default', true, false),
  rowOf(['readOnly', text, { ...text, readOnly: true }], 'is no longer written', true, false),
  rowOf(['writeOnly', text, { ...text, writeOnly: true }], 'is no longer read', false, true),
  rowOf(['discriminator', discriminator('a'), discriminator('b')], 'has another discriminator', true, true),
  rowOf(['discriminator', discriminator('a', ['x', 'y']), discriminator('a', ['x'])], 'has fewer values of a discriminator', true, true),
  rowOf(['discriminator', discriminator('a', ['x']), discriminator('a', ['x', 'y'])], 'has more values of a discriminator', false, false)
]

for (const [keyword, found] of Map.groupBy(rows, (row) => row.keyword))
  t.test(`judges each change of ${keyword}, wherever it is [V3][V4]`, async (t) => {
    for (const { what, was, is, breaks, except = [] } of found) {
      const changes = breakingChanges(documentOf(was), documentOf(is))
      const wrong = sites.flatMap(({ side, place, where }, index) => {
        const problems = changes.filter((one) => one.place.startsWith(`POST /v1/${index}/`)).map(({ problem }) => problem)
        const isRight = problems.length > 0 === breaks[side] && (what !== unjudged || problems.every(isUnjudged))
        return isRight || except.includes(where) ? [] : [`${place}, ${where}: ${problems.join('; ') || 'compatible'}`]
      })
      t.strictSame(wrong, [], `${what}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`)
    }
  })

const vocabularies = join(dirname(createRequire(import.meta.url).resolve('ajv/package.json')), 'dist/refs/json-schema-2020-12/meta')
const ofJsonSchema = readdirSync(vocabularies).flatMap((file) => {
  const { properties }: Loose = JSON.parse(readFileSync(join(vocabularies, file), 'utf8'))
  return isObject(properties) ? Object.keys(properties) : []
})
const ofOpenapi = ['discriminator', 'xml', 'externalDocs', 'example']

t.test('knows what each keyword of JSON Schema 2020-12 and OpenAPI 3.1 means for clients', async (t) => {
  const known = new Set(rows.map(({ keyword }) => keyword))
  t.strictSame(
    [...ofJsonSchema, ...ofOpenapi].filter((keyword) => !known.has(keyword)),
    []
  )
  t.ok(ofJsonSchema.length > 50)
})
