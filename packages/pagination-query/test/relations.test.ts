import paginationQuery, { collection, filterBody, many, one } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { runSql, type SqlClient } from '@concordat/pagination-query/sql'
import { type TSchema, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'

const text = Type.String({ maxLength: 40 })
const Author = Type.Object({ id: text, name: Type.String({ maxLength: 40 }), secret: Type.Optional(Type.String()) })
const listed = { style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } } as const
const authors = collection(Author)({ ...listed, name: 'authors', readable: (_request, field) => field !== 'secret' })
const Book = Type.Object({ id: Type.String({ format: 'int64' }), authorId: Type.Optional(text), pages: Type.Integer() })
const Note = Type.Object({ id: Type.String({ format: 'int64' }), bookId: Type.String({ format: 'int64' }), text, size: Type.Integer() })
const notes = collection(Note)({ ...listed, name: 'notes' })
const author = one(authors, { key: 'authorId', permission: 'public' })
const booksWith = (relations: object, declaration: object = {}) =>
  collection(Book)({ ...listed, name: 'books', relations: relations as never, ...declaration })
const books = booksWith({ author, notes: many(notes, { key: 'bookId', permission: 'public', sort: 'id', max: 1 }) })

const declared =
  (relations: object, declaration: object = {}) =>
  () =>
    booksWith(relations, declaration)

t.test('a relation that cannot be read stops the start with one line', (t) => {
  const cases: readonly (readonly [declare: () => unknown, message: string | RegExp])[] = [
    [declared({ 'my author': author }), 'collection "books": relations.my author has an invalid name. Use letters and digits.'],
    [declared({ sort: author }), 'collection "books": relations.sort has an invalid name. Use letters and digits.'],
    [declared({ pages: author }), 'collection "books": relations.pages has the name of a field. Rename the relation.'],
    [declared({ author: authors }), 'collection "books": relations.author must be one(collection, …) or many(collection, …).'],
    [declared({ author: {} }), 'collection "books": relations.author must be one(collection, …) or many(collection, …).'],
    [
      declared({ author: one(authors, { key: 'authorId', permission: '' }) }),
      'collection "books": relations.author has no permission. Set permission to that of reading "authors", or to "public".'
    ],
    [
      declared({ author: one(authors, { key: 'writerId', permission: 'public' }) }),
      'collection "books": relations.author.key is "writerId", which is not a field of "books" with values. Name the field of the key.'
    ],
    [
      declared({ notes: many(notes, { key: 'book', permission: 'public', sort: 'id', max: 1 }) }),
      'collection "books": relations.notes.key is "book", which is not a field of "notes" with values. Name the field of the key.'
    ],
    [
      declared({ author: one(authors, { key: ['clinic', 'author'] as never, permission: 'public' }) }),
      'collection "books": relations.author.key must be the name of a single field, as the id of a collection is. For a key of several columns, add a column that has all of them: a generated one, or one of a view.'
    ],
    [
      declared({ author: one(authors, { key: 'pages', permission: 'public' }) }),
      'collection "books": relations.author compares a field of the kind integer with one of the kind string. Both must be of the same kind: uuid, integer or string.'
    ],
    [declared({ author: one(authors, { key: 'authorId' } as never) }), /relations\.author has no permission\. Set permission to/],
    [() => one(authors, { key: 'authorId', permission: 'public', max: 3 } as never), /^pagination-query: one\.max is unknown/],
    [
      () => many(notes, { key: 'bookId', permission: 'public', sort: 'id' } as never),
      /^pagination-query: many\.max must be an integer from 1 to 100/
    ],
    [
      () => many(notes, { key: 'bookId', permission: 'public', max: 1 } as never),
      /^pagination-query: many: sort is "undefined", which is not an order/
    ],
    [() => many(notes, { key: 'bookId', permission: 'public', sort: 'id', max: 101 }), /^pagination-query: many\.max must be/],
    [
      () => many(notes, { key: 'bookId', permission: 'public', sort: 'text', max: 1 }),
      'many: sort is "text", which is not an order of "notes". Use one of id; -id.'
    ]
  ]
  for (const [declare, message] of cases)
    t.throws(declare, { name: 'TypeError', message: typeof message === 'string' ? `pagination-query: ${message}` : message })
  const filters: readonly (readonly [filter: object, message: string])[] = [
    [
      { 'author.age': ['eq'] },
      'filter contains "author.age", which is not a field of the schema. Use a field of the schema, or of a relation: "customer.country".'
    ],
    [
      { 'writer.name': ['eq'] },
      'filter contains "writer.name", which is not a field of the schema. Use a field of the schema, or of a relation: "customer.country".'
    ],
    [{ 'author.name': ['gt'] }, 'filter.author.name has the operator "gt". Choose among eq, ne, in, nin, prefix, contains.'],
    [{ 'author.name': [] }, 'filter.author.name has no operator. Choose among eq, ne, in, nin, prefix, contains.']
  ]
  for (const [filter, message] of filters)
    t.throws(declared({ author }, { filter }), { message: `pagination-query: collection "books": ${message}` })
  const Included = Type.Object({ id: text, authorId: text, include: text })
  t.throws(() => collection(Included)({ ...listed, name: 'books', relations: { author } }), /a field is named include/)
  t.end()
})

