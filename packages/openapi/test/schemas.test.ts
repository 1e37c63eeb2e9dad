import { Type } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { documentOf, enveloped, handler, type Loose, errors as shopErrors } from './shop.ts'

const errors = [
  ...shopErrors,
  { code: 'OUT_OF_SEASON', statusCode: 409, retry: 'changed', message: { en: 'Wait for spring.' }, remedy: 'Wait.' }
]

/** Returns the published form of a schema that a route accepts as the body of POST /v1/things. */
async function published(schema: object): Promise<Loose> {
  const document = await documentOf({}, (app) => app.post('/v1/things', { schema: { body: schema }, handler }))
  const { $ref: reference, ...inline } = document.paths['/v1/things'].post.requestBody.content['application/json'].schema
  return reference === undefined ? inline : document.components.schemas[reference.split('/').at(-1)]
}

/** Compiles every schema of a document strictly: a keyword or a form of another draft is an error. */
function requireDialect({ components, paths, webhooks }: Loose) {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, strictTuples: false })
  addFormats.default(ajv)
  for (const word of ['example', 'x-projection', 'components']) ajv.addKeyword(word)
  ajv.addSchema({ $id: 'document', components })
  const visit = (value: Loose) => {
    if (typeof value !== 'object' || value === null) return
    if (value.schema !== undefined)
      ajv.compile(JSON.parse(JSON.stringify(value.schema).replaceAll('"#/components/', '"document#/components/')))
    for (const inner of Object.values(value)) visit(inner)
  }
  visit([paths, webhooks])
  for (const name of Object.keys(components.schemas)) ajv.compile({ $ref: `document#/components/schemas/${name}` })
}

const pair = { items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false, minItems: 2 }
const publishedPair = { prefixItems: pair.items, items: false, minItems: 2 }

const forms: readonly (readonly [what: string, schema: object, published: object])[] = [
  ['a tuple', { type: 'array', ...pair }, { type: 'array', ...publishedPair }],
  [
    'a tuple with further items',
    { type: 'array', items: [{ type: 'string' }], minItems: 1, maxItems: 9, additionalItems: { type: 'array', ...pair } },
    { type: 'array', prefixItems: [{ type: 'string' }], minItems: 1, maxItems: 9, items: { type: 'array', ...publishedPair } }
  ],
  [
    'a tuple of TypeBox',
    Type.Tuple([Type.String()]),
    { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1, maxItems: 1 }
  ],
  [
    'dependencies on properties and on schemas',
    { type: 'object', properties: { a: {}, b: {} }, dependencies: { a: ['b'], b: { properties: { c: { type: 'array', ...pair } } } } },
    {
      type: 'object',
      properties: { a: {}, b: {} },
      dependentRequired: { a: ['b'] },
      dependentSchemas: { b: { properties: { c: { type: 'array', ...publishedPair } } } }
    }
  ],
  [
    'an encoding',
    { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' },
    { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }
  ],
  [
    'pattern properties',
    { type: 'object', patternProperties: { '^x': { type: 'array', ...pair } } },
    { type: 'object', patternProperties: { '^x': { type: 'array', ...publishedPair } } }
  ],
  [
    'nullable',
    { type: 'object', properties: { a: { type: 'string', nullable: true } } },
    { type: 'object', properties: { a: { type: ['string', 'null'] } } }
  ],
  [
    'nullable with null',
    { type: 'object', properties: { a: { type: ['string', 'null'], nullable: true } } },
    { type: 'object', properties: { a: { type: ['string', 'null'] } } }
  ],
  [
    'a condition',
    { type: 'object', if: { required: ['a'] }, else: { properties: { b: { type: 'array', ...pair } } } },
    { type: 'object', if: { required: ['a'] }, else: { properties: { b: { type: 'array', ...publishedPair } } } }
  ],
  ['constants', { type: 'object', const: { items: [1], nullable: true } }, { type: 'object', const: { items: [1], nullable: true } }],
  [
    'a union of constants',
    { type: 'object', properties: { a: Type.Union([Type.Literal('x'), Type.Literal('y')]) } },
    { type: 'object', properties: { a: { type: 'string', enum: ['x', 'y'] } } }
  ],
  [
    'definitions that nothing uses',
    { type: 'object', properties: {}, definitions: { A: {} }, $defs: { B: {} }, $schema: 'http://json-schema.org/draft-07/schema#' },
    { type: 'object', properties: {} }
  ]
]

for (const [what, schema, expected] of forms) {
  t.test(`publishes ${what} in the dialect of OpenAPI 3.1, JSON Schema 2020-12: ${JSON.stringify(expected)}`, async (t) => {
    t.strictSame(await published(schema), expected)
  })
}

const tree = (more: object = {}) => ({
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, root: { $ref: '#/definitions/Node' }, ...more },
  definitions: {
    Node: { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/definitions/Node' } } } }
  }
})

/** Returns the names of the types of each operation: of its body and of its responses, and all components that they lead to. */
function typesIn({ paths, components }: Loose): Record<string, string> {
  const expanded = (name: string, seen: readonly string[] = []): string =>
    seen.includes(name)
      ? name
      : `${name}(${[...new Set(JSON.stringify(components.schemas[name]).match(/(?<=schemas\/)\w+/g))].map((inner) => expanded(inner, [...seen, name])).join()})`
  return Object.fromEntries(
    Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId, requestBody, responses }]: [string, Loose]) => [
        `${method} ${path}`,
        [
          operationId,
          ...[...new Set(JSON.stringify([requestBody, responses]).match(/(?<=schemas\/)\w+/g))].map((name) => expanded(name))
        ].join(' ')
      ])
    )
  )
}

