import openapi from '@concordat/openapi'
import { breakingChanges, type OpenapiDocument } from '@concordat/openapi/diff'
import { type Contracts, publish } from '@concordat/plugin-kit/wiring'
import Fastify from 'fastify'
import t from 'tap'

type Schema = Readonly<Record<string, unknown>>

const uuid = { type: 'string', format: 'uuid' }
const operations: Schema = { 'x-pagination': { style: 'page', maxOffset: 10_000 }, 'x-filterable': { name: ['eq', 'in'], total: ['gt'] } }

/** Returns a document with one operation that has a parameter with a schema, and a body with the same schema. */
function documentOf(where: string, name: string, schema: Schema, body: Schema = {}): OpenapiDocument {
  const content = { 'application/json': { schema: { type: 'object', properties: { value: body } } } }
  const parameters = [{ in: where, name, schema }]
  const operation = { ...operations, parameters, requestBody: { content }, responses: { 200: { description: 'Done.', content } } }
  return { openapi: '3.1.1', info: { title: 'T', version: '1' }, paths: { '/v1/things': { get: operation } } } as unknown as OpenapiDocument
}

// The place, the released schema, the published one, and one that is tighter than what was enforced.
const parameters: readonly (readonly [where: string, name: string, released: Schema, published: Schema, tighter: Schema])[] = [
  ...(
    [
      ['Accept-Language', 2048],
      ['If-Match', 4096],
      ['If-None-Match', 4096],
      ['If-Modified-Since', 33],
      ['Prefer', 2048]
    ] as const
  ).map(([name, maxLength]) => ['header', name, {}, { maxLength }, { maxLength: maxLength - 1 }] as const),
  ['path', 'id', {}, { maxLength: 100 }, { maxLength: 99 }],
  ['query', 'name', {}, { maxLength: 1024 }, { maxLength: 1023 }],
  ...(
    [
      ['uuid', 36],
      ['date', 10],
      ['date-time', 32],
      ['decimal', 62],
      ['int64', 20]
    ] as const
  ).map(([format, maxLength]) => ['query', 'total[gt]', { format }, { format, maxLength }, { format, maxLength: maxLength - 1 }] as const)
].map(([where, name, ...schemas]) => [where, name, ...schemas.map((schema) => ({ type: 'string', ...(schema as Schema) }))] as never)

t.test('the publication of a bound that was enforced before is not a breaking change, and a tighter bound is [V3] [V4]', async (t) => {
  for (const [where, name, released, published, tighter] of parameters) {
    const [old, now, less] = [released, published, tighter].map((schema) => documentOf(where, name, schema)) as [
      OpenapiDocument,
      OpenapiDocument,
      OpenapiDocument
    ]
    const place = `${where} ${name} ${String(released['format'])}`
    t.strictSame(breakingChanges(old, now), [], place)
    t.equal(breakingChanges(old, less).length, 1, place)
    t.equal(breakingChanges(now, less).length, 1, place)
  }
})

const list = (items: Schema): Schema => ({ type: 'array', items: { type: 'string', ...items } })
const page = (maximum?: number): Schema => ({ type: 'integer', minimum: 1, ...(maximum !== undefined && { maximum, format: 'int32' }) })
t.test('the same applies to the items of a filter, to page numbers, and to the values of bodies', async (t) => {
  const cases: readonly (readonly [OpenapiDocument, OpenapiDocument, OpenapiDocument])[] = [
    [list({}), list({ maxLength: 1024 }), list({ maxLength: 10 })].map((schema) => documentOf('query', 'name[in]', schema)) as never,
    [page(), page(10_000), page(9999)].map((schema) => documentOf('query', 'page', schema)) as never,
    [uuid, { ...uuid, maxLength: 45 }, { ...uuid, maxLength: 35 }].map((body) => documentOf('query', 'q', {}, body)) as never,
    [
      { type: 'integer' },
      { type: 'integer', format: 'int64', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'integer', format: 'int32', minimum: 0, maximum: 100 }
    ].map((body) => documentOf('query', 'q', {}, body)) as never
  ]
  for (const [old, now, less] of cases) {
    t.strictSame(breakingChanges(old, now), [])
    t.not(breakingChanges(old, less).length, 0)
    t.strictSame(breakingChanges(now, old), [])
  }
})

