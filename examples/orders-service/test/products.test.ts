import t from 'tap'
import { startService } from './service.ts'

const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const { call } = await startService(t)
const [category] = (await call('GET', '/v1/categories')).body.data
const wanted = { name: 'Rye Bread', categoryId: category.id, unitPrice: '3.5', currency: 'EUR', unitsInStock: 10, discontinued: false }

async function newProduct(changes: object = {}) {
  return (await call('POST', '/v1/products', { ...wanted, ...changes })).body.data
}

t.test('categories are listed by name, and each has its own address', async (t) => {
  const list = await call('GET', '/v1/categories')
  t.equal(list.status, 200)
  t.equal(list.body.data.length, 8)
  t.strictSame(list.body.data.map(({ name }: { name: string }) => name).slice(0, 3), ['Beverages', 'Condiments', 'Confections'])
  const one = await call('GET', `/v1/categories/${category.id}`)
  t.strictSame(one.body.data, category)
  t.strictSame(one.body._links, [
    { rel: 'self', href: `https://shop.example/v1/categories/${category.id}`, method: 'GET' },
    { rel: 'collection', href: 'https://shop.example/v1/categories', method: 'GET' }
  ])
  t.match(one.body._meta, { version: 'v1', timestamp: /^\d{4}-.*Z$/ })
})

t.test('returns 404 for a resource that does not exist and for an impossible id', async (t) => {
  for (const path of ['categories', 'products', 'customers', 'orders'])
    for (const id of [unknown, '1', 'urn:uuid:0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0']) {
      const { status, body } = await call('GET', `/v1/${path}/${id}`)
      t.match({ status, code: body.error.code }, { status: 404, code: 'RESOURCE_NOT_FOUND' }, `${path} ${id}`)
    }
})

t.test('collections return their first 25 items, in a stable order', async (t) => {
  const { status, body } = await call('GET', '/v1/products')
  t.equal(status, 200)
  t.equal(body.data.length, 25)
  const names = body.data.map(({ name }: { name: string }) => name)
  t.strictSame(names, [...names].sort())
})

t.test('a new product is created with 201, Location and links; cents are completed [M2]', async (t) => {
  const { status, headers, body } = await call('POST', '/v1/products', wanted)
  t.equal(status, 201)
  const { id, createdAt, updatedAt, ...rest } = body.data
  t.strictSame(rest, { ...wanted, unitPrice: '3.50' })
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  t.equal(createdAt, updatedAt)
  t.equal(headers['location'], `https://shop.example/v1/products/${id}`)
  t.strictSame(
    body._links.map(({ rel, href }: { rel: string; href: string }) => [rel, href.replace('https://shop.example/v1', '')]),
    [
      ['self', `/products/${id}`],
      ['collection', '/products'],
      ['category', `/categories/${category.id}`],
      ['images', `/products/${id}/images`]
    ]
  )
  t.strictSame((await call('GET', `/v1/products/${id}`)).body.data, body.data)
})

t.test('a product can be created without the fields that have a default', async (t) => {
  const { status, body } = await call('POST', '/v1/products', { name: 'Water', categoryId: category.id, unitPrice: '1' })
  t.equal(status, 201)
  t.match(body.data, { unitPrice: '1.00', currency: 'EUR', unitsInStock: 0, discontinued: false })
})

t.test('an invalid product is 422 with every wrong field', async (t) => {
  const { status, body } = await call('POST', '/v1/products', { ...wanted, unitPrice: 3.5, unitsInStock: -1, colour: 'brown' })
  t.equal(status, 422)
  t.strictSame(body.error.errors.map(({ field }: { field: string }) => field).sort(), [
    'body.colour',
    'body.unitPrice',
    'body.unitsInStock'
  ])
})

t.test('a category that does not exist is 422 in every write, with a message in Spanish too', async (t) => {
  const bad = { ...wanted, categoryId: unknown }
  const { id } = await newProduct()
  for (const [method, path] of [
    ['POST', '/v1/products'],
    ['PUT', `/v1/products/${id}`],
    ['PATCH', `/v1/products/${id}`]
  ] as const) {
    const { status, body } = await call(method, path, bad)
    t.equal(status, 422)
    t.match(body.error, {
      code: 'UNKNOWN_CATEGORY',
      errors: [{ field: 'body.categoryId', message: 'is not the id of an existing category' }]
    })
  }
  const spanish = await call('POST', '/v1/products', bad, { 'accept-language': 'es' })
  t.match(spanish.body.error.errors, [{ message: 'no corresponde a ninguna categoría' }])
})

t.test('PUT replaces the whole product, and accepts a product as it was read [M4]', async (t) => {
  const read = await newProduct({ description: 'Dark' })
  const { description: _, ...without } = read
  const put = await call('PUT', `/v1/products/${read.id}`, { ...without, name: 'Rye Loaf' })
  t.equal(put.status, 200)
  t.strictSame(
    { ...put.body.data, updatedAt: read.updatedAt },
    { ...without, name: 'Rye Loaf' },
    'the description is removed, the rest is as sent'
  )
  t.ok(put.body.data.updatedAt >= read.updatedAt)
  const { unitsInStock: __, ...partial } = wanted
  t.equal((await call('PUT', `/v1/products/${read.id}`, partial)).status, 422, 'a partial representation is refused')
})

t.test('PUT to an unknown id creates the product there, once', async (t) => {
  const first = await call('PUT', `/v1/products/${unknown}`, wanted)
  t.equal(first.status, 201)
  t.equal(first.headers['location'], `https://shop.example/v1/products/${unknown}`)
  t.equal((await call('PUT', `/v1/products/${unknown}`, wanted)).status, 200)
  t.equal((await call('GET', `/v1/products/${unknown}`)).body.data.id, unknown)
})