const recursive = Type.Recursive((This) => Type.Object({ id: Type.String(), parts: Type.Array(This) }))
const withId = Type.Recursive((This) => Type.Object({ id: Type.String(), parts: Type.Array(This) }), { $id: 'menu-entry' })

/** Routes by name, each with schemas that need a name. */
const routes: Readonly<Record<string, (app: FastifyInstance) => void>> = {
  forests: (app) => app.get('/v1/forests/:id', { schema: { response: { 200: tree({ size: { type: 'integer' } }) } } }, handler),
  trees: (app) => app.get('/v1/trees/:id', { schema: { response: { 200: enveloped(nested(tree())) } } }, handler),
  treeList: (app) =>
    app.get(
      '/v1/trees',
      { schema: { response: { 200: { type: 'array', items: { $ref: '#/definitions/Node' }, definitions: tree().definitions } } } },
      handler
    ),
  newTree: (app) => app.post('/v1/trees', { schema: { body: tree(), response: { 201: tree() } } }, handler),
  bushes: (app) =>
    app.get('/v1/bushes/:id', { schema: { response: { 200: { type: 'object', properties: { next: { $ref: '#' } } } } } }, handler),
  shared: (app) => app.get('/v1/gardens/:id', { schema: { response: { 200: { $ref: 'garden#' } } } }, handler),
  sharedPart: (app) => app.get('/v1/beds/:id', { schema: { response: { 200: { $ref: 'garden#/$defs/bed' } } } }, handler),
  sharedProperty: (app) =>
    app.get(
      '/v1/soils/:id',
      { schema: { response: { 200: { type: 'object', properties: { bed: { $ref: 'garden#/properties/first' } } } } } },
      handler
    ),
  recursive: (app) => app.get('/v1/gadgets/:id', { schema: { response: { 200: recursive } } }, handler),
  nestedRecursive: (app) =>
    app.get('/v1/machines/:id', { schema: { response: { 200: Type.Object({ main: recursive, menu: withId }) } } }, handler),
  titled: (app) =>
    app.get(
      '/v1/lines',
      { schema: { response: { 200: Type.Array(Type.Object({ id: Type.String() }, { title: 'order line' })) } } },
      handler
    ),
  anchored: (app) =>
    app.put(
      '/v1/posts/:id',
      { schema: { body: { type: 'object', properties: { a: { $ref: '#part' }, b: { $id: '#part', type: 'object', properties: {} } } } } },
      handler
    )
}

function nested(schema: object) {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"#/properties/data/'))
}

function register(names: readonly string[]) {
  return (app: FastifyInstance) => {
    app.addSchema({
      $id: 'garden',
      type: 'object',
      properties: {
        id: { type: 'string' },
        first: { type: 'object', properties: { width: { type: 'integer' } } },
        beds: { type: 'array', items: { $ref: '#/$defs/bed' } }
      },
      $defs: { bed: { type: 'object', properties: { plants: { type: 'array', items: { $ref: 'garden#' } } } } }
    })
    for (const name of names) routes[name]?.(app)
  }
}