t.test(
  'publishes the bounds of values and path parameters that error-catalogue and the router enforce, and nothing that is not enforced',
  async (t) => {
    for (const enforces of [true, false]) {
      const app = Fastify({ routerOptions: { maxParamLength: 256 } })
      if (enforces) publish(app, { catalogue: { entries: [], maxUriLength: 8192 } as unknown as Contracts['catalogue'] })
      await app.register(openapi, { lint: 'off', reference: false })
      const integer = { type: 'integer' }
      const properties = {
        id: uuid,
        count: integer,
        year: { ...integer, minimum: 0, maximum: 9999 },
        at: { type: ['string', 'null'], format: 'date-time' }
      }
      app.post('/v1/things/:id', { schema: { body: { type: 'object', properties } } }, async () => '')
      const { paths, components } = (await app.inject('/v1/openapi')).json()
      const { parameters } = paths['/v1/things/{id}'].post
      t.equal(parameters[0].schema.maxLength, 256)
      const { count, id, year, at } = components.schemas.NewThing.properties
      const largest = Number.MAX_SAFE_INTEGER
      if (!enforces) t.strictSame({ count, id, year, at }, { count: properties.count, id: uuid, year: properties.year, at: properties.at })
      else {
        t.strictSame(count, { minimum: -largest, maximum: largest, type: 'integer', format: 'int64' })
        t.strictSame([id.maxLength, at.maxLength, year.format], [45, 64, 'int32'])
      }
      await app.close()
    }
  }
)

// Parts of patterns with the length of the longest text that they match, and such a text. Patterns are sequences, choices and repetitions of them.
const atoms: readonly (readonly [source: string, length: number, text: string])[] = [
  ['a', 1, 'a'],
  ['\\d', 1, '7'],
  ['[^\\]a-c\\-]', 1, 'é'],
  ['.', 1, '\u{1F600}'],
  ['\\u0041', 1, 'A'],
  ['\\u{1F600}', 1, '\u{1F600}'],
  ['\\p{Lu}', 1, 'Ü'],
  ['\\x41', 1, 'A'],
  ['\\/', 1, '/'],
  ['\\b', 0, ''],
  ['(?:ab|c)', 2, 'ab'],
  ['(?<year>\\d{4})', 4, '2026'],
  ['(?!x)(?<=y|)', 0, ''],
  ['(a|b{2,3})', 3, 'bbb']
]
const repetitions: readonly (readonly [sign: string, times: number])[] = [
  ['', 1],
  ['?', 1],
  ['??', 1],
  ['{3}', 3],
  ['{0,2}', 2],
  ['{1,2}?', 2],
  ['*', Number.POSITIVE_INFINITY],
  ['+?', Number.POSITIVE_INFINITY],
  ['{2,}', Number.POSITIVE_INFINITY]
]
const isAssertion = (source: string) => source === '\\b' || source.startsWith('(?!')

