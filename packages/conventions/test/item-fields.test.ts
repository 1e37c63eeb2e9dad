import { serverOptions } from '@concordat/conventions'
import envelope from '@concordat/envelope'
import errorCatalogue from '@concordat/error-catalogue'
import paginationQuery from '@concordat/pagination-query'
import versioning from '@concordat/versioning'
import Fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify'
import t, { type Test } from 'tap'

const book = { id: '7', title: 'Solaris', pages: 204, author: { name: 'Lem', born: 1921 }, note: null }
const Book = {
  type: 'object',
  required: ['id', 'title', 'pages', 'author'],
  properties: {
    id: { type: 'string' },
    title: { type: 'string' },
    pages: { type: 'integer' },
    author: { type: 'object', properties: { name: { type: 'string' }, born: { type: 'integer' } } },
    note: { type: 'string' }
  }
}
const projection = { id: 'id' }
const options = { config: { projection }, schema: { response: { 200: Book } } }

async function service(t: Test, routes: (app: FastifyInstance) => void, whole = true) {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(errorCatalogue)
  await app.register(paginationQuery)
  if (whole) await app.register(envelope)
  if (whole) await app.register(versioning, { versions: { 1: {} } })
  if (whole) await app.apiVersion(1, async (v1) => routes(v1))
  else routes(app)
  return async (url: string, method: 'GET' | 'HEAD' = 'GET') => {
    const response = await app.inject({ method, url })
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: response.body.startsWith('{') ? response.json() : undefined
    }
  }
}

t.test('a resource has the requested fields and its identifier, in the order of the schema [Q4]', async (t) => {
  const call = await service(t, (v1) => v1.get('/books/:id', options, async () => book))
  const { note: _note, ...whole } = book
  t.strictSame((await call('/v1/books/7')).body.data, whole)
  t.equal(JSON.stringify((await call('/v1/books/7?fields=pages,title')).body.data), '{"id":"7","title":"Solaris","pages":204}')
  t.strictSame((await call('/v1/books/7?fields=author&fields=id')).body.data, { id: '7', author: book.author })
  t.strictSame((await call('/v1/books/7?fields=note')).body.data, { id: '7' })
  const { body } = await call('/v1/books/7?fields=title')
  t.match(body, { _links: [{ rel: 'self', href: /fields=title$/ }], _meta: { version: 'v1' } })
})

t.test('a resource with some fields has the numbers of the whole resource with all their digits [Q4]', async (t) => {
  const Account = { ...Book, properties: { ...Book.properties, pages: { type: 'integer' }, share: { type: 'number' } } }
  for (const pages of [9007199254740993n, -9223372036854775808n, 7n]) {
    const call = await service(t, (v1) =>
      v1.get('/books/:id', { ...options, schema: { response: { 200: Account } } }, async () => ({ ...book, pages, share: 1e300 }))
    )
    t.match((await call('/v1/books/7')).text, `"pages":${pages}`)
    t.match((await call('/v1/books/7?fields=pages,share')).text, `{"data":{"id":"7","pages":${pages},"share":1e+300},`)
  }
})

t.test('a resource refuses a field that is requested twice, as a list does [Q4]', async (t) => {
  const call = await service(t, (v1) => v1.get('/books/:id', options, async () => book))
  for (const fields of ['id,id', 'title,pages,title', 'title&fields=title']) {
    t.match(await call(`/v1/books/7?fields=${fields}`), {
      status: 422,
      body: { error: { errors: [{ field: 'query.fields', message: 'must not list a field more than once' }] } }
    })
  }
})

t.test('HEAD has the headers of GET with the same fields [Q4] [M7]', async (t) => {
  const call = await service(t, (v1) => v1.get('/books/:id', options, async () => book))
  const [get, head] = [await call('/v1/books/7?fields=title'), await call('/v1/books/7?fields=title', 'HEAD')]
  t.equal(head.status, 200)
  t.equal(head.headers['content-length'], get.headers['content-length'])
})

