import t from 'tap'
import { startService } from './service.ts'

const { call } = await startService(t, { seedOrders: 60 })

interface Link {
  readonly rel: string
  readonly href: string
}

const pathOf = (href: string) => href.replace('https://shop.example', '')

async function read(path: string) {
  const { status, body } = await call('GET', path)
  if (status !== 200) throw new Error(`${path} responded with ${status}: ${JSON.stringify(body)}`)
  const links = new Map((body._links as Link[]).map(({ rel, href }) => [rel, pathOf(href)]))
  return { rows: body.data as Record<string, string>[], links, pagination: body._meta.pagination }
}

// Follows one relation from a page to its last page.
async function walk(path: string, rel: string) {
  const pages: Record<string, string>[][] = []
  for (let at: string | undefined = path; at !== undefined; ) {
    const { rows, links } = await read(at)
    pages.push(rows)
    at = links.get(rel)
  }
  return pages
}

const asText = (text: string) => text
const ids = (rows: readonly Record<string, string>[]) => rows.map(({ id }) => id)
const whole = new Map<string, Record<string, string>[]>()
for (const path of ['/v1/orders', '/v1/products', '/v1/customers', '/v1/categories']) {
  whole.set(path, (await walk(`${path}?perPage=100`, 'next')).flat())
}
const orders = whole.get('/v1/orders') ?? []
const products = whole.get('/v1/products') ?? []

t.test('the links of every collection visit each item once, forward and backward [E2] [Q1] [Q2] [S6]', async (t) => {
  for (const [path, rows] of whole) {
    const forward = await walk(`${path}?perPage=7`, 'next')
    t.strictSame(ids(forward.flat()), ids(rows), `${path} forward`)
    const { links } = await read(`${path}?perPage=7`)
    const backward = await walk(links.get('last') as string, 'prev')
    t.strictSame(ids(backward.toReversed().flat()), ids(rows), `${path} backward`)
    t.equal(new Set(ids(rows)).size, rows.length)
    t.strictSame((await read(links.get('first') as string)).rows, forward[0], 'the link first returns the first page')
  }
  t.equal(orders.length, 60)
  t.equal(products.length, 77)
})

t.test('the totals match the collection, in each pagination style [E3]', async (t) => {
  t.strictSame((await read('/v1/products?page=2&perPage=30')).pagination, { page: 2, perPage: 30, totalPages: 3, totalItems: 77 })
  t.strictSame((await read('/v1/orders')).pagination, { page: 1, perPage: 25, totalPages: 3, totalItems: 60 })
})

t.test('each declared sort key sorts in both directions [Q3]', async (t) => {
  const sorts = [
    ['/v1/products', 'unitPrice', Number],
    ['/v1/products', 'name', asText],
    ['/v1/products', 'createdAt', asText],
    ['/v1/orders', 'total', Number],
    ['/v1/orders', 'placedAt', asText],
    ['/v1/customers', 'companyName', asText]
  ] as const
  for (const [path, field, valueOf] of sorts) {
    const values = (await walk(`${path}?perPage=20&sort=${field}`, 'next')).flat().map((row) => valueOf(row[field] as string))
    t.strictSame(
      values,
      values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)),
      `${path} by ${field}`
    )
    const turned = (await walk(`${path}?perPage=20&sort=-${field}`, 'next')).flat().map((row) => valueOf(row[field] as string))
    t.strictSame(turned, values.toReversed())
  }
  t.strictSame(ids((await read('/v1/orders?perPage=60')).rows), ids((await read('/v1/orders?perPage=60&sort=-placedAt')).rows))
})

t.test('a list with fields has these fields and the id on every page, and keeps its filters [Q4]', async (t) => {
  const rows = (await walk('/v1/orders?perPage=5&fields=status,total&status%5Bne%5D=cancelled', 'next')).flat()
  t.ok(rows.length > 5)
  for (const row of rows) t.strictSame(Object.keys(row).toSorted(), ['id', 'status', 'total'])
  t.strictSame(ids(rows), ids(orders.filter(({ status }) => status !== 'cancelled')))
})

t.test('filters by equality and by operators return the same rows as a check of each row [Q5] [Q6]', async (t) => {
  const price = Number(products[30]?.['unitPrice'])
  const [someone] = orders.map((order) => order['customerId'] as string)
  const moment = orders[20]?.['placedAt'] as string
  const cases: [string, (row: Record<string, string>) => boolean][] = [
    [`/v1/products?unitPrice%5Bgte%5D=${price}`, (row) => Number(row['unitPrice']) >= price],
    [`/v1/products?unitPrice[lt]=${price}`, (row) => Number(row['unitPrice']) < price],
    [`/v1/products?unitPrice=${price}0`, (row) => Number(row['unitPrice']) === price],
    [
      `/v1/products?discontinued=true&unitPrice[gt]=1&unitPrice[lte]=1000`,
      (row) => String(row['discontinued']) === 'true' && Number(row['unitPrice']) > 1 && Number(row['unitPrice']) <= 1000
    ],
    ['/v1/products?name[prefix]=Fresh', (row) => String(row['name']).startsWith('Fresh')],
    [`/v1/orders?status=paid`, (row) => row['status'] === 'paid'],
    ['/v1/orders?status[in]=paid,shipped', (row) => ['paid', 'shipped'].includes(row['status'] as string)],
    [`/v1/orders?customerId=${someone}`, (row) => row['customerId'] === someone],
    [`/v1/orders?placedAt[gte]=${moment}`, (row) => (row['placedAt'] as string) >= moment],
    ['/v1/orders?total[gt]=500&total[lte]=2000.00', (row) => Number(row['total']) > 500 && Number(row['total']) <= 2000]
  ]
  for (const [path, keeps] of cases) {
    const all = whole.get(path.slice(0, path.indexOf('?'))) ?? []
    const rows = (await walk(`${path}&perPage=9`, 'next')).flat()
    t.strictSame(ids(rows), ids(all.filter(keeps)), path)
    t.ok(rows.length > 0 && rows.length < all.length, 'the filter returns only a part of the rows')
  }
})

