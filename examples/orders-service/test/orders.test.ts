import t from 'tap'
import { freshFolder, startService } from './service.ts'

const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const { call, as } = await startService(t, { place: await freshFolder(t) })
const [category] = (await call('GET', '/v1/categories')).body.data
const [customer] = (await call('GET', '/v1/customers')).body.data

async function newProduct(changes: object = {}) {
  const product = { name: 'Rye Bread', categoryId: category.id, unitPrice: '3.33', unitsInStock: 10, ...changes }
  return (await call('POST', '/v1/products', product)).body.data
}

async function stockOf({ id }: { id: string }) {
  return (await call('GET', `/v1/products/${id}`)).body.data.unitsInStock
}

function place(items: readonly object[], more: object = {}) {
  return call('POST', '/v1/orders', { customerId: customer.id, items, ...more })
}

function line(product: { id: string }, quantity = 1) {
  return { productId: product.id, quantity }
}

async function orderIn(status: 'pending' | 'paid' | 'shipped' | 'cancelled', product: { id: string }, by = place) {
  const { id } = (await by([{ productId: product.id, quantity: 2 }])).body.data
  const path = `/v1/orders/${id}`
  if (status === 'cancelled') await call('POST', `${path}/cancellations`, {})
  if (status === 'paid' || status === 'shipped') await call('PATCH', path, { status: 'paid' })
  if (status === 'shipped') await call('PATCH', path, { status: 'shipped' })
  return path
}