t.test('names types by $id, title or route, also those that refer to themselves or are defined locally', async (t) => {
  const document = await documentOf({}, register(Object.keys(routes)))
  requireDialect(document)
  t.strictSame(typesIn(document), {
    'get /v1/beds/{id}': 'getBed GardenBed(Garden(GardenBed))',
    'get /v1/bushes/{id}': 'getBush Bush(Bush)',
    'get /v1/forests/{id}': 'getForest Forest(ForestNode(ForestNode))',
    'get /v1/gadgets/{id}': 'getGadget Gadget(Gadget)',
    'get /v1/gardens/{id}': 'getGarden Garden(GardenBed(Garden))',
    'get /v1/lines': 'listLines OrderLine()',
    'get /v1/machines/{id}': 'getMachine Machine(MachineMain(MachineMain),MenuEntry(MenuEntry))',
    'put /v1/posts/{id}': 'replacePost PostReplacement(PostA())',
    'get /v1/soils/{id}': 'getSoil Soil(SoilBed())',
    'get /v1/trees': 'listTrees TreeNode(TreeNode)',
    'post /v1/trees': 'createTree NewTree(TreeNode(TreeNode)) Tree(TreeNode(TreeNode))',
    'get /v1/trees/{id}': 'getTree Tree(TreeNode(TreeNode)) Link() Meta()'
  })
})

t.test('a route that is added before or after the others changes none of their names', async (t) => {
  const names = Object.keys(routes)
  const all = typesIn(await documentOf({}, register(names)))
  for (const without of names) {
    const fewer = typesIn(await documentOf({}, register(names.filter((name) => name !== without).toReversed())))
    for (const [operation, types] of Object.entries(fewer)) t.equal(types, all[operation], `${operation} without ${without}`)
  }
})

t.test('of different schemas that want one name, the resource gets it, and the others are named after their operation', async (t) => {
  const Article = Type.Object({ id: Type.String(), text: Type.String() }, { title: 'Article' })
  const register = (app: FastifyInstance) => {
    app.get('/v1/articles/:id', { schema: { response: { 200: Article } } }, handler)
    app.get('/v1/articles', { schema: { response: { 200: Type.Array(Type.Pick(Article, ['id'])) } } }, handler)
    app.patch('/v1/articles/:id', { schema: { body: Type.Partial(Article), response: { 200: Article } } }, handler)
    app.get(
      '/v1/authors/:id/articles',
      { schema: { response: { 200: Type.Array(Type.Object({ author: Type.String() }, { title: 'Article' })) } } },
      handler
    )
    app.get('/v1/links/:id', { schema: { response: { 200: Type.Object({ url: Type.String() }) } } }, handler)
    app.get('/v1/links', { schema: { response: { 200: Type.Array(Type.Object({ url: Type.String() })) } } }, handler)
    app.get(
      '/v1/pairs/:id',
      {
        schema: {
          response: {
            200: Type.Object({ a: Type.String() }),
            203: Type.Object({ b: Type.String() }),
            206: Type.Object({ c: Type.String() })
          }
        }
      },
      handler
    )
    app.put(
      '/v1/pairs/:id',
      { schema: { body: Type.Object({ a: Type.Number() }, { title: 'Pair' }), response: { 200: { type: 'string' } } } },
      handler
    )
  }
  t.strictSame(typesIn(await documentOf({}, register)), {
    'get /v1/articles': 'listArticles ListArticlesItem()',
    'get /v1/articles/{id}': 'getArticle Article()',
    'patch /v1/articles/{id}': 'changeArticle ArticleChanges() Article()',
    'get /v1/authors/{id}/articles': 'listAuthorArticles AuthorArticle()',
    'get /v1/links': 'listLinks LinkResource()',
    'get /v1/links/{id}': 'getLink LinkResource()',
    'get /v1/pairs/{id}': 'getPair Pair() GetPairResult() GetPairResult206()',
    'put /v1/pairs/{id}': 'replacePair PairReplacement()'
  })
})

const oneOrder = (app: FastifyInstance) => app.get('/v1/orders/:id', handler)

const idsOf = async (register: (app: FastifyInstance) => void) =>
  Object.entries((await documentOf({}, register)).paths).flatMap(([path, item]) =>
    Object.entries(item as Loose).map(([method, { operationId }]: [string, Loose]) => `${method} ${path} ${operationId}`)
  )