async function serve(list: (app: FastifyInstance) => unknown, schema: TSchema = Book) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(paginationQuery)
  list(app)
  app.get('/books/:id', { config: { projection: { id: 'id', relationsOf: books } }, schema: { response: { 200: schema } } }, async () => ({
    id: '1',
    pages: 3
  }))
  return app
}

t.test('filters by fields of relations are described, and are not in the body of a request', (t) => {
  const restricted = { key: 'bookId', permission: 'notes:read', sort: 'id', max: 1 } as const
  const filtered = booksWith(
    { author, notes: many(notes, restricted) },
    { filter: { 'author.name': true, 'notes.size': ['gte'], pages: ['eq'] } }
  )
  t.strictSame(
    filtered.parameters.filter(({ name }) => /\./.test(name)).map(({ name, description, schema }) => [name, description, schema]),
    [
      ['author.name', 'author.name equal to', { type: 'string', maxLength: 40 }],
      ['author.name[ne]', 'author.name not equal to the value, or null', { type: 'string', maxLength: 40 }],
      [
        'author.name[in]',
        'author.name one of; a comma within a value is written \\,',
        { type: 'array', items: { type: 'string', maxLength: 40 }, minItems: 1, maxItems: 100 }
      ],
      [
        'author.name[nin]',
        'author.name none of the values, or null; a comma within a value is written \\,',
        { type: 'array', items: { type: 'string', maxLength: 40 }, minItems: 1, maxItems: 100 }
      ],
      [
        'notes.size[gte]',
        'notes.size greater than or equal to, for any one of notes; only for clients with the permission notes:read',
        { type: 'integer', format: 'int64', minimum: -(2 ** 63), maximum: 2 ** 63 }
      ]
    ]
  )
  t.strictSame(Object.keys(filterBody(filtered).schema['properties'] as object), ['pages'])
  t.end()
})

t.test('rows in memory have no relations to filter by', async (t) => {
  const filtered = booksWith({ author }, { filter: { 'author.name': ['eq'] } })
  const app = await serve((app) =>
    app.get('/books', { config: { collection: filtered }, schema: { response: { 200: Type.Array(Book) } } }, async (request, reply) =>
      reply.page(runArray([], request.listQuery(filtered)) as never)
    )
  )
  t.strictSame((await app.inject('/books')).json(), [])
  const { statusCode, payload } = await app.inject('/books?author.name=x')
  t.equal(statusCode, 500)
  t.match(payload, /runArray has no rows of relations to filter by, such as those of author\. Use runSql, or remove the filter\./)
})

const nothing: SqlClient = { query: async () => ({ rows: [] }) }

t.test('a permission that nothing checks, and a resource without relations, stop the start', async (t) => {
  const restricted = booksWith({ author: one(authors, { key: 'authorId', permission: 'authors:read' }) })
  const app = await serve((app) =>
    app.get('/books', { config: { collection: restricted }, schema: { response: { 200: Type.Array(Book) } } }, async (request, reply) =>
      reply.page(await runSql(nothing, request.listQuery(restricted)))
    )
  )
  await t.rejects(
    async () => app.ready(),
    'pagination-query: GET /books: the relation author needs the permission "authors:read", which nothing checks. Register authentication, or set permission to "public".'
  )
  for (const relationsOf of [authors, {}]) {
    const other = Fastify()
    await other.register(paginationQuery)
    other.get(
      '/authors/:id',
      { config: { projection: { id: 'id', relationsOf } as never }, schema: { response: { 200: Author } } },
      async () => ({})
    )
    await t.rejects(async () => other.ready(), /config\.projection\.relationsOf must be a collection with relations/)
  }
})

