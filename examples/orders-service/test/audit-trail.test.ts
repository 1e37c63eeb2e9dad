import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startService } from './service.ts'

const { call, as } = await startService(t)
const [ada, admin] = [await as('ada@example.com'), await as('admin@example.com')]
const [{ id: categoryId }] = (await call('GET', '/v2/categories')).body.data
const product = await call('POST', '/v2/products', { name: 'Rye Bread', categoryId, unitPrice: '3.33', unitsInStock: 9 })
const items = [{ productId: product.body.data.id, quantity: 1 }]
const recordsOf = async (query: string) => (await admin('GET', `/v1/audit-records?${query}`)).body.data

t.test('an order and its record are there together, and its replay has none', async (t) => {
  const key = { 'idempotency-key': randomUUID() }
  const { body, status } = await ada('POST', '/v2/orders', { items }, key)
  t.equal(status, 201)
  t.equal((await ada('POST', '/v2/orders', { items }, key)).headers['idempotency-replayed'], 'true')
  const records = await recordsOf('path=/v2/orders&outcome=committed')
  t.match(records, [
    { subject: body.data.customerId, permissions: ['orders:create'], method: 'POST', route: '/v2/orders', version: 'v2', status: 201 }
  ])
  t.equal(records.length, 1)
  await ada('PATCH', `/v2/orders/${body.data.id}`, { note: 'Ring twice.' })
  t.match(await recordsOf(`path=/v2/orders/${body.data.id}`), [{ method: 'PATCH', route: '/v2/orders/:id', outcome: 'committed' }])
})

t.test('what is refused is recorded too, and a sign-in without its password', async (t) => {
  t.equal((await ada('POST', '/v2/products', { name: 'Rye Bread' })).status, 403)
  // What is not in a transaction is stored after its response.
  while ((await recordsOf('outcome=refused')).length === 0) await delay(20)
  t.match(await recordsOf('outcome=refused'), [{ path: '/v2/products', status: 403, errorCode: 'INSUFFICIENT_PERMISSION' }])
  const [signIn, ...others] = await recordsOf('path=/v1/tokens')
  t.match(signIn, { permissions: [], outcome: 'committed', status: 200 })
  t.notOk('subject' in signIn || others.length === 0)
  t.notMatch(JSON.stringify(others), /password|battery/)
})

t.test('only administrators read the records', async (t) => {
  for (const other of [ada, call]) t.equal((await other('GET', '/v1/audit-records')).status, 403)
  const { body } = await admin('GET', '/v2/audit-records?perPage=2')
  t.match(body._meta.pagination, { perPage: 2, page: 1 })
})
