// What happens to events inside of the service: these tests add routes, and read its tables.
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync } from 'node:zlib'
import { statementsOn } from '@concordat/postgres/rows'
import { webhookReceiver } from '@concordat/testing'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { type Call, startService, subscribe } from '../service.ts'

const path = '/v1/webhook-subscriptions'
const publicUrl = 'https://hooks.example.com/orders'

const {
  anyone,
  call: staff,
  as
} = await startService(t, { localWebhooks: true, seedOrders: 5 }, (app: FastifyInstance) => {
  app.post('/mishaps', { config: { operational: true, public: true, envelope: false, transaction: true } }, async ({ body }) => {
    await app.webhooks.emit('product.updated', product)
    throw Object.assign(new Error('No.'), body)
  })
  app.post('/sales', { config: { operational: true, public: true, envelope: false, transaction: true } }, async (request) => {
    const { id } = request.body as { id: string }
    await statementsOn(request.transaction).query('UPDATE products SET units_in_stock = units_in_stock - 1 WHERE id = $1', [id])
    await app.webhooks.emit('product.updated', request.body)
    return {}
  })
  const config = { operational: true, public: true, envelope: false, transaction: true } as const
  app.post('/stored-responses', { config }, async ({ transaction }) => {
    const sql = "SELECT body, headers->>'idempotency-coding' AS coding FROM concordat.idempotency_keys WHERE body IS NOT NULL"
    const rows = await statementsOn(transaction).query<{ body: Uint8Array; coding?: string }>(sql)
    return { stored: rows.map(({ body, coding }) => String(coding === undefined ? Buffer.from(body) : brotliDecompressSync(body))) }
  })
  app.post('/roles', { config }, async ({ body, transaction }) => {
    const { email, role } = body as Record<string, string>
    await statementsOn(transaction).query('UPDATE users SET role = $2 WHERE email = $1', [email, role])
    return {}
  })
  app.post('/counted', { config }, async ({ transaction }) => {
    let statements = 0
    const query = async (sql: string, values?: unknown[]) => {
      statements += 1
      return statementsOn(transaction).client.query(sql, values)
    }
    await app.webhooks.emit('product.updated', product, { transaction: { query } })
    return { statements }
  })
})
// A change of a role behind the back of the service, which ends no session.
const setRole = async (role: string) => anyone.inject({ method: 'POST', url: '/roles', payload: { email: 'ops@example.com', role } })
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const product = (await staff('GET', '/v1/products?discontinued=false&perPage=1')).body.data[0]

async function placeOrder(call: Call) {
  const { body } = await call('POST', '/v1/orders', { items: [{ productId: product.id, quantity: 1 }] })
  return body.data
}

/** Repeats a request until its response fits. The deadline is the timeout of the test. */
async function until<ReceivedResponse>(
  sendNow: () => Promise<ReceivedResponse>,
  fits: (response: ReceivedResponse) => boolean
): Promise<ReceivedResponse> {
  for (;;) {
    const response = await sendNow()
    if (fits(response)) return response
    await delay(50)
  }
}

t.test(
  'the secret of a subscription is in no replay and in no stored response, also after the subscription is removed [I3] [W3]',
  async (t) => {
    const body = { url: publicUrl, eventTypes: ['order.created'] }
    const keyed = { 'idempotency-key': 'subscription' }
    const created = await ada('POST', path, body, keyed)
    const { secret, ...subscription } = created.body.data
    t.match(secret, /^whsec_/)
    const replay = await ada('POST', path, body, keyed)
    t.strictSame([replay.status, replay.body], [201, { ...created.body, data: subscription }])
    t.match(replay.headers, { 'idempotency-replayed': 'true', 'idempotency-status': 'incomplete', location: created.headers['location'] })
    const { href } = replay.body._links.find(({ rel }: { rel: string }) => rel === 'rotate-secret')
    const rotation = String(href).replace('https://shop.example', '')
    const rotated = await ada('POST', rotation, undefined, { 'idempotency-key': 'rotation' })
    t.match([rotated.status, rotated.body.data.secret], [201, /^whsec_/])
    t.strictSame((await ada('POST', rotation, undefined, { 'idempotency-key': 'rotation' })).body.data, {
      oldKeysEndAt: rotated.body.data.oldKeysEndAt
    })
    t.equal((await ada('DELETE', `${path}/${subscription.id}`, undefined, { 'if-match': '*' })).status, 204)
    t.strictSame((await ada('POST', path, body, keyed)).body, replay.body)
    const { stored } = (await anyone.inject({ method: 'POST', url: '/stored-responses' })).json()
    t.equal(stored.filter((text: string) => text.includes('rotate-secret')).length, 2)
    t.notMatch(stored.join('\n'), /whsec_/)
  }
)

