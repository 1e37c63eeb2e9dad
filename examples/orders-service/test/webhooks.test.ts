import { setTimeout as delay } from 'node:timers/promises'
import { type Attempt, webhookReceiver } from '@concordat/testing'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { settings } from '../src/settings.ts'
import { type Call, password, startService, subscribe } from './service.ts'

const path = '/v1/webhook-subscriptions'
const publicUrl = 'https://hooks.example.com/orders'
const unknown = '019b7c2e-7a4f-7d31-b1c5-9a8c0f6f2f11'

const { anyone, call: staff, as } = await startService(t, { localWebhooks: true, seedOrders: 5 })
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const product = (await staff('GET', '/v1/products?discontinued=false&perPage=1')).body.data[0]

async function placeOrder(call: Call) {
  const { body } = await call('POST', '/v1/orders', { items: [{ productId: product.id, quantity: 1 }] })
  return body.data
}

/** Whether the reference implementation of Standard Webhooks accepts the signature. */
function verifies(secret: string, { text, headers }: Attempt): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
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

t.test('a subscription is created, read, changed and removed; its secret is returned once [W1] [O1]', async (t) => {
  const created = await ada('POST', path, { url: publicUrl, eventTypes: ['order.created'], description: 'Warehouse' })
  const { id, secret } = created.body.data
  t.match(created, { status: 201, headers: { location: `https://shop.example${path}/${id}`, 'cache-control': 'no-store' } })
  t.match(secret, /^whsec_[\w+/]{42,}=*$/)
  const read = await ada('GET', `${path}/${id}`)
  t.match(read.body.data, { id, url: publicUrl, eventTypes: ['order.created'], description: 'Warehouse', status: 'enabled' })
  t.notOk(JSON.stringify(read.body).includes('whsec_'))
  t.notOk(JSON.stringify((await ada('GET', path)).body).includes('whsec_'))

  t.equal((await ada('PATCH', `${path}/${id}`, { eventTypes: ['order.updated'] })).status, 428)
  t.equal((await ada('DELETE', `${path}/${id}`)).status, 428)
  const changed = await ada('PATCH', `${path}/${id}`, { eventTypes: ['order.updated'] }, { 'if-match': String(read.headers['etag']) })
  t.match(changed, { status: 200, body: { data: { eventTypes: ['order.updated'] } } })
  t.notOk('secret' in changed.body.data)
  t.equal((await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': String(read.headers['etag']) })).status, 412)
  t.equal((await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': String(changed.headers['etag']) })).status, 204)
  t.equal((await ada('GET', `${path}/${id}`)).status, 404)
})

t.test('a URL that is not public is refused, on creation and on change, and so are unknown events [W5]', async (t) => {
  const { id } = await subscribe(ada, publicUrl, ['order.created'])
  for (const [url, rule] of [
    ['http://hooks.example.com/orders', /https/],
    ['https://10.0.0.1/hooks', /name/],
    ['https://metadata/hooks', /public host name/],
    ['https://hooks.example.com:22/', /port/]
  ] as const) {
    const refused = { status: 422, body: { error: { code: 'WEBHOOK_URL_REFUSED', errors: [{ field: 'body.url', message: rule }] } } }
    t.match(await ada('POST', path, { url, eventTypes: ['order.created'] }), refused)
    t.match(await ada('PATCH', `${path}/${id}`, { url }, { 'if-match': '*' }), refused)
  }
  t.match(await ada('POST', path, { url: publicUrl, eventTypes: ['order.created', 'order.lost'] }), {
    status: 422,
    body: { error: { code: 'WEBHOOK_EVENT_TYPE_UNKNOWN', errors: [{ field: 'body.eventTypes.1' }] } }
  })
  await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('only its owner can read a subscription; other users, including staff, get 404 [F8] [U10]', async (t) => {
  const { id } = await subscribe(ada, publicUrl, ['order.created'])
  const one = `${path}/${id}`
  const match = { 'if-match': '*' }
  for (const other of [max, staff]) {
    const responses = [
      await other('GET', one),
      await other('PATCH', one, { description: 'Mine' }, match),
      await other('DELETE', one, undefined, match),
      await other('POST', `${one}/secrets`),
      await other('POST', `${one}/pings`),
      await other('GET', `${one}/deliveries`),
      await other('GET', `${one}/deliveries/${unknown}`),
      await other('GET', `${one}/deliveries/${unknown}/attempts`),
      await other('POST', `${one}/deliveries/${unknown}/redeliveries`),
      await other('POST', `${one}/recoveries`, { since: '2026-01-01T00:00:00Z' })
    ]
    t.strictSame(
      responses.map(({ status }) => status),
      responses.map(() => 404)
    )
    t.strictSame((await other('GET', path)).body.data, [])
  }
  t.match((await ada('GET', one)).body.data, { id })
  t.equal((await anyone.inject(path)).statusCode, 401)
  await ada('DELETE', one, undefined, match)
})

t.test('a customer receives events of their own orders, staff of all, both of products; each signature verifies [W2] [W3]', async (t) => {
  const types = ['order.created', 'order.updated', 'order.cancelled', 'product.updated']
  const receivers = await Promise.all([ada, max, staff].map(async (call) => ({ call, receiver: await webhookReceiver(t) })))
  const subscriptions: { id: string; secret: string }[] = []
  for (const { call, receiver } of receivers) subscriptions.push(await subscribe(call, receiver, types))

  const order = await placeOrder(ada)
  await ada('PATCH', `/v1/orders/${order.id}`, { note: 'Ring twice.' })
  await ada('PATCH', `/v1/orders/${order.id}`, {})
  const { body } = await ada('GET', `/v1/orders/${order.id}/items`)
  await ada('PATCH', `/v1/orders/${order.id}/items/${body.data[0].id}`, { quantity: 2 })
  await ada('POST', `/v1/orders/${order.id}/cancellations`)
  await staff('PATCH', `/v1/products/${product.id}`, {})
  await staff('PATCH', `/v1/products/${product.id}`, { description: 'Old' })
  const receivedBy = async (index: number, count: number) => {
    const events = []
    for (let read = 0; read < count; read += 1) {
      const attempt = await (receivers[index] as (typeof receivers)[0]).receiver.next()
      t.ok(verifies(subscriptions[index]?.secret as string, attempt))
      t.notOk(verifies(subscriptions[(index + 1) % 3]?.secret as string, attempt))
      events.push(attempt.event)
    }
    return events.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp))
  }
  const ofAda = await receivedBy(0, 5)
  t.strictSame(
    ofAda.map(({ type }) => type),
    ['order.created', 'order.updated', 'order.updated', 'order.cancelled', 'product.updated']
  )
  t.strictSame(ofAda[0], { type: 'order.created', timestamp: ofAda[0].timestamp, data: order })
  t.match(ofAda[2].data, { id: order.id, note: 'Ring twice.', total: (Number(product.unitPrice) * 2).toFixed(2) })
  t.match(ofAda[4].data, { id: product.id, description: 'Old' })
  t.notOk('version' in ofAda[4].data)
  t.strictSame(await receivedBy(2, 5), ofAda)
  t.match(await receivedBy(1, 1), [{ type: 'product.updated' }])
  t.equal(receivers[1]?.receiver.attempts.length, 1)
  for (const [index, { call }] of receivers.entries())
    await call('DELETE', `${path}/${subscriptions[index]?.id}`, undefined, { 'if-match': '*' })
})

t.test('only an administrator lists, disables and removes the subscriptions of all users [U9] [U10]', async (t) => {
  const [admin, ops] = [await as('admin@example.com'), await as('ops@example.com')]
  const { id } = await subscribe(ada, publicUrl, ['order.created'])
  const managed = '/v1/managed-webhook-subscriptions'
  const one = `${managed}/${id}`
  const match = { 'if-match': '*' }
  for (const call of [ada, max, ops]) {
    const statuses = [
      await call('GET', managed),
      await call('GET', one),
      await call('PATCH', one, { status: 'disabled' }, match),
      await call('DELETE', one, undefined, match)
    ].map(({ status }) => status)
    t.strictSame(statuses, [403, 403, 403, 403])
  }
  t.equal((await anyone.inject(managed)).statusCode, 401)
  const listed = (await admin('GET', managed)).body.data
  t.match(listed, [{ id, owner: '01911062-dc00-771a-b12f-f840ae896740', status: 'enabled' }])
  t.notMatch(JSON.stringify(listed), 'whsec_')
  t.equal((await admin('PATCH', one, { status: 'disabled' }, match)).status, 200)
  t.match((await ada('PATCH', `${path}/${id}`, { status: 'enabled' }, match)).body.error.code, 'WEBHOOK_DISABLED_BY_ADMINISTRATOR')
  t.match((await ada('GET', `${path}/${id}`)).body.data, { disabledReason: 'accessRevoked' })
  t.equal((await admin('DELETE', one, undefined, match)).status, 204)
  t.equal((await ada('GET', `${path}/${id}`)).status, 404)
  t.equal((await admin('GET', path)).status, 403, 'an administrator has no subscriptions')
})

t.test('an event has the form of the version in which its subscription was created, also in each description [V3] [V7]', async (t) => {
  const [first, second] = [await webhookReceiver(t), await webhookReceiver(t)]
  const old = await subscribe(ada, first, ['order.created'])
  const { body } = await ada('POST', path.replace('v1', 'v2'), { url: second.url, eventTypes: ['order.created'] })
  second.trust(body.data.secret)
  const order = await placeOrder(ada)
  t.strictSame((await first.next()).event.data, order)
  const { total, currency, ...others } = order
  t.strictSame((await second.next()).event.data, { ...others, total: { amount: total, currency } })
  // The user who created both finds both, in either version.
  t.match((await ada('GET', path)).body.data, [
    { id: body.data.id, version: 2 },
    { id: old.id, version: 1 }
  ])
  for (const [version, type] of [
    ['v1', 'string'],
    ['v2', 'object']
  ] as const) {
    const { webhooks, components } = (await anyone.inject(`/${version}/openapi`)).json()
    t.strictSame(components.schemas.OrderCreatedEvent.properties.data, { $ref: '#/components/schemas/Order' })
    t.equal(components.schemas.Order.properties.total.type, type)
    t.equal(typeof webhooks['order.created'].post.requestBody.content['application/json'].example.data.total, type)
  }
  for (const { id } of [old, body.data]) await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('deliveries and their attempts can be read, and one is sent again under the same webhook-id', async (t) => {
  const receiver = await webhookReceiver(t)
  const { id } = await subscribe(ada, receiver, ['order.created'])
  const list = `${path}/${id}/deliveries`
  await placeOrder(ada)
  const first = await receiver.next()
  const { body } = await until(
    () => ada('GET', `${list}?status=delivered`),
    (response) => response.body.data.length > 0
  )
  const [delivery] = body.data
  t.match(delivery, { messageId: first.id, eventType: 'order.created', status: 'delivered', attempts: 1 })
  const one = (await ada('GET', `${list}/${delivery.id}`)).body
  t.match(one, {
    data: delivery,
    _links: [{ rel: 'self' }, { rel: 'collection' }, { rel: 'up' }, { rel: 'attempts' }, { rel: 'redeliver' }]
  })
  t.match((await ada('GET', `${list}/${delivery.id}/attempts`)).body.data, [{ number: 1, statusCode: 204 }])
  t.strictSame((await ada('GET', `${list}?status=pending`)).body.data, [])
  t.equal((await ada('POST', `${list}/${delivery.id}/redeliveries`)).status, 202)
  const second = await receiver.next()
  t.strictSame([second.id, second.text], [first.id, first.text])
  await until(
    () => ada('GET', `${list}/${delivery.id}/attempts?sort=id`),
    (response) => response.body.data.length === 2
  )
  await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('a 410 disables the subscription; after it is enabled again, missed events are recovered [W4]', async (t) => {
  const receiver = await webhookReceiver(t, { respond: (number) => (number === 1 ? 410 : 204) })
  const { id } = await subscribe(ada, receiver, ['order.created'])
  const since = new Date().toISOString()
  await placeOrder(ada)
  const first = await receiver.next()
  const disabled = await until(
    () => ada('GET', `${path}/${id}`),
    ({ body }) => body.data.status === 'disabled'
  )
  t.match(disabled.body.data, { disabledReason: 'gone' })
  t.match(await ada('POST', `${path}/${id}/pings`), { status: 409, body: { error: { code: 'WEBHOOK_SUBSCRIPTION_DISABLED' } } })
  const match = { 'if-match': String(disabled.headers['etag']) }
  t.match(await ada('PATCH', `${path}/${id}`, { status: 'enabled' }, match), { status: 200, body: { data: { status: 'enabled' } } })
  t.match(await ada('POST', `${path}/${id}/recoveries`, { since, until: since }), {
    status: 422,
    body: { error: { code: 'WEBHOOK_RANGE_INVALID' } }
  })
  t.match(await ada('POST', `${path}/${id}/recoveries`, { since }), { status: 202, body: { data: { since } } })
  t.equal((await receiver.next()).event.type, 'webhook.ping')
  t.equal((await receiver.next()).id, first.id)
  await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('after a rotation both secrets verify, and the new one is returned once', async (t) => {
  const receiver = await webhookReceiver(t)
  const { id, secret } = await subscribe(ada, receiver, ['order.created'])
  const rotated = await ada('POST', `${path}/${id}/secrets`)
  t.match(rotated, { status: 201, headers: { 'cache-control': 'no-store' }, body: { data: { secret: /^whsec_/, oldKeysEndAt: String } } })
  t.not(rotated.body.data.secret, secret)
  const pinged = await ada('POST', `${path}/${id}/pings`)
  t.equal(pinged.status, 202)
  const attempt = await receiver.next()
  t.strictSame([attempt.id, attempt.event.type], [pinged.body.data.messageId, 'webhook.ping'])
  t.strictSame(
    [
      verifies(secret, attempt),
      verifies(rotated.body.data.secret, attempt),
      String(attempt.headers['webhook-signature']).split(' ').length
    ],
    [true, true, 2]
  )
  await ada('DELETE', `${path}/${id}`, undefined, { 'if-match': '*' })
})

t.test('receivers on this machine are refused in production', async (t) => {
  const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'
  const production = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://shop.example',
    CURSOR_SECRETS: secret,
    TOKEN_SECRETS: secret,
    REFRESH_SECRETS: secret
  }
  t.throws(() => settings({ ...production, DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true' }), {
    message: 'DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS is "true" in production. It must be false, or true outside of production.'
  })
  t.equal(settings(production).variables.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS, false)
})

// Last, because it ends the session of the staff.
t.test(
  'an administrator demotes a user, who keeps and can remove the subscriptions, which are disabled; a logout disables none [U4] [U9]',
  async (t) => {
    const admin = await as('admin@example.com')
    const { id } = await subscribe(staff, publicUrl, ['order.created'])
    const own = `${path}/${id}`
    const leaving = await as('ops@example.com')
    const { body: session } = await staff('POST', '/v1/tokens', { username: 'ops@example.com', password })
    t.equal((await leaving('POST', '/v1/token-revocations', { token: session.data.refreshToken })).status, 201)
    t.match((await staff('GET', own)).body.data, { status: 'enabled' })

    const user = '/v1/users/01911062-dc00-7000-8000-0000000000f5'
    for (const call of [ada, staff]) {
      t.equal((await call('GET', user)).status, 403)
      t.equal((await call('PATCH', user, { role: 'administrator' })).status, 403)
    }
    t.match(await admin('GET', user), { status: 200, body: { data: { role: 'staff' } } })
    t.equal((await admin('PATCH', user.replace('f5', 'ff'), { role: 'customer' })).status, 404)
    t.match(await admin('PATCH', user, { role: 'customer' }), { status: 200, body: { data: { role: 'customer' } } })
    t.match((await staff('GET', own)).body.error.code, 'TOKEN_REVOKED')
    // After the response, the service also ends what was issued while the change was committed, and with it a sign-in of that moment.
    const signIn = () => as('ops@example.com').catch(() => undefined)
    const demoted = (await until(signIn, (call) => call !== undefined)) as Call
    t.match((await demoted('GET', own)).body.data, { id, status: 'disabled', disabledReason: 'accessRevoked' })
    t.match((await demoted('GET', path)).body.data, [{ id }])
    t.equal((await demoted('DELETE', own, undefined, { 'if-match': '*' })).status, 204)
  }
)