t.test('unknown fields and unknown parameters are refused together, with what exists [Q4]', async (t) => {
  const call = await service(t, (v1) => v1.get('/books/:id', options, async () => book))
  const { status, body } = await call('/v1/books/7?fields=title,isbn&field=x')
  t.equal(status, 422)
  t.equal(body.error.code, 'INVALID_QUERY_PARAMETERS')
  t.strictSame(body.error.errors, [
    { field: 'query.field', message: 'is not a known parameter; did you mean fields?' },
    { field: 'query.fields', message: 'must list only these fields: id, title, pages, author, note' }
  ])
  for (const fields of ['', ',', 'title,', '__proto__', 'author.name', Array.from({ length: 101 }, () => 'id').join()])
    t.equal((await call(`/v1/books/7?fields=${fields}`)).status, 422, fields.slice(0, 20))
})

t.test('a route can have parameters of its own beside fields', async (t) => {
  const querystring = { type: 'object', additionalProperties: false, properties: { edition: { type: 'integer' } } }
  const own = { ...options, schema: { ...options.schema, querystring } }
  const call = await service(t, (v1) => v1.get('/books/:id', own, async ({ query }) => ({ ...book, title: JSON.stringify(query) })))
  t.strictSame((await call('/v1/books/7?edition=2&fields=title')).body.data, { id: '7', title: '{"edition":2}' })
})

t.test('errors and other media types are sent whole', async (t) => {
  const call = await service(t, (v1) => {
    v1.get('/pages/:id', options, async () => {
      throw Object.assign(new Error('gone'), { statusCode: 404 })
    })
    const media = { 200: { content: { 'application/json': { schema: Book }, 'text/plain': { schema: { type: 'string' } } } } }
    v1.get('/texts/:id', { config: { projection }, schema: { response: media } }, async (_request, reply) => {
      reply.type('text/plain')
      return 'Solaris'
    })
  })
  t.match((await call('/v1/pages/7?fields=title')).body.error, { code: 'RESOURCE_NOT_FOUND', message: String })
  t.equal((await call('/v1/texts/7?fields=title')).text, 'Solaris')
})

t.test('works without the envelope, and with a schema by reference', async (t) => {
  const call = await service(
    t,
    (app) => {
      app.addSchema({ ...Book, $id: 'Book' })
      app.get('/books/:id', { ...options, schema: { response: { 200: { $ref: 'Book#' } } } }, async () => book)
    },
    false
  )
  t.strictSame((await call('/books/7?fields=title')).body, { id: '7', title: 'Solaris' })
  t.equal((await call('/books/7?other=1')).status, 200)
})

t.test('a whole resource is still checked: a required field that is missing is an error of the service', async (t) => {
  const call = await service(t, (v1) => v1.get('/books/:id', options, async () => ({ id: '7', title: 'Solaris' })))
  t.equal((await call('/v1/books/7?fields=title')).status, 500)
})

t.test('a route that cannot be projected stops the start', async (t) => {
  const start = async (method: 'get' | 'post', route: RouteShorthandOptions) => {
    const call = await service(t, (v1) => v1[method]('/books', route, async () => book))
    await call('/v1/books')
  }
  await t.rejects(start('post', options), {
    message: 'pagination-query: POST /v1/books must be a GET route, because it sets config.projection. Use GET.'
  })
  await t.rejects(start('get', { ...options, config: { projection: false as never } }), {
    message: /^pagination-query: GET \/v1\/books: config\.projection must be \{ id \}, with the field/
  })
  const message =
    'pagination-query: GET /v1/books sets config.projection, so its 200 response must be declared as an object with the field "isbn". Add the field to the schema, or remove config.projection.'
  await t.rejects(start('get', { ...options, config: { projection: { id: 'isbn' } } }), { message })
  await t.rejects(start('get', { config: { projection: { id: 'isbn' } }, schema: { response: { 204: { type: 'null' } } } }), { message })
})
