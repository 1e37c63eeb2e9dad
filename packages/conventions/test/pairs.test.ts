import conditionalCaching from '@concordat/conditional-caching'
import envelope from '@concordat/envelope'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import httpMethods from '@concordat/http-methods'
import idempotency from '@concordat/idempotency'
import paginationQuery, { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { movedDate } from '@concordat/test-harness/moved-date'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'

const Thing = Type.Object({ id: Type.String(), name: Type.String() })
const things = collection(Thing)({ name: 'things', style: 'page', id: 'id', sort: { keys: ['name'] }, defaultSort: ['name'] })
const rows: Static<typeof Thing>[] = [{ id: '1', name: 'a' }]
const publicUrl = 'https://api.example.com'

function addThings(app: FastifyInstance) {
  app.get('/things', { config: { collection: things }, schema: { response: { 200: Type.Array(Thing) } } }, async (request, reply) =>
    reply.page(runArray(rows, request.listQuery(things)))
  )
}

t.test('envelope and idempotency, in either order: a replay is the stored response', async (t) => {
  for (const first of ['envelope', 'idempotency']) {
    const app = Fastify()
    if (first === 'envelope') await app.register(envelope, { publicUrl })
    await app.register(idempotency, { scope: () => 'everyone' })
    if (first === 'idempotency') await app.register(envelope, { publicUrl })
    app.post('/things', { config: { idempotency: 'required' }, schema: { response: { 201: Thing } } }, async (_request, reply) =>
      reply.created('/things/1', { id: '1', name: 'a' })
    )
    app.post(
      '/plain',
      { config: { idempotency: 'required', envelope: false }, schema: { response: { 201: Thing } } },
      async (_request, reply) => reply.code(201).send({ id: '1', name: 'a' })
    )
    for (const url of ['/things', '/plain']) {
      const send = () => app.inject({ method: 'POST', url, headers: { 'idempotency-key': `"${url}"` } })
      const [once, again] = [await send(), await send()]
      t.strictSame([once.statusCode, again.statusCode, again.headers['idempotency-replayed']], [201, 201, 'true'], url)
      t.equal(again.body, once.body)
    }
  }
})

t.test('envelope and conditional-caching, in either order: the tag ignores the timestamp', async (t) => {
  for (const first of ['envelope', 'caching']) {
    const clock = movedDate(t, 0)
    const app = Fastify()
    if (first === 'envelope') await app.register(envelope, { publicUrl })
    await app.register(conditionalCaching)
    if (first === 'caching') await app.register(envelope, { publicUrl })
    app.get('/things/1', { schema: { response: { 200: Thing } } }, async () => rows[0])
    const { etag } = (await app.inject('/things/1')).headers
    clock.now += 1000
    const again = await app.inject({ url: '/things/1', headers: { 'if-none-match': String(etag) } })
    t.equal(again.statusCode, 304, first)
  }
})

t.test('pagination-query and envelope: the page is in the envelope, and not in the Link header', async (t) => {
  const app = Fastify()
  await app.register(paginationQuery, { publicUrl })
  await app.register(envelope, { publicUrl })
  addThings(app)
  const { headers, body } = await app.inject('/things')
  const { _meta, _links } = JSON.parse(body)
  t.strictSame(_meta.pagination, { page: 1, perPage: 25, totalPages: 1, totalItems: 1 })
  t.match(
    _links.map(({ rel }: { rel: string }) => rel),
    ['self', 'first', 'last']
  )
  t.equal(headers['link'], undefined)
})

t.test('pagination-query after the envelope is refused with the remedy, and without the envelope it sends the Link header', async (t) => {
  const late = Fastify()
  await late.register(envelope, { publicUrl })
  await t.rejects(async () => late.register(paginationQuery, { publicUrl }), {
    message:
      'pagination-query: the plugin is registered after @concordat/envelope, which replaces the response schemas that it reads. Register it before.'
  })
  const alone = Fastify()
  await alone.register(paginationQuery, { publicUrl })
  addThings(alone)
  t.match((await alone.inject('/things')).headers['link'], /rel="first"/)
})

t.test('error-catalogue has the errors of plugins that are registered before it, after it and in a child', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  await app.register(paginationQuery, { publicUrl })
  await app.register(errorCatalogue, { publicUrl })
  await app.register(httpMethods)
  await app.register(async (child) => {
    await child.register(idempotency, { scope: () => 'everyone' })
    child.post('/things', { config: { idempotency: 'required' } }, async () => 'x')
  })
  addThings(app)
  const spanish = { 'accept-language': 'es' }
  for (const [request, status, code] of [
    [{ method: 'GET', url: '/things?color=red' }, 422, 'INVALID_QUERY_PARAMETERS'],
    [{ method: 'DELETE', url: '/things' }, 405, 'METHOD_NOT_ALLOWED'],
    [{ method: 'POST', url: '/things', payload: {} }, 400, 'IDEMPOTENCY_KEY_REQUIRED']
  ] as const) {
    const { error } = (await app.inject({ ...request, headers: spanish })).json()
    t.match(error, { status, code }, code)
    t.ok(app.errorCatalogue.find(code))
  }
  t.equal(new Set(app.errorCatalogue.entries.map(({ code }) => code)).size, app.errorCatalogue.entries.length)
})

t.test(
  'a route that was added before a plugin was awaited stops the start, unless it is an ordinary route of another context',
  async (t) => {
    for (const [name, plugin] of Object.entries({ envelope, 'conditional-caching': conditionalCaching })) {
      const app = Fastify()
      app.register(plugin as typeof envelope, {})
      app.get('/things', async () => [])
      await t.rejects(async () => app.ready(), {
        message: `${name}: GET /things was registered before the plugin, which has no effect on it. Await the registration of the plugin before you add routes, or register the plugin in a child context with its routes.`
      })
    }
    const beside = Fastify()
    beside.get('/health', async () => 'ok')
    await beside.register(
      async (child) => {
        await child.register(envelope, { publicUrl })
        child.get('/things/1', { schema: { response: { 200: Thing } } }, async () => rows[0])
      },
      { prefix: '/v2' }
    )
    t.equal((await beside.inject('/health')).body, 'ok')
    t.match((await beside.inject('/v2/things/1')).json(), { data: { id: '1' } })
  }
)
