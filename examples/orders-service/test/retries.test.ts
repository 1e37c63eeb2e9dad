import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startService } from './service.ts'

const { call, as } = await startService(t)
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
const newProduct = async (unitsInStock = 10) =>
  (await call('POST', '/v1/products', { name: 'Rye Bread', categoryId, unitPrice: '3.33', unitsInStock })).body.data.id as string
const stockOf = async (id: string) => (await call('GET', `/v1/products/${id}`)).body.data.unitsInStock
const withKey = (key: string) => ({ 'idempotency-key': key })

t.test('an order that is sent again with its key is placed once and gets the same response [I1] [I2]', async (t) => {
  const product = await newProduct()
  const body = { items: [{ productId: product, quantity: 3 }] }
  const key = withKey(randomUUID())
  const first = await ada('POST', '/v1/orders', body, key)
  t.equal(first.status, 201)
  const again = await ada('POST', '/v1/orders', body, key)
  t.strictSame([again.status, again.bytes, again.headers['location']], [201, first.bytes, first.headers['location']])
  t.equal(again.headers['idempotency-replayed'], 'true')
  t.not(again.headers['request-id'], first.headers['request-id'])
  t.equal(await stockOf(product), 7)
  const quoted = await ada('POST', '/v1/orders', body, withKey(`"${key['idempotency-key']}"`))
  t.equal(quoted.headers['idempotency-replayed'], 'true', 'the quoted form is the same key')
})

t.test('many simultaneous requests with one key place one order, and get its response or 409 [I1] [I3] [I4]', async (t) => {
  const product = await newProduct()
  const key = withKey(randomUUID())
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => ada('POST', '/v1/orders', { items: [{ productId: product, quantity: 1 }] }, key))
  )
  const statuses = new Set(responses.map(({ status }) => status))
  t.ok(statuses.has(201))
  statuses.delete(201)
  t.strictSame(
    [...statuses].filter((status) => status !== 409),
    []
  )
  t.equal(new Set(responses.filter(({ status }) => status === 201).map(({ body }) => body.data.id)).size, 1)
  t.equal(await stockOf(product), 9)
})

t.test('a key belongs to one client and to one request [I5]', async (t) => {
  const productId = await newProduct()
  const body = { items: [{ productId, quantity: 1 }] }
  const key = withKey(randomUUID())
  const first = await ada('POST', '/v1/orders', body, key)
  const other = await max('POST', '/v1/orders', body, key)
  t.equal(other.status, 201)
  t.not(other.body.data.id, first.body.data.id)
  const another = await ada('POST', '/v1/orders', { items: [{ productId, quantity: 2 }] }, key)
  t.match(another, { status: 422, body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } })
})

t.test('a cancellation that is sent again with its key is executed once [I1]', async (t) => {
  const product = await newProduct()
  const { id } = (await ada('POST', '/v1/orders', { items: [{ productId: product, quantity: 4 }] })).body.data
  const key = withKey(randomUUID())
  const first = await ada('POST', `/v1/orders/${id}/cancellations`, undefined, key)
  t.equal(first.status, 201)
  t.strictSame((await ada('POST', `/v1/orders/${id}/cancellations`, undefined, key)).bytes, first.bytes)
  t.equal(await stockOf(product), 10)
  t.match(await ada('POST', `/v1/orders/${id}/cancellations`, undefined, withKey(randomUUID())), { status: 409 })
})

t.test('a change that is sent again with its key and an If-Match that it made stale gets the same response [S7] [I1]', async (t) => {
  const [put, patched, deleted] = [await newProduct(), await newProduct(), await newProduct()]
  const order = (await ada('POST', '/v1/orders', { items: [{ productId: patched, quantity: 1 }] })).body.data
  const [customer] = (await call('GET', '/v1/customers')).body.data
  const whole = { name: 'Rye Bread', categoryId, unitPrice: '3.33', currency: 'EUR', discontinued: false, unitsInStock: 9 }
  const changes = [
    { method: 'PUT', path: `/v1/products/${put}`, body: whole, status: 200 },
    { method: 'PUT', path: `/v1/products/${randomUUID()}`, body: whole, status: 201, isNew: true },
    { method: 'PATCH', path: `/v1/products/${patched}`, body: { unitsInStock: 9 }, status: 200 },
    { method: 'DELETE', path: `/v1/products/${deleted}`, status: 204 },
    { method: 'PATCH', path: `/v1/orders/${order.id}`, body: { note: 'Ring twice.' }, status: 200 },
    { method: 'PATCH', path: `/v1/customers/${customer.id}`, body: { contactName: 'Ada Byron' }, status: 200 }
  ]
  for (const { method, path, body, status, isNew = false } of changes) {
    const what = `${method} ${path}`
    const etag = isNew ? undefined : (await call('GET', path)).headers['etag']
    const headers = { ...withKey(randomUUID()), ...(etag !== undefined && { 'if-match': etag }) }
    const first = await call(method, path, body, headers)
    t.equal(first.status, status, what)
    const again = await call(method, path, body, headers)
    t.strictSame([again.status, again.bytes, again.headers['etag']], [status, first.bytes, first.headers['etag']], what)
    t.equal(again.headers['idempotency-replayed'], 'true', what)
    if (isNew || method === 'DELETE') continue
    t.match(
      await call(method, path, body, { ...headers, ...withKey(randomUUID()) }),
      { status: 412 },
      `${what}: a new key is another change`
    )
  }
})