t.test('exactly the sort orders in the description are accepted [Q3]', async (t) => {
  const { paths } = (await call('GET', '/v1/openapi')).body
  for (const path of whole.keys()) {
    const parameters: { name: string; schema: { enum: string[] } }[] = paths[path].get.parameters
    const orders = parameters.find(({ name }) => name === 'sort')?.schema.enum ?? []
    const keys = [...new Set(orders.flatMap((order) => order.split(',')))]
    for (const order of [...keys, ...keys.flatMap((first) => keys.map((second) => `${first},${second}`))]) {
      const { status, body } = await call('GET', `${path}?sort=${order}`)
      t.equal(status, orders.includes(order) ? 200 : 422, `${path} by ${order}`)
      if (status === 422) t.match(body.error.errors, [{ field: 'query.sort', message: new RegExp(`: ${orders.join('; ')}$`) }])
    }
  }
  for (const [path, first, second] of [
    ['/v1/products', 'unitPrice', 'name'],
    ['/v1/orders', 'total', 'placedAt']
  ] as const) {
    const rows = (await walk(`${path}?perPage=20&sort=${first},-${second}`, 'next')).flat()
    const expected = rows.toSorted(
      (a, b) => Number(a[first]) - Number(b[first]) || (asText(a[second] as string) < asText(b[second] as string) ? 1 : -1)
    )
    t.strictSame(ids(rows), ids(expected), path)
    t.strictSame(
      ids((await walk(`${path}?perPage=20&sort=-${first}%2C${second}`, 'next')).flat()),
      ids(expected.toReversed()),
      'an encoded comma separates the keys too'
    )
  }
})

t.test('undeclared parameters are refused, and every wrong parameter is named [Q7] [Q11]', async (t) => {
  const { status, body } = await call('GET', '/v1/orders?page=2&stauts=paid&note=x&total[gte]=1e3&sort=status&perPage=101&total[like]=5')
  t.equal(status, 422)
  t.equal(body.error.code, 'INVALID_QUERY_PARAMETERS')
  t.equal(body.error.error, 'ValidationError')
  t.strictSame(
    body.error.errors.map(({ field }: { field: string }) => field),
    ['note', 'page', 'perPage', 'sort', 'stauts', 'total[gte]', 'total[like]'].map((name) => `query.${name}`)
  )
  const spanish = await call('GET', '/v1/products?after=x', undefined, { 'accept-language': 'es' })
  t.match(spanish.body.error.errors, [{ field: 'query.after', message: /no se admite en esta colección/ }])
  for (const path of whole.keys()) t.equal((await call('GET', `${path}?unknown=1`)).status, 422, path)
})

t.test('a cursor is valid only for its own list [Q2]', async (t) => {
  const { links } = await read('/v1/orders?perPage=5&status=shipped')
  const next = links.get('next') as string
  t.equal((await call('GET', next)).status, 200)
  t.equal((await call('GET', next.replace('status=shipped', 'status=pending'))).body.error.code, 'CURSOR_MISMATCH')
  t.equal((await call('GET', '/v1/orders?after=AAAA')).body.error.code, 'CURSOR_INVALID')
})

t.test('nested collections have their own pages', async (t) => {
  const order = orders[0]?.['id'] as string
  const { rows, links, pagination } = await read(`/v1/orders/${order}/items?perPage=1`)
  t.equal(rows.length, 1)
  t.equal(links.get('up'), `/v1/orders/${order}`)
  const items = (await walk(`/v1/orders/${order}/items?perPage=1`, 'next')).flat()
  t.equal(items.length, pagination.totalItems)
  t.strictSame(ids(items), ids(items).toSorted())
  t.strictSame((await read(`/v1/products/${products[0]?.['id']}/images`)).rows, [])
})

t.test('unknown query parameters are refused on every route, also of writes and outside the versions [Q11]', async (t) => {
  const [product] = (await call('GET', '/v1/products?perPage=1')).body.data
  for (const [method, path, body] of [
    ['GET', `/v1/products/${product.id}`],
    ['HEAD', `/v1/products/${product.id}`],
    ['PATCH', `/v1/products/${product.id}`, {}],
    ['DELETE', `/v1/products/${product.id}`],
    ['POST', '/v1/tokens', { username: 'ada@example.com', password: 'correct horse battery staple' }],
    ['POST', '/v1/token-revocations', { token: 'x' }],
    ['POST', '/v1/order-exports', {}],
    ['GET', '/v2/openapi'],
    ['GET', '/reference'],
    ['GET', '/health/live'],
    ['GET', '/v1'],
    ['GET', '/']
  ] as const) {
    const { status, body: refused } = await call(method, `${path}?_=1&cache-buster=2`, body)
    t.equal(status, 422, `${method} ${path}`)
    if (method === 'HEAD') continue
    t.match(refused.error, {
      code: 'INVALID_QUERY_PARAMETERS',
      errors: [
        { field: 'query._', message: 'is not a known parameter' },
        { field: 'query.cache-buster', message: 'is not a known parameter' }
      ]
    })
  }
  t.equal(
    (await call('GET', `/v1/products/${product.id}?access_token=x&_=1`)).body.error.code,
    'CREDENTIALS_IN_URI',
    'a credential is named first'
  )
})