t.test(
  'a member of the staff who has become a customer receives no events of other customers, not even earlier ones [U10] [W5]',
  async (t) => {
    const receiver = await webhookReceiver(t, { respond: (number) => (number === 1 ? 500 : 204) })
    const { id } = await subscribe(staff, receiver, ['order.created'])
    await placeOrder(ada)
    await receiver.next()
    t.equal((await setRole('customer')).statusCode, 200)
    await placeOrder(max)
    const ended = await until(
      async () => (await staff('GET', `${path}/${id}/deliveries`)).body.data,
      (deliveries: { status: string }[]) => deliveries.every(({ status }) => status !== 'pending')
    )
    t.match(ended, [{ status: 'cancelled', attempts: 1 }])
    t.equal(ended.length, 1)
    t.equal(receiver.attempts.length, 1)
    await setRole('staff')
    await staff('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
  }
)

const statementsOfEvent = async () => (await anyone.inject({ method: 'POST', url: '/counted' })).json().statements

t.test('the rights of all subscribers to an event are read with one query', async (t) => {
  const ops = await as('ops@example.com')
  const added = [{ call: ops, ...(await subscribe(ops, publicUrl, ['product.updated'])) }]
  const alone = await statementsOfEvent()
  for (const call of [ada, max]) added.push({ call, ...(await subscribe(call, publicUrl, ['product.updated'])) })
  t.equal(await statementsOfEvent(), alone)
  for (const { call, id } of added) await call('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('an event has only the fields of its schema, and one that does not match it rolls the transaction back [W3]', async (t) => {
  const receiver = await webhookReceiver(t)
  const { id } = await subscribe(staff, receiver, ['product.updated'])
  const [sold] = (await staff('GET', '/v1/products?discontinued=false&perPage=1&page=3')).body.data
  const sell = (change: object) => anyone.inject({ method: 'POST', url: '/sales', payload: { ...sold, ...change } })
  const stock = async () => (await staff('GET', `/v1/products/${sold.id}`)).body.data.unitsInStock
  for (const change of [{ name: null }, { unitPrice: 25.05 }, { unitsInStock: '7' }, { categoryId: 'none' }]) {
    const { statusCode, body } = await sell(change)
    t.equal(statusCode, 500, JSON.stringify(change))
    t.notMatch(body, /unitPrice|schema|webhooks/)
    t.equal(await stock(), sold.unitsInStock)
  }
  t.equal((await sell({ version: 7, password_hash: 'x' })).statusCode, 200)
  t.strictSame((await receiver.next()).event.data, sold)
  t.equal(await stock(), sold.unitsInStock - 1)
  await staff('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('a transaction that is rolled back emits no event', async (t) => {
  const receiver = await webhookReceiver(t)
  const { id } = await subscribe(staff, receiver, ['order.created', 'product.updated'])
  for (const statusCode of [409, 500]) {
    t.equal((await anyone.inject({ method: 'POST', url: '/mishaps', payload: { statusCode } })).statusCode, statusCode)
  }
  t.equal((await ada('POST', '/v1/orders', { items: [{ productId: product.id, quantity: 9999 }] })).status, 409)
  const operations = [
    { id: 'one', method: 'POST', path: '/v1/orders', body: { items: [{ productId: product.id, quantity: 1 }] } },
    { id: 'two', method: 'POST', path: '/v1/orders', body: { items: [{ productId: product.id, quantity: 9999 }] } }
  ]
  const batch = await ada('POST', '/v1/order-batches', { atomic: true, operations }, { 'idempotency-key': 'batch' })
  t.strictSame(
    batch.body.data.map((outcome: { status: number }) => outcome.status),
    [424, 409]
  )
  await placeOrder(ada)
  t.match((await receiver.next()).event, { type: 'order.created' })
  t.equal(receiver.attempts.length, 1)
  t.equal((await staff('GET', `${path}/${id}/deliveries`)).body.data.length, 1)
  await staff('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})
