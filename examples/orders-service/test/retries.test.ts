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

t.test('many simultaneous requests with one key place one order [I1]', async (t) => {
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

t.test('a key is required, belongs to one client, and identifies one request [I3] [I4]', async (t) => {
  const product = await newProduct()
  const body = { items: [{ productId: product, quantity: 1 }] }
  t.match(await ada('POST', '/v1/orders', body, withKey('')), { status: 400 })
  const key = withKey(randomUUID())
  const first = await ada('POST', '/v1/orders', body, key)
  const other = await max('POST', '/v1/orders', body, key)
  t.equal(other.status, 201)
  t.not(other.body.data.id, first.body.data.id)
  t.match(await ada('POST', '/v1/orders', { items: [{ productId: product, quantity: 2 }] }, key), {
    status: 422,
    body: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } }
  })
  t.equal(await stockOf(product), 8)
})

t.test(
  'a request that is refused before its handler does not use its key; a refusal by the handler is stored under the key [I5]',
  async (t) => {
    const product = await newProduct(1)
    const key = withKey(randomUUID())
    t.equal((await ada('POST', '/v1/orders', { items: [] }, key)).status, 422)
    const tooMany = { items: [{ productId: product, quantity: 2 }] }
    t.match(await ada('POST', '/v1/orders', tooMany, key), { status: 409, body: { error: { code: 'INSUFFICIENT_STOCK' } } })
    await call('PATCH', `/v1/products/${product}`, { unitsInStock: 5 })
    const again = await ada('POST', '/v1/orders', tooMany, key)
    t.strictSame([again.status, again.headers['idempotency-replayed']], [409, 'true'])
    t.equal((await ada('POST', '/v1/orders', tooMany, withKey(randomUUID()))).status, 201)
  }
)

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