t.test('an id that the author set comes first, and a generated one never changes when a route is added', async (t) => {
  t.strictSame(await idsOf(oneOrder), ['get /v1/orders/{id} getOrder'])
  t.strictSame(
    await idsOf((app) => {
      app.get('/v1/orders', handler)
      oneOrder(app)
      app.put('/v1/orders', handler)
      app.put('/v1/orders/:id', handler)
      app.post('/v1/orders/:id', handler)
      app.post('/v1/orders', handler)
      app.get('/v1/order-items/:id', { schema: { operationId: 'createOrder' } }, handler)
      app.get('/v1/names', { schema: { operationId: 'createOrder' } }, handler)
    }),
    [
      'get /v1/names createOrder',
      'get /v1/order-items/{id} getOrderItemsById',
      'get /v1/orders getOrders',
      'post /v1/orders createOrders',
      'put /v1/orders replaceOrders',
      'get /v1/orders/{id} getOrder',
      'post /v1/orders/{id} createOrdersById',
      'put /v1/orders/{id} replaceOrder'
    ]
  )
})

const failing = (errors: string[], more: object = {}) => ({
  config: { openapi: { errors }, ...more, otherConfigKeys: Object.keys(more) } as object,
  handler
})
const both = (app: FastifyInstance) => app.get('/v1/m', failing(['ALREADY_SHIPPED', 'INSUFFICIENT_STOCK']))

const named = async (register: (app: FastifyInstance) => void) => {
  const { paths } = await documentOf({ errors }, register)
  return Object.entries(paths).map(([path, { get }]: [string, Loose]) => `${path} ${get.responses[409].$ref}`)
}

t.test('the name of an error response depends on its codes and headers alone', async (t) => {
  const [alone] = await named(both)
  t.match(alone, /\/Conflict_[0-9a-f]{6}$/)
  const all = await named((app) => {
    app.get('/v1/a', failing(['INSUFFICIENT_STOCK', 'OUT_OF_SEASON']))
    both(app)
    app.get('/v1/z', failing(['INSUFFICIENT_STOCK', 'ALREADY_SHIPPED']))
    app.get('/v1/zz', failing(['INSUFFICIENT_STOCK'], { idempotency: 'accepted' }))
  })
  t.equal(all[1], alone)
  t.equal(all[2]?.split(' ')[1], alone?.split(' ')[1])
  t.equal(new Set(all.map((one) => one.split(' ')[1])).size, 3)
  t.match(all[3], /\/InsufficientStock_[0-9a-f]{6}$/)
})

t.test('a reference that leads to nothing is an error of one line, wherever it is, also without lints [V7]', async (t) => {
  const lost = { type: 'object', properties: { owner: { $ref: '#/$defs/Owner' } } }
  const places: Readonly<Record<string, (app: FastifyInstance) => void>> = {
    body: (app) => app.post('/v1/things', { validatorCompiler: () => () => true, schema: { body: lost } }, handler),
    response: (app) => app.get('/v1/things', { serializerCompiler: () => () => '{}', schema: { response: { 200: lost } } }, handler),
    'header of a response': (app) =>
      app.get('/v1/things', { schema: { response: { 200: { type: 'object', properties: {}, headers: { 'X-Owner': lost } } } } }, handler),
    callback: (app) => {
      const content = { 'application/json': { schema: lost } }
      const schema: object = { callbacks: { paid: { '{$request.body#/url}': { post: { requestBody: { content }, responses: {} } } } } }
      app.post('/v1/things', { schema }, handler)
    }
  }
  for (const [place, routes] of Object.entries(places))
    await t.rejects(
      documentOf({ lint: 'off' }, routes),
      /openapi: the description of v1 has the reference \\"#\/\$defs\/Owner\\" at #\/(?:paths|components)\/\S+, which leads to nothing\. Define the schema under \$defs/,
      place
    )
  const event = { post: { requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { data: lost } } } } } } }
  await t.rejects(
    documentOf({ webhooks: () => ({ 'thing.made': event }) }, () => undefined),
    /leads to nothing/
  )
})

t.test('the references of an event lead to the definitions of its data, and to shared schemas', async (t) => {
  const data = {
    type: 'object',
    properties: { owner: { $ref: '#/$defs/Owner' }, bed: { $ref: 'garden#/$defs/bed' } },
    $defs: { Owner: { type: 'object', properties: { name: { type: 'string' } } } }
  }
  const event = { post: { requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { data } } } } } } }
  const { components } = await documentOf({ webhooks: () => ({ 'thing.made': event }) }, register([]))
  t.match(components.schemas.ThingMadeEventOwner, { properties: { name: { type: 'string' } } })
  t.match(Object.keys(components.schemas), ['Garden', 'GardenBed'])
})