t.test('publishes the length that a pattern allows, and none where a pattern allows any', async (t) => {
  const expected = new Map<string, number>([
    ['^$', 0],
    ['^(?:a|^bc$)$', 2],
    ['a{3}', Number.POSITIVE_INFINITY],
    ['^a{3}', Number.POSITIVE_INFINITY],
    ['a{3}$', Number.POSITIVE_INFINITY],
    ['^a|b$', Number.POSITIVE_INFINITY],
    ['^a$|^bcd$', 3],
    ['^(a)\\1$', Number.POSITIVE_INFINITY],
    ['^(?<a>b)\\k<a>$', Number.POSITIVE_INFINITY],
    ['^a{9007199254740991}b$', Number.POSITIVE_INFINITY]
  ])
  for (const [source, length, text] of atoms)
    for (const [sign, times] of repetitions) {
      if (sign !== '' && isAssertion(source)) continue
      for (const [after, afterLength, afterText] of atoms) {
        const pattern = `^${source}${sign}${after.replace('year', 'other')}$`
        expected.set(pattern, length * times + afterLength)
        if (!Number.isFinite(times) || isAssertion(source) || isAssertion(after)) continue
        const longest = text.repeat(times) + afterText
        t.match(longest, new RegExp(pattern, 'u'))
        t.equal(Array.from(longest).length, expected.get(pattern), pattern)
      }
    }
  const app = Fastify()
  publish(app, { catalogue: { entries: [], maxUriLength: 8192 } as unknown as Contracts['catalogue'] })
  await app.register(openapi, { lint: 'off', reference: false })
  const patterns = [...expected.keys()]
  const properties = Object.fromEntries(patterns.map((pattern, index) => [`p${index}`, { type: ['string', 'null'], pattern }]))
  const own = { type: 'string', pattern: '^a{3}$' }
  const bounded = {
    ofEnum: { ...own, enum: ['aaa'] },
    ofConst: { ...own, const: 'aaa' },
    ofLength: { ...own, maxLength: 2 },
    ofNumber: { pattern: '^a$', type: 'integer' }
  }
  app.setValidatorCompiler(() => () => true)
  app.post('/v1/things', { schema: { body: { type: 'object', properties: { ...properties, ...bounded } } } }, async () => '')
  const { components } = (await app.inject('/v1/openapi')).json()
  const published = components.schemas.NewThing.properties
  for (const [index, pattern] of patterns.entries()) {
    const length = expected.get(pattern)
    t.equal(published[`p${index}`].maxLength, Number.isFinite(length) ? length : undefined, pattern)
  }
  t.strictSame(
    Object.keys(bounded).map((name) => published[name].maxLength),
    [undefined, undefined, 2, undefined]
  )
  await app.close()
})

const batchDocument = (path: Schema, header: Schema) => {
  const properties = {
    path: { type: 'string', ...path },
    headers: { type: 'object', additionalProperties: { type: 'string', ...header } }
  }
  const NewBatch = { type: 'object', properties: { operations: { type: 'array', items: { type: 'object', properties } } } }
  const requestBody = { content: { 'application/json': { schema: { $ref: '#/components/schemas/NewBatch' } } } }
  const post = { 'x-batch': {}, requestBody, responses: { 200: { description: 'Done.' } } }
  const document = { openapi: '3.1.1', info: { title: 'T', version: '1' }, components: { schemas: { NewBatch } } }
  return { ...document, paths: { '/v1/batches': { post } } } as unknown as OpenapiDocument
}

t.test('the publication of a length that a pattern has, of the form of keys, and of the limits of a batch is compatible', async (t) => {
  const price = { type: 'string', pattern: '^\\d{1,8}(\\.\\d{1,2})?$' }
  const values = [price, { ...price, maxLength: 11 }, { ...price, maxLength: 10 }].map((body) => documentOf('query', 'q', {}, body))
  const app = Fastify()
  await app.register(openapi, { lint: 'off', reference: false })
  const config = { idempotency: 'accepted', otherConfigKeys: ['idempotency'] } as never
  app.post('/v1/things', { config, schema: { body: price } }, async () => '')
  const { paths } = (await app.inject('/v1/openapi')).json()
  const { schema } = paths['/v1/things'].post.parameters.find(({ name }: { name: string }) => name === 'Idempotency-Key')
  await app.close()
  for (const [key, isKey] of [
    ['a-1', true],
    [`"${'a'.repeat(255)}"`, true],
    ['a'.repeat(256), false],
    ['"a"b"', false],
    ['', false]
  ] as const)
    t.equal(new RegExp(schema.pattern, 'u').test(key) && key.length <= schema.maxLength, isKey, key)
  const released = { type: 'string', minLength: 1, maxLength: 255 }
  const keys = [released, schema, { ...schema, pattern: '^a$' }].map((one) => documentOf('header', 'Idempotency-Key', one))
  const batches = [batchDocument({}, {}), batchDocument({ maxLength: 8192 }, { maxLength: 4096 })]
  for (const tighter of [batchDocument({ maxLength: 8191 }, {}), batchDocument({}, { maxLength: 4095 })])
    for (const [old, now, less] of [values, keys, [...batches, tighter]] as [OpenapiDocument, OpenapiDocument, OpenapiDocument][]) {
      t.strictSame(breakingChanges(old, now), [])
      t.equal(breakingChanges(old, less).length, 1)
      t.equal(breakingChanges(now, less).length, 1)
    }
})