t.test('a handler that does not read what include asks for is a fault, and a request without include needs nothing', async (t) => {
  const row = { id: '1', pages: 3 }
  const app = await serve((app) =>
    app.get('/books', { config: { collection: books }, schema: { response: { 200: Type.Array(Book) } } }, async (request, reply) =>
      reply.page(runArray([row], request.listQuery(books)) as never)
    )
  )
  t.strictSame((await app.inject('/books')).json(), [row])
  t.strictSame((await app.inject('/books/1?fields=pages')).json(), row)
  for (const url of ['/books?include=author', '/books/1?include=author']) {
    const { statusCode, payload } = await app.inject(url)
    t.equal(statusCode, 500)
    t.match(payload, /responded without what include asks for\. Return request\.withIncluded\(client, row\), or the page of runSql\./)
  }
  t.equal((await app.inject({ method: 'HEAD', url: '/books' })).statusCode, 200)
})

t.test('keys of any text and of 64 bits find their rows, and fields that a client may not read are left out', { skip }, async (t) => {
  const pool = await openSchema(t)
  const names = ["o'neil", 'a,b', '"', '\\', 'ñ\n', '{null}', 'null', '']
  await pool.query(`create table authors (id text primary key, name text not null, secret text);
    create table books (id bigint primary key, author_id text, pages int not null);
    create table notes (id bigint primary key, book_id bigint not null, text text not null, size bigint not null default 1)`)
  const large = 9007199254740993n
  for (const [index, name] of names.entries()) {
    await pool.query('insert into authors values ($1, $2, $3)', [name, `name ${index}`, 'hidden'])
    await pool.query('insert into books values ($1, $2, 1)', [String(large + BigInt(index)), name])
    await pool.query('insert into notes select $1::bigint * 10 + n, $1, n::text from generate_series(1, 2) n', [String(index)])
  }
  await pool.query('insert into notes values (1000, $1, $2, $1), (1001, $1, $2, $1)', [String(large), 'note'])
  const app = await serve((app) =>
    app.get('/books', { config: { collection: books }, schema: { response: { 200: Type.Array(Book) } } }, async (request, reply) =>
      reply.page(await runSql(pool, request.listQuery(books)))
    )
  )
  const { payload } = await app.inject('/books?include=author,notes')
  t.match(payload, '"size":9007199254740993', 'with all digits')
  const found = JSON.parse(payload)
  t.strictSame(
    found.map(({ author }: { author: object }) => author),
    names.map((id, index) => ({ id, name: `name ${index}` }))
  )
  t.strictSame(found[0].notes, { items: [{ id: '1000', bookId: String(large), text: 'note', size: Number(large) }], more: true })
  t.strictSame(found[1].notes, { items: [], more: false })
  const head = await app.inject({ method: 'HEAD', url: '/books?include=author' })
  t.equal(head.headers['content-length'], (await app.inject('/books?include=author')).headers['content-length'])
})

t.test('a related resource with references of its own is described by a schema of its own', async (t) => {
  const Nested = {
    type: 'object',
    required: ['id', 'address'],
    properties: { id: { type: 'string', maxLength: 40 }, address: { $ref: '#/$defs/address' } },
    $defs: { address: { type: 'object', properties: { city: { type: 'string' } } } }
  }
  const people = collection<{ id: string; address: object }>(Nested)({ ...listed, name: 'people' })
  const owned = booksWith({ author: one(people, { key: 'authorId', permission: 'public' }) })
  const schemas: unknown[] = []
  const app = Fastify()
  await app.register(paginationQuery)
  app.addHook('onRoute', ({ config }) => {
    schemas.push((config?.projection as { projected?: unknown } | undefined)?.projected)
  })
  const config = { projection: { id: 'id', relationsOf: owned } }
  app.get('/books/:id', { config, schema: { response: { 200: Book } } }, async () => ({}))
  await app.ready()
  t.match(schemas, [{ properties: { author: { anyOf: [{ $ref: /^concordat-list-\d+#$/ }, { type: 'null' }] } } }])
})