t.test('PATCH changes only the fields that it contains; an empty PATCH changes nothing [M5]', async (t) => {
  const before = await newProduct({ description: 'Dark' })
  const { status, body } = await call('PATCH', `/v1/products/${before.id}`, {
    unitPrice: '4.25',
    discontinued: true,
    unitsInStock: 0,
    description: ''
  })
  t.equal(status, 200)
  t.strictSame(
    { ...body.data, updatedAt: before.updatedAt },
    { ...before, unitPrice: '4.25', discontinued: true, unitsInStock: 0, description: '' }
  )
  const empty = await call('PATCH', `/v1/products/${before.id}`, {})
  t.strictSame(empty.body.data, body.data)
  t.equal((await call('PATCH', '/v1/products/0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f1', { name: 'x' })).status, 404)
})

t.test('DELETE responds with 204 and no body, and with 404 the second time [M6]', async (t) => {
  const { id } = await newProduct()
  const deleted = await call('DELETE', `/v1/products/${id}`)
  t.equal(deleted.status, 204)
  t.equal(deleted.bytes.length, 0)
  t.equal((await call('DELETE', `/v1/products/${id}`)).status, 404)
})

t.test('a product that is used in orders is not deleted', async (t) => {
  const [order] = (await call('GET', '/v1/orders')).body.data
  const [item] = (await call('GET', `/v1/orders/${order.id}/items`)).body.data
  const { status, body } = await call('DELETE', `/v1/products/${item.productId}`)
  t.match({ status, code: body.error.code }, { status: 409, code: 'PRODUCT_IN_ORDERS' })
})

t.test('returns 405 with Allow for a method that a resource does not support', async (t) => {
  const { status, headers } = await call('DELETE', '/v1/categories')
  t.equal(status, 405)
  t.equal(headers['allow'], 'GET, HEAD, OPTIONS')
})

t.test('customers are created, read and changed; nobody can find out whose email address exists', async (t) => {
  const customer = { companyName: 'Nordlicht', contactName: 'Ida Holm', email: 'ida@nordlicht.example', country: 'Norway' }
  const created = await call('POST', '/v1/customers', customer)
  t.equal(created.status, 201)
  t.match(created.body.data, customer)
  const path = `/v1/customers/${created.body.data.id}`
  t.equal(created.headers['location'], `https://shop.example${path}`)
  t.strictSame((await call('GET', path)).body.data, created.body.data)
  const changed = await call('PATCH', path, { country: 'Sweden' })
  t.strictSame(changed.body.data, { ...created.body.data, country: 'Sweden' })
  t.strictSame((await call('PATCH', path, {})).body.data, changed.body.data)
  t.equal((await call('POST', '/v1/customers', { ...customer, email: 'IDA@nordlicht.example' })).status, 201)
  t.match(await call('PATCH', path, { email: 'ada@example.com' }), { status: 200, body: { data: { email: 'ada@example.com' } } })
  t.equal((await call('PATCH', `/v1/customers/${unknown}`, {})).status, 404)
  t.equal((await call('GET', '/v1/customers')).body.data.length, 25)
})

t.test('PATCH is a merge patch: null removes an optional field, and no other [M5]', async (t) => {
  const [category] = (await call('GET', '/v1/categories')).body.data
  const added = { name: 'Nori', categoryId: category.id, unitPrice: '2.10', unitsInStock: 4, description: 'Dried.' }
  const path = `/v1/products/${(await call('POST', '/v1/products', added)).body.data.id}`
  for (const type of ['application/json', 'application/merge-patch+json', 'application/merge-patch+json; charset=utf-8']) {
    const headers = { 'content-type': type }
    t.match((await call('PATCH', path, { description: 'Dried.', unitsInStock: 5 }, headers)).body.data, { description: 'Dried.' }, type)
    t.match((await call('PATCH', path, { name: 'Nori' }, headers)).body.data, { description: 'Dried.' }, 'an absent field stays')
    const { status, body } = await call('PATCH', path, { description: null }, headers)
    t.equal(status, 200)
    t.notOk('description' in body.data)
    t.notOk('description' in (await call('GET', path)).body.data)
    t.equal((await call('PATCH', path, { description: null }, headers)).status, 200, 'nothing is left to remove')
    const required = await call('PATCH', path, { name: null }, headers)
    t.match([required.status, required.body.error.errors], [422, [{ field: 'body.name' }]])
  }
  const text = { 'content-type': 'text/plain' }
  const refused = await call('PATCH', path, {}, text)
  const types = 'application/json, application/merge-patch+json'
  t.match([refused.status, refused.headers['accept-patch']], [415, types])
  t.match((await call('OPTIONS', path)).headers, { 'accept-patch': types, allow: /PATCH/ })
  t.notOk('accept-patch' in (await call('OPTIONS', '/v1/categories')).headers)
  t.equal((await call('POST', '/v1/products', added, { 'content-type': 'application/merge-patch+json' })).status, 415)
})

t.test('a PUT with Content-Range is refused, because a part would be stored as the whole [M4]', async (t) => {
  const [product] = (await call('GET', '/v1/products?perPage=1')).body.data
  const path = `/v1/products/${product.id}`
  const { status, body } = await call('PUT', path, product, { 'content-range': 'bytes 0-9/100' })
  t.match([status, body.error.code], [400, 'PARTIAL_PUT_NOT_SUPPORTED'])
  t.equal((await call('PUT', path, product)).status, 200)
})
