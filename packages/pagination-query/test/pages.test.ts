import { collection, type Page } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { contractOf } from '@concordat/plugin-kit/wiring'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, RouteOptions } from 'fastify'
import t from 'tap'
import { get, Order, ordersApp, pagedOrders, rows } from './orders.ts'

const app = await ordersApp()
const pageMeta = (route: Pick<RouteOptions, 'config'>) =>
  contractOf(app, 'pages')?.meta(route as RouteOptions) as { pagination: { properties: object; required: string[] } } | undefined
const ids = (response: { rows: readonly { id: string }[] }) => response.rows.map(({ id }) => id)

/** Returns the ids of all pages from `start`, following a relation. */
async function walk(app: FastifyInstance, start: string, rel: string) {
  const pages: string[][] = []
  for (let url: string | undefined = start; url !== undefined; ) {
    const response = await get(app, url)
    t.equal(response.status, 200, url)
    pages.push(ids(response))
    url = response.links[rel]
    if (pages.length > 100) throw new Error('The walk does not end.')
  }
  return pages
}

t.test('numbers pages, with a default and a maximum number of items [Q1]', async (t) => {
  t.equal((await get(app, '/paged')).rows.length, 23)
  const small = await ordersApp({ perPage: { default: 5, max: 7 } })
  t.equal((await get(small, '/paged')).rows.length, 5)
  t.equal((await get(small, '/paged?perPage=7')).rows.length, 7)
  t.equal((await get(small, '/paged?perPage=8')).messages['perPage'], 'must be an integer between 1 and 7, written in digits')
  t.strictSame(
    (await get(app, '/paged?perPage=5&page=2&sort=id')).pagination,
    { page: 2, perPage: 5, totalPages: 5, totalItems: 23 },
    '[E3]'
  )
})

t.test('links lead through the whole list and back [E2] [Q1]', async (t) => {
  const query = 'perPage=4&sort=status,-placedAt&fields=id,total&urgent=true&title%5Bprefix%5D=Order'
  const all = ids(await get(app, `/paged?${query.replace('perPage=4', 'perPage=100')}`))
  t.equal(all.length, 12)
  const forward = await walk(app, `/paged?${query}`, 'next')
  t.strictSame(forward.flat(), all)
  const last = (await get(app, `/paged?${query}`)).links['last'] as string
  t.strictSame((await walk(app, last, 'prev')).toReversed().flat(), all)
})

t.test('returns absolute links that apply, with the whole query in canonical order [E2]', async (t) => {
  const { links } = await get(
    app,
    '/paged?page=2&fields=total,id&perPage=5&sort=-total&title[in]=a%5C%2Cb,c%26d,a%5C%2Cb&total[gte]=0&urgent[ne]=false&unknown'.replace(
      '&unknown',
      ''
    )
  )
  const common = 'total%5Bgte%5D=0&urgent%5Bne%5D=false&title%5Bin%5D=a%5C%2Cb,c%26d&sort=-total&fields=total,id&perPage=5'
  t.strictSame(links, { first: `/paged?${common}&page=1`, prev: `/paged?${common}&page=1`, last: `/paged?${common}&page=1` })

  const rels = async (query: string) => Object.keys((await get(app, `/paged?perPage=10&${query}`)).links)
  t.strictSame(await rels('page=1'), ['first', 'next', 'last'])
  t.strictSame(await rels('page=2'), ['first', 'prev', 'next', 'last'])
  t.strictSame(await rels('page=3'), ['first', 'prev', 'last'])
  t.strictSame(await rels('title=none'), ['first', 'last'])
  t.equal((await get(app, '/paged')).links['first'], '/paged?page=1')
  const raw = await app.inject('/paged?perPage=10')
  t.equal(
    raw.headers.link,
    ['first', 'next', 'last'].map((rel, index) => `<https://api.example.com/paged?perPage=10&page=${index + 1}>; rel="${rel}"`).join(', ')
  )
})

