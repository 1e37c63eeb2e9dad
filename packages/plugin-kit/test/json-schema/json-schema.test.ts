import {
  draft7Of,
  isObject,
  type JsonSchema,
  losesDigits,
  pointerSteps,
  SchemaGraph,
  type SchemaPlace,
  sharedFor,
  splitReference,
  targetWithin,
  valueAt
} from '@concordat/plugin-kit/json-schema'
import t from 'tap'

t.test('splits a pointer into steps, with the escapes of RFC 6901', async (t) => {
  t.strictSame(pointerSteps(''), [])
  t.strictSame(pointerSteps('/$defs/Order'), ['$defs', 'Order'])
  t.strictSame(pointerSteps('/a~1b/m~0n/%C3%A9/'), ['a/b', 'm~n', '%C3%A9', ''])
  t.strictSame(pointerSteps('/100%/~01'), ['100%', '~1'])
})

t.test('returns the value at a pointer, through objects and arrays', async (t) => {
  const document = { $defs: { Order: { anyOf: [{ type: 'string' }] } }, '': 1, nothing: null }
  t.equal(valueAt(document, ''), document)
  t.equal(valueAt(document, '/'), 1)
  t.strictSame(valueAt(document, '/$defs/Order/anyOf/0'), { type: 'string' })
})

t.test('returns undefined for a pointer to nothing, and for inherited members', async (t) => {
  const document = { text: 'abc', nothing: null }
  for (const pointer of ['/missing', '/missing/deeper', '/text/0', '/text/length', '/nothing/x', '/constructor', '/__proto__/x']) {
    t.equal(valueAt(document, pointer), undefined, pointer)
  }
})

t.test('splits a reference into the id of the document and the pointer', async (t) => {
  t.strictSame(splitReference('#/$defs/Order'), { id: '', pointer: '/$defs/Order' })
  t.strictSame(splitReference('orders#/$defs/Order'), { id: 'orders', pointer: '/$defs/Order' })
  t.strictSame(splitReference('orders#'), { id: 'orders', pointer: '' })
  t.strictSame(splitReference('orders'), { id: 'orders', pointer: '' })
  t.strictSame(splitReference('#/%C3%A9/a%7E1b'), { id: '', pointer: '/é/a~1b' })
  t.strictSame(splitReference('#/100%'), { id: '', pointer: '/100%' })
})

t.test('rewrites the tuples of draft 2020-12 for draft 7, at any depth, and removes $schema', async (t) => {
  const [text, number] = [{ type: 'string' }, { type: 'number' }]
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      pair: { type: 'array', prefixItems: [text, { type: 'array', prefixItems: [number] }], items: false },
      list: { items: text }
    }
  }
  const before = structuredClone(schema)
  t.strictSame(draft7Of(schema), {
    type: 'object',
    properties: {
      pair: { type: 'array', items: [text, { type: 'array', items: [number] }], additionalItems: false },
      list: { items: text }
    }
  })
  t.strictSame(schema, before, 'the schema itself is unchanged')
})

t.test('tells objects from arrays, null and scalars', async (t) => {
  t.strictSame([{}, [], null, 'a', undefined, Object.create(null)].map(isObject), [true, false, false, false, false, true])
})

t.test('an integer loses digits if JavaScript writes it with others', async (t) => {
  for (const digits of ['9007199254740993', '-9007199254740993', '12345678901234567890', `1${'0'.repeat(400)}`])
    t.ok(losesDigits(digits), digits)
  for (const digits of [
    '0',
    '-7',
    '9007199254740991',
    '9007199254740992',
    '12345678901234567000',
    '0.12345678901234567',
    '9007199254740993e0',
    'x'.repeat(20)
  ])
    t.notOk(losesDigits(digits), digits)
})

function titlesIn(places: readonly SchemaPlace[]) {
  return places.flatMap(({ schema }) => (schema['title'] as string | undefined) ?? [])
}

function isOther({ title }: JsonSchema) {
  return title === 'other'
}

t.test('finds the schemas of a value through references, combinations, lists and maps, each once', async (t) => {
  const shared: Record<string, object> = { Shared: { definitions: { one: { $ref: '#/definitions/two' }, two: { title: 'shared' } } } }
  const graph = new SchemaGraph((id) => shared[id])
  const document = {
    $id: 'Tree',
    allOf: [{ properties: { name: { title: 'own' } } }],
    properties: {
      name: { $ref: 'Shared#/definitions/one' },
      children: { type: 'array', items: { $ref: 'Tree' }, prefixItems: [{ title: 'first' }] },
      inner: { $ref: 'Inner#' },
      lost: { $ref: 'Nowhere#/a' },
      odd: true
    },
    patternProperties: { '^x-': { title: 'extension' } },
    additionalProperties: { title: 'other' },
    $defs: { Inner: { $id: 'Inner', title: 'inner' } }
  }
  t.strictSame(titlesIn(graph.placesIn(document)).toSorted(), ['extension', 'first', 'inner', 'other', 'own', 'shared'])

  const places = graph.placesOf([document])
  t.strictSame(titlesIn(graph.members(places, 'name')), ['shared', 'own'])
  t.strictSame(titlesIn(graph.members(places, 'inner')), ['inner'])
  t.strictSame(titlesIn(graph.members(places, 'x-a')), ['extension'])
  t.strictSame(titlesIn(graph.members(places, 'unknown')), ['other'])
  t.strictSame([graph.members(places, 'odd'), titlesIn(graph.members(places, 'lost'))], [[], []])
  t.strictSame(titlesIn(graph.items(graph.members(places, 'children'))), ['first'])
  t.strictSame(titlesIn(graph.contents(places)), ['extension', 'other'])
  t.ok(graph.isMarked(graph.members(places, 'children'), isOther, 'contents'), 'through the items, which are trees')
  t.notOk(graph.isMarked(graph.members(places, 'children'), isOther, 'items'))
})

t.test('finds what a reference leads to within a schema, by pointer or by the $id of a part', async (t) => {
  const Code = { $id: 'Code', type: 'string', $defs: { Part: { minLength: 1 } } }
  const schema = {
    $id: 'Thing',
    $defs: { Code, Text: { type: 'string' } },
    properties: { codes: { items: [{ $id: 'Deep' }] } },
    example: null
  }
  for (const [reference, target] of [
    ['#/$defs/Text', { type: 'string' }],
    ['#', schema],
    ['Thing#/$defs/Text', { type: 'string' }],
    ['Code', Code],
    ['Code#', Code],
    ['Code#/$defs/Part', { minLength: 1 }],
    ['Deep', { $id: 'Deep' }],
    ['#/$defs/None', undefined],
    ['Elsewhere#', undefined]
  ] as const)
    t.strictSame(targetWithin(schema, reference), target, reference)
})

t.test('a schema can refer to the shared schemas whose $id it does not have itself, in draft 7', async (t) => {
  const shared = [{ $id: 'a', prefixItems: [true] }, { $id: 'b' }, { $id: 'c', $schema: 'x', type: 'string' }, { type: 'number' }]
  t.strictSame(sharedFor({ $id: 'b', properties: { a: { $ref: 'a#' } } }, shared), {
    a: { $id: 'a', items: [true] },
    c: { $id: 'c', type: 'string' }
  })
  t.strictSame(Object.keys(sharedFor({ $defs: { x: { $id: 'c' } } }, shared)), ['a', 'b'])
})
