// Schemas that generators of clients are known to get wrong.
export const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
export const documentOf = (schemas: Record<string, unknown>, more: object = {}) => ({
  openapi: '3.1.1',
  info: { title: 'Shop', version: '1' },
  paths: {
    '/all': {
      post: {
        requestBody: { required: true, ...json({ type: 'array', prefixItems: Object.keys(schemas).map(referenceTo) }) },
        responses: { 200: { description: 'All.', ...json({ type: 'array', prefixItems: Object.keys(schemas).map(referenceTo) }) } }
      }
    }
  },
  components: { schemas },
  ...more
})
export const referenceTo = (name: string) => ({ $ref: `#/components/schemas/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` })
export const text = { type: 'string' }

/** Every form of a schema, with its declaration. */
export const hard: Record<string, readonly [schema: unknown, declaration: string | RegExp]> = {
  Tree: [
    { type: 'object', properties: { children: { type: 'array', items: referenceTo('Tree') } } },
    /interface Tree \{\n {2}children\?: Tree\[\] \| undefined\n\}/
  ],
  Json: [{ anyOf: [text, { type: 'array', items: referenceTo('Json') }] }, 'type Json = string | Json[]'],
  Pair: [{ type: 'array', prefixItems: [text, { type: 'number' }], items: false }, 'type Pair = [string, number]'],
  Rest: [
    { type: 'array', minItems: 1, prefixItems: [text, text], items: { type: 'boolean' } },
    'type Rest = [string, string?, ...boolean[]]'
  ],
  Enum: [{ enum: ["it's", 'a"b', null, 1] }, `type Enum = "it's" | 'a"b' | null | 1`],
  Old: [{ type: 'string', nullable: true, enum: ['a'] }, "type Old = 'a' | null"],
  Kinds: [{ type: ['string', 'null'] }, 'type Kinds = string | null'],
  Map: [{ type: 'object', additionalProperties: { type: 'number' } }, 'type Map = { [name: string]: number }'],
  Patterns: [{ patternProperties: { '^a': text } }, 'type Patterns = { [name: string]: string }'],
  Anything: [{ type: 'object' }, 'type Anything = { [name: string]: unknown }'],
  Empty: [{ type: 'object', additionalProperties: false }, 'type Empty = Record<never, never>'],
  Mixed: [
    { allOf: [referenceTo('Tree'), { type: 'object', required: ['a'], properties: { a: text }, additionalProperties: text }] },
    /type Mixed = Tree & \{\n {2}a: string\n {2}\[name: string\]: unknown\n\}/
  ],
  Cat: [{ type: 'object', properties: { lives: { type: 'integer' } } }, 'interface Cat {'],
  Dog: [{ type: 'object', required: ['kind'], properties: { kind: { const: 'hund' } } }, "kind: 'hund'"],
  Pet: [
    {
      oneOf: [referenceTo('Cat'), referenceTo('Dog')],
      discriminator: { propertyName: 'kind', mapping: { katze: '#/components/schemas/Cat' } }
    },
    "type Pet = (Cat & { kind: 'katze' }) | Dog"
  ],
  Parent: [
    { oneOf: [referenceTo('Child')], discriminator: { propertyName: 'kind' }, properties: { id: text } },
    "type Parent = (Child & { kind: 'Child' }) & {"
  ],
  Child: [{ allOf: [referenceTo('Parent'), { properties: { b: text } }] }, /type Child = \{\n {2}id\?: string \| undefined\n\} & \{/],
  User: [
    {
      type: 'object',
      required: ['id', 'password'],
      properties: { id: { ...text, readOnly: true }, password: { ...text, writeOnly: true } }
    },
    /interface User \{\n {2}id: string\n\}\n\n(?:.*\n)*?export interface UserInput \{\n {2}password: string\n\}/
  ],
  Record: [{ type: 'string' }, 'type Record_ = string'],
  Blob: [{ type: 'string' }, 'type Blob_ = string'],
  class: [{ type: 'string' }, 'type class_ = string'],
  'a-b': [{ type: 'string' }, 'type a_b = string'],
  a_b: [{ type: 'string' }, 'type a_b_ = string'],
  '1/~x': [{ type: 'string' }, 'type _1_x = string'],
  Comment: [{ type: 'string', description: 'Ends */ here\nand not there' }, '/** Ends *\\/ here */\nexport type Comment = string'],
  Names: [{ properties: { 'a-b': text, "it's": { const: [1, {}] } } }, /'a-b'\?: string \| undefined\n {2}"it's"\?: \[1, unknown\]/],
  Self: [{ oneOf: [referenceTo('Self')] }, 'type Self = unknown'],
  Big: [{ type: 'integer', format: 'int64' }, 'type Big = number'],
  Exact: [{ type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }, 'type Exact = number'],
  Lost: [{ $ref: 'other.json#/a' }, 'type Lost = unknown'],
  Strange: [{ type: 'decimal' }, 'type Strange = unknown'],
  Never: [{ type: 'array', items: false }, 'type Never = never[]']
}

export const hardDocument = documentOf(Object.fromEntries(Object.entries(hard).map(([name, [schema]]) => [name, schema])))