t.test('returns an empty page beyond the end, with a link to the last page', async (t) => {
  const response = await get(app, '/paged?perPage=10&page=9')
  t.strictSame([response.status, response.rows, response.links['prev']], [200, [], '/paged?perPage=10&page=3'])
  t.notOk('next' in response.links)
  t.strictSame(response.pagination, { page: 9, perPage: 10, totalPages: 3, totalItems: 23 })
  const empty = await get(app, '/paged?title=none&page=2')
  t.strictSame([empty.links['prev'], empty.links['last']], ['/paged?title=none&page=1', '/paged?title=none&page=1'])
  t.strictSame(empty.pagination, { page: 2, perPage: 25, totalPages: 0, totalItems: 0 })
})

t.test('returns no link beyond maxOffset', async (t) => {
  const shallow = await ordersApp({ perPage: { default: 5, max: 10 }, maxOffset: 12 })
  const response = await get(shallow, '/paged?page=2')
  t.strictSame(Object.keys(response.links), ['first', 'prev'])
  t.strictSame((await get(shallow, '/paged?page=3')).errors, { page: 'pageTooDeep' })
})

t.test('refuses offset and limit, with the parameters to send instead [Q9]', async (t) => {
  const response = await get(app, '/paged?offset=5&limit=4')
  t.strictSame([response.status, response.errors], [422, { limit: 'wrongStyle', offset: 'wrongStyle' }])
  t.match(response.messages['offset'], /paginated with page, perPage/)
  t.strictSame((await get(app, '/orders?offset=1')).errors, { offset: 'wrongStyle' })
})

t.test('marks a capped total, and omits the last link with the style page [E3]', async (t) => {
  for (const [count, total, expected, rels] of [
    ['exact', { items: 23, exact: true }, { page: 1, perPage: 25, totalPages: 1, totalItems: 23 }, ['first', 'last']],
    [{ max: 10 }, { items: 10, exact: false }, { page: 1, perPage: 25, totalPages: 1, totalItems: 10, totalItemsExact: false }, ['first']],
    [{ max: 99 }, { items: 23, exact: true }, { page: 1, perPage: 25, totalPages: 1, totalItems: 23 }, ['first', 'last']],
    ['none', undefined, { page: 1, perPage: 25 }, ['first']]
  ] as const) {
    const counted = collection(Order)({ name: 'counted', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] }, count })
    const app = await ordersApp()
    app.get('/counted', { config: { collection: counted }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) => {
      const page: Page<Order> = { ...runArray(rows, request.listQuery(counted)), total }
      return reply.page(page)
    })
    const response = await get(app, '/counted')
    t.strictSame(response.pagination, expected)
    t.strictSame(Object.keys(response.links), rels)
    const schema = pageMeta({ config: { collection: counted } })?.pagination ?? { properties: {}, required: ['none'] }
    for (const name of Object.keys(response.pagination)) t.ok(name in schema.properties, name)
    for (const name of schema.required) t.ok(name in response.pagination, name)
  }
  t.equal(pageMeta({}), undefined)
  t.equal(pageMeta({ config: {} }), undefined)
  const schema = pageMeta({ config: { collection: pagedOrders } })?.pagination
  t.strictSame(schema?.required, ['page', 'perPage', 'totalPages', 'totalItems'])
})

t.test('adds links to the Link header of a handler, and sends none with an error', async (t) => {
  const own = await ordersApp()
  own.get('/linked', { config: { collection: pagedOrders }, schema: { response: { 200: Type.Array(Order) } } }, async (request, reply) => {
    reply.header('link', '</help>; rel="help"')
    return reply.page(runArray(rows, request.listQuery(pagedOrders)))
  })
  t.match((await own.inject('/linked')).headers.link, /^<\/help>; rel="help", <https:\/\/api\.example\.com\/linked\?page=1>; rel="first"/)
  t.notOk('link' in (await app.inject('/paged?page=0')).headers)
})

t.test('uses the address of the server in links without publicUrl, never the Host header [K2]', async (t) => {
  const local = await ordersApp({ publicUrl: undefined })
  const link = String((await local.inject({ url: '/paged', headers: { host: 'evil.example' } })).headers.link)
  t.notMatch(link, /evil/)
  t.match(link, /<http:\/\//)
})