t.test('a new order takes its units from stock and computes its total in exact decimals [M2]', async (t) => {
  const bread = await newProduct({ unitPrice: '0.10' })
  const salt = await newProduct({ unitPrice: '0.20', unitsInStock: 1 })
  const { status, headers, body } = await place(
    [
      { productId: bread.id, quantity: 1 },
      { productId: salt.id.toUpperCase(), quantity: 1 },
      { productId: bread.id, quantity: 2 }
    ],
    { note: 'Ring twice' }
  )
  t.equal(status, 201)
  const { id, placedAt, ...rest } = body.data
  t.strictSame(rest, { customerId: customer.id, status: 'pending', total: '0.50', currency: 'EUR', note: 'Ring twice' })
  t.match(placedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.equal(headers['location'], `https://shop.example/v1/orders/${id}`)
  t.strictSame(
    body._links.map(({ rel, href, method }: { rel: string; href: string; method: string }) => [
      rel,
      href.replace('https://shop.example/v1', ''),
      method
    ]),
    [
      ['self', `/orders/${id}`, 'GET'],
      ['collection', '/orders', 'GET'],
      ['customer', `/customers/${customer.id}`, 'GET'],
      ['items', `/orders/${id}/items`, 'GET'],
      ['cancel', `/orders/${id}/cancellations`, 'POST']
    ]
  )
  t.equal(await stockOf(bread), 7)
  t.equal(await stockOf(salt), 0)
  const items = (await call('GET', `/v1/orders/${id}/items`)).body.data
  t.match(items, [
    { productId: bread.id, quantity: 1, unitPrice: '0.10' },
    { productId: salt.id, quantity: 1, unitPrice: '0.20' },
    { productId: bread.id, quantity: 2, unitPrice: '0.10' }
  ])
  t.strictSame((await call('GET', `/v1/orders/${id}`)).body.data, body.data)
})

t.test('the latest orders come first', async (t) => {
  const { data } = (await call('GET', '/v1/orders')).body
  t.equal(data.length, 25)
  const placed = data.map(({ placedAt }: { placedAt: string }) => placedAt)
  t.strictSame(placed, [...placed].sort().toReversed())
})

t.test('an order that cannot be placed changes nothing', async (t) => {
  const bread = await newProduct()
  const old = await newProduct({ discontinued: true })
  const dollars = await newProduct({ currency: 'USD' })
  const cases = [
    [
      await place([line(bread, 6), line(bread, 5)]),
      409,
      { code: 'INSUFFICIENT_STOCK', message: 'Only 10 of Rye Bread are in stock. Order fewer.' }
    ],
    [await place([line(bread), line(old)]), 409, { code: 'PRODUCT_DISCONTINUED' }],
    [
      await place([line(bread), line({ id: unknown })]),
      422,
      { code: 'UNKNOWN_PRODUCT', errors: [{ field: 'body.items.1.productId', message: 'is not the id of an existing product' }] }
    ],
    [
      await place([line(bread), line(dollars)]),
      422,
      { code: 'MIXED_CURRENCIES', errors: [{ field: 'body.items.1.productId', message: 'is priced in USD, not in EUR' }] }
    ],
    [await place([line(bread)], { customerId: unknown }), 422, { code: 'UNKNOWN_CUSTOMER', errors: [{ field: 'body.customerId' }] }],
    [await place([]), 422, { code: 'VALIDATION_FAILED' }],
    [await place([line(bread, 0)]), 422, { errors: [{ field: 'body.items.0.quantity' }] }],
    [await place([line(bread, 10_001)]), 422, { errors: [{ field: 'body.items.0.quantity' }] }]
  ] as const
  for (const [{ status, body }, expected, error] of cases) {
    t.equal(status, expected)
    t.match(body.error, error)
  }
  t.equal(await stockOf(bread), 10)
})

t.test('an order goes from pending to paid to shipped, and other transitions are refused', async (t) => {
  const product = await newProduct({ unitsInStock: 100 })
  const allowed = { pending: 'paid', paid: 'shipped', shipped: undefined, cancelled: undefined } as const
  for (const from of ['pending', 'paid', 'shipped', 'cancelled'] as const)
    for (const to of ['pending', 'paid', 'shipped', 'cancelled'] as const) {
      const { status, body } = await call('PATCH', await orderIn(from, product), { status: to, note: 'x' })
      if (allowed[from] === to) t.match({ status, ...body.data }, { status: to, note: 'x' }, `${from} to ${to}`)
      else t.match({ status, code: body.error?.code }, { status: 409, code: 'STATUS_CHANGE_NOT_ALLOWED' }, `${from} to ${to}`)
    }
  const shipped = (await call('GET', await orderIn('shipped', product))).body
  t.match(shipped.data.shippedAt, /Z$/)
  t.notOk(
    shipped._links.some(({ rel }: { rel: string }) => rel === 'cancel'),
    'a shipped order has no cancel link'
  )
})

t.test('PATCH sets only the note, and an empty PATCH changes nothing [M5]', async (t) => {
  const path = await orderIn('pending', await newProduct())
  const before = (await call('GET', path)).body.data
  t.strictSame((await call('PATCH', path, {})).body.data, before)
  t.strictSame((await call('PATCH', path, { note: 'Thursday' })).body.data, { ...before, note: 'Thursday' })
  t.equal((await call('PATCH', path, { total: '0.00' })).status, 422, 'clients cannot set the total')
  t.equal((await call('PATCH', `/v1/orders/${unknown}`, {})).status, 404)
})

t.test('POST to cancellations cancels an order and returns its units once [M3] [P5]', async (t) => {
  const product = await newProduct()
  const path = await orderIn('paid', product)
  t.equal(await stockOf(product), 8)
  const { status, headers, body } = await call('POST', `${path}/cancellations`, { reason: 'Too late' })
  t.equal(status, 201)
  t.match(body.data, { orderId: path.slice(-36), cancelledAt: /Z$/, reason: 'Too late' })
  t.equal(headers['location'], `https://shop.example${path}`)
  t.equal(await stockOf(product), 10)
  t.equal((await call('GET', path)).body.data.status, 'cancelled')
  const again = await call('POST', `${path}/cancellations`, {})
  t.match({ status: again.status, code: again.body.error.code }, { status: 409, code: 'ORDER_ALREADY_CANCELLED' })
  t.equal(await stockOf(product), 10)
})

t.test('a body that is null or not an object does not cancel the order', async (t) => {
  const path = await orderIn('pending', await newProduct())
  for (const text of ['null', '[]', '""', '{"reason":null}'])
    t.equal((await call('POST', `${path}/cancellations`, Buffer.from(text), { 'content-type': 'application/json' })).status, 422, text)
  t.equal((await call('GET', path)).body.data.status, 'pending')
})

t.test('an order can be cancelled without a body, but not after it was shipped', async (t) => {
  const product = await newProduct()
  const { status, body } = await call('POST', `${await orderIn('pending', product)}/cancellations`)
  t.equal(status, 201)
  t.notOk('reason' in body.data)
  const shipped = await call('POST', `${await orderIn('shipped', product)}/cancellations`, {})
  t.match({ status: shipped.status, code: shipped.body.error.code }, { status: 409, code: 'ORDER_ALREADY_SHIPPED' })
  t.equal((await call('POST', `/v1/orders/${unknown}/cancellations`)).status, 404)
})

const ada = await as('ada@example.com')

t.test('a shipped or cancelled order can be neither cancelled nor deleted, by staff or by its customer [M6]', async (t) => {
  for (const [from, code] of [
    ['shipped', 'ORDER_ALREADY_SHIPPED'],
    ['cancelled', 'ORDER_ALREADY_CANCELLED']
  ] as const) {
    const path = await orderIn(from, await newProduct(), (items) => ada('POST', '/v1/orders', { items }))
    for (const by of [call, ada]) {
      for (const response of [await by('POST', `${path}/cancellations`, {}), await by('DELETE', path)]) {
        t.match({ status: response.status, code: response.body.error.code }, { status: 409, code }, from)
      }
    }
    t.equal((await ada('GET', path)).status, 200)
  }
})

t.test('deleting an order returns its units to stock [M6]', async (t) => {
  for (const from of ['pending', 'paid'] as const) {
    const product = await newProduct()
    const path = await orderIn(from, product)
    t.equal((await call('DELETE', path)).status, 204)
    t.equal(await stockOf(product), 10, from)
    t.equal((await call('DELETE', path)).status, 404)
    t.equal((await call('GET', `${path}/items`)).status, 404)
  }
})

t.test('changing the items of a pending order changes its total and the stock', async (t) => {
  const bread = await newProduct({ unitPrice: '3.33' })
  const salt = await newProduct({ unitPrice: '0.01', unitsInStock: 5 })
  const path = await orderIn('pending', bread)
  const total = async () => (await call('GET', path)).body.data.total
  t.equal(await total(), '6.66')

  const added = await call('POST', `${path}/items`, { productId: salt.id, quantity: 5 })
  t.equal(added.status, 201)
  const itemPath = `${path}/items/${added.body.data.id}`
  t.equal(added.headers['location'], `https://shop.example${itemPath}`)
  t.match(
    added.body._links.map(({ rel }: { rel: string }) => rel),
    ['self', 'collection', 'up', 'product']
  )
  t.equal(await total(), '6.71')
  t.equal(await stockOf(salt), 0)

  t.equal((await call('PATCH', itemPath, { quantity: 6 })).body.error.code, 'INSUFFICIENT_STOCK')
  t.strictSame((await call('PATCH', itemPath, {})).body.data, added.body.data)
  t.match((await call('PATCH', itemPath, { quantity: 2 })).body.data, { quantity: 2, unitPrice: '0.01' })
  t.equal(await total(), '6.68')
  t.equal(await stockOf(salt), 3)
  await call('PATCH', `/v1/products/${salt.id}`, { unitPrice: '9.99' })
  t.match(
    (await call('PATCH', itemPath, { quantity: 3 })).body.data,
    { quantity: 3, unitPrice: '0.01' },
    'the price stays the price at which the item was ordered'
  )
  t.equal(await stockOf(salt), 2)
  t.strictSame((await call('GET', itemPath)).body.data, { ...added.body.data, quantity: 3 })

  t.equal((await call('DELETE', itemPath)).status, 204)
  t.equal((await call('DELETE', itemPath)).status, 404)
  t.equal(await total(), '6.66')
  t.equal(await stockOf(salt), 5)
  for (const { id } of (await call('GET', `${path}/items`)).body.data) await call('DELETE', `${path}/items/${id}`)
  t.equal(await total(), '0.00')
})

t.test('an item cannot be added for an unknown product or in another currency', async (t) => {
  const path = await orderIn('pending', await newProduct())
  const dollars = await newProduct({ currency: 'USD' })
  for (const [productId, code] of [
    [unknown, 'UNKNOWN_PRODUCT'],
    [dollars.id, 'MIXED_CURRENCIES']
  ]) {
    const { status, body } = await call('POST', `${path}/items`, { productId, quantity: 1 })
    t.equal(status, 422)
    t.match(body.error, { code, errors: [{ field: 'body.productId' }] })
  }
})

t.test('items of an order that is not pending cannot be changed', async (t) => {
  const product = await newProduct({ unitsInStock: 100 })
  for (const status of ['paid', 'shipped', 'cancelled'] as const) {
    const path = await orderIn(status, product)
    const [item] = (await call('GET', `${path}/items`)).body.data
    for (const response of [
      await call('POST', `${path}/items`, { productId: product.id, quantity: 1 }),
      await call('PATCH', `${path}/items/${item.id}`, { quantity: 1 }),
      await call('DELETE', `${path}/items/${item.id}`)
    ])
      t.match({ status: response.status, code: response.body.error.code }, { status: 409, code: 'ORDER_NOT_PENDING' }, status)
    t.strictSame((await call('GET', `${path}/items/${item.id}`)).body.data, item)
  }
})

t.test('items exist only under their own order', async (t) => {
  const product = await newProduct()
  const [one, other] = [await orderIn('pending', product), await orderIn('pending', product)]
  const [item] = (await call('GET', `${one}/items`)).body.data
  for (const method of ['GET', 'PATCH', 'DELETE'] as const)
    for (const path of [`${other}/items/${item.id}`, `/v1/orders/${unknown}/items/${item.id}`, `${one}/items/${unknown}`])
      t.equal((await call(method, path, method === 'PATCH' ? { quantity: 1 } : undefined)).status, 404)
  t.equal((await call('POST', `/v1/orders/${unknown}/items`, { productId: product.id, quantity: 1 })).status, 404)
})

t.test('the health checks report that the process is alive and that its stores respond', async (t) => {
  for (const path of ['/health/live', '/health/ready']) {
    const { status, body } = await call('GET', path)
    t.equal(status, 200)
    const stores = ['database', 'revocations'].map((name) => ({ name, required: true, available: true }))
    t.strictSame(body.data, { status: 'ok', ...(path === '/health/ready' && { stores }) })
    t.equal(body._meta.version, 'v2')
  }
})
