import t from 'tap'
import { password, startService } from './service.ts'

const { call, as, app } = await startService(t)
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const [{ id: categoryId }] = (await call('GET', '/v1/categories')).body.data
const whole = { name: 'Rye Bread', categoryId, unitPrice: '3.33', currency: 'EUR', unitsInStock: 1000, discontinued: false }
const newProduct = async () => (await call('POST', '/v1/products', whole)).body.data
const bread = await newProduct()
const newOrder = async () => (await ada('POST', '/v1/orders', { items: [{ productId: bread.id, quantity: 1 }] })).body.data
const policy = async (path: string) => (await ada('GET', path)).headers['cache-control']
const read = (coding: string) => app.inject({ url: '/v1/products', headers: { 'accept-encoding': coding } })
const unknown = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f0'
const other = '0197a3c5-1b07-7d52-8f7e-2c64e1a9b3f1'

t.test('categories may be stored by any cache for a day, products are revalidated, and orders are private [C1] [C3]', async (t) => {
  const open = (await app.inject('/v1/categories')).headers
  t.match(open, { 'cache-control': 'public, max-age=86400', etag: /^".+"$/, vary: /accept-encoding/ })
  t.equal((await app.inject('/v1/products')).headers['cache-control'], 'no-cache')
  t.equal(await policy('/v1/orders'), 'private, no-cache')
  t.equal(await policy(`/v1/orders/${unknown}`), 'no-store')
})

t.test('unchanged representations are not sent again: lists are compared by content, items by version [C4]', async (t) => {
  const order = await newOrder()
  for (const path of [
    '/v1/categories',
    '/v1/products?perPage=3',
    `/v1/products/${bread.id}`,
    '/v1/orders?perPage=2',
    `/v1/orders/${order.id}`
  ]) {
    const first = await ada('GET', path)
    const tag = first.headers['etag'] as string
    const again = await ada('GET', path, undefined, { 'if-none-match': tag })
    t.strictSame([again.status, again.bytes.length, again.headers['etag']], [304, 0, tag], path)
    t.equal(again.headers['cache-control'], first.headers['cache-control'])
  }
  const before = (await call('GET', `/v1/products/${bread.id}`)).headers['etag'] as string
  await newOrder()
  const after = await call('GET', `/v1/products/${bread.id}`, undefined, { 'if-none-match': before })
  t.equal(after.status, 200, 'an order has taken units of the product')
})

t.test('an order is changed and deleted only when If-Match names its current version [O1]', async (t) => {
  const order = await newOrder()
  const path = `/v1/orders/${order.id}`
  const tag = (await ada('GET', path)).headers['etag'] as string
  const { data } = (await call('POST', '/v1/tokens', { username: 'ada@example.com', password })).body
  const unguarded = await app.inject({ method: 'DELETE', url: path, headers: { authorization: `Bearer ${data.accessToken}` } })
  t.match(unguarded.json().error, { status: 428, code: 'PRECONDITION_REQUIRED' })
  const changed = await ada('PATCH', path, { note: 'Ring twice' }, { 'if-match': tag })
  t.equal(changed.status, 200)
  t.not(changed.headers['etag'], tag)
  const late = await ada('PATCH', path, { note: 'Never mind' }, { 'if-match': tag })
  t.match(late, { status: 412, body: { error: { code: 'PRECONDITION_FAILED' } }, headers: { etag: changed.headers['etag'] as string } })
  t.match(await ada('DELETE', path, undefined, { 'if-match': tag }), { status: 412 })
  t.equal((await ada('GET', path)).body.data.note, 'Ring twice')
  t.equal((await ada('DELETE', path, undefined, { 'if-match': changed.headers['etag'] as string })).status, 204)
  t.equal((await ada('DELETE', path, undefined, { 'if-match': changed.headers['etag'] as string })).status, 404)
})

t.test('preconditions do not reveal the orders of other customers [U10]', async (t) => {
  const path = `/v1/orders/${(await newOrder()).id}`
  const tag = (await ada('GET', path)).headers['etag'] as string
  t.equal((await max('GET', path, undefined, { 'if-none-match': tag })).status, 404)
  for (const headers of [{ 'if-match': tag }, { 'if-match': '"7"' }, { 'if-match': '*' }]) {
    const refused = await max('PATCH', path, { note: 'mine' }, headers)
    t.equal(refused.status, 404, headers['if-match'])
    t.notOk(refused.headers['etag'])
  }
})

t.test('a product is created only when it does not exist, and replaced only when If-Match names its current version [O1]', async (t) => {
  const path = `/v1/products/${unknown}`
  const create = { 'if-none-match': '*' }
  t.equal((await call('PUT', path, whole, create)).status, 201)
  t.match(await call('PUT', path, whole, create), { status: 412 })
  const tag = (await call('GET', path)).headers['etag'] as string
  const replaced = await call('PUT', path, { ...whole, name: 'White Bread' }, { 'if-match': tag })
  t.equal(replaced.status, 200)
  t.notOk(replaced.headers['etag'], 'the stored representation differs from the one that was sent')
  t.match(await call('PUT', path, whole, { 'if-match': tag }), { status: 412 })
  t.match(await call('PATCH', path, { name: 'Toast' }, { 'if-match': tag }), { status: 412 })
  t.match(await call('DELETE', path, undefined, { 'if-match': tag }), { status: 412 })
  const current = (await call('GET', path)).headers['etag'] as string
  t.equal((await call('PATCH', path, { name: 'Toast' }, { 'if-match': current })).status, 200)
  t.equal((await call('PUT', `/v1/products/${other}`, whole, { 'if-match': '*' })).status, 412)
  t.equal((await call('PUT', path, whole)).status, 200, 'a PUT without preconditions replaces the product')
  t.equal((await call('DELETE', path)).status, 204)
})

t.test('one of many simultaneous changes to the same version succeeds [O1]', async (t) => {
  const path = `/v1/orders/${(await newOrder()).id}`
  for (let round = 0; round < 3; round += 1) {
    const tag = (await ada('GET', path)).headers['etag'] as string
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => ada('PATCH', path, { note: `${round}.${index}` }, { 'if-match': tag }))
    )
    const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b)
    t.strictSame(statuses, [200, ...Array.from({ length: 19 }, () => 412)])
    const winner = responses.find(({ status }) => status === 200)
    t.equal((await ada('GET', path)).body.data.note, winner?.body.data.note)
  }
})

t.test('large responses are compressed, and each content coding has its own ETag', async (t) => {
  const [plain, gzip, brotli] = [await read('identity'), await read('gzip'), await read('br, gzip')]
  t.strictSame(
    [plain, gzip, brotli].map(({ headers }) => headers['content-encoding']),
    [undefined, 'gzip', 'br']
  )
  t.equal(new Set([plain, gzip, brotli].map(({ headers }) => headers.etag)).size, 3)
  t.ok(brotli.rawPayload.length < plain.rawPayload.length / 3)
})
