import { randomUUID } from 'node:crypto'
import t from 'tap'
import { freshPlace, password, startService } from './service.ts'

const place = await freshPlace(t)
const { call: staff, as, anyone } = await startService(t, { place, seedOrders: 60 })
const [ada, max] = [await as('ada@example.com'), await as('max@example.com')]
const anybody = anyone.request
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const signIn = async (username = 'ada@example.com') => (await anybody('POST', '/v1/tokens', { username, password })).body.data
const ordersOf = async (call: typeof staff) =>
  (await call('GET', '/v1/orders?perPage=100')).body.data as { id: string; customerId: string }[]
const ids = Object.fromEntries(
  (await staff('GET', '/v1/customers?perPage=100')).body.data.map(({ id, email }: { id: string; email: string }) => [email, id])
)
const adaId = ids['ada@example.com'] as string

t.test('valid credentials return an access token for 15 minutes and a refresh token, with no-store [E6] [U2]', async (t) => {
  const { status, headers, body } = await anybody('POST', '/v1/tokens', { username: 'Ada@Example.com', password })
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.match(body.data, { accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/, tokenType: 'Bearer', expiresIn: 900, refreshToken: String })
  t.strictSame(Object.keys(body.data), ['accessToken', 'tokenType', 'expiresIn', 'refreshToken'])
  t.equal((await anybody('GET', '/v1/orders', undefined, bearer(body.data.accessToken))).status, 200)
})

t.test('a wrong password and an unknown user get the same response [U8]', async (t) => {
  const wrong = await anybody('POST', '/v1/tokens', { username: 'ada@example.com', password: 'incorrect horse battery' })
  const unknown = await anybody('POST', '/v1/tokens', { username: 'nobody@example.com', password: 'incorrect horse battery' })
  t.equal(wrong.status, 401)
  t.equal(wrong.body.error.code, 'INVALID_CREDENTIALS')
  t.strictSame(unknown.body.error, wrong.body.error)
})

async function signInStatus(username: string, secret = password) {
  return (await anybody('POST', '/v1/tokens', { username, password: secret })).status
}

t.test('the spellings of an email address share their attempts, and each can sign in before [U8] [X5]', async (t) => {
  t.equal(await signInStatus('MAX@Example.COM'), 200)
  for (let count = 0; count < 10; count += 1)
    t.equal(await signInStatus(count % 2 === 0 ? 'Max@example.com' : 'max@EXAMPLE.com', 'wrong'), 401)
  for (const spelling of [
    'max@example.com',
    'MAX@EXAMPLE.COM',
    ' max@example.com',
    'ｍax@example.com',
    '𝐌ax@example.com',
    'max@ex\u1d43mple.com'
  ])
    t.equal(await signInStatus(spelling), 429, spelling)
})

t.test('a token request with half of a grant, or with two grants, gets an error that says what is missing', async (t) => {
  for (const body of [{}, { username: 'ada@example.com' }, { password }, { username: 'a', password, refreshToken: 'x' }]) {
    const { status, body: received } = await anybody('POST', '/v1/tokens', body)
    t.equal(status, 422, JSON.stringify(body))
    t.ok(received.error.errors.length > 0)
  }
})

t.test('a refresh token can be used once; later reuse ends the session, including its access token [U3]', async (t) => {
  const first = await signIn()
  const second = (await anybody('POST', '/v1/tokens', { refreshToken: first.refreshToken })).body.data
  const third = (await anybody('POST', '/v1/tokens', { refreshToken: second.refreshToken })).body.data
  t.equal((await anybody('GET', '/v1/orders', undefined, bearer(third.accessToken))).status, 200)
  const reused = await anybody('POST', '/v1/tokens', { refreshToken: first.refreshToken })
  t.match(reused, { status: 401, body: { error: { code: 'REFRESH_TOKEN_REUSED' } } })
  t.match(await anybody('GET', '/v1/orders', undefined, bearer(third.accessToken)), {
    status: 401,
    body: { error: { code: 'TOKEN_REVOKED' } }
  })
  t.equal((await anybody('POST', '/v1/tokens', { refreshToken: third.refreshToken })).status, 401)
})

t.test('revoking either token ends the session; an invalid token ends nothing and gets the same response [U4]', async (t) => {
  for (const member of ['accessToken', 'refreshToken'] as const) {
    const session = await signIn()
    const { status, body, headers } = await anybody('POST', '/v1/token-revocations', { token: session[member] })
    t.match([status, headers['cache-control'], body.data], [201, 'no-store', { revokedAt: /^\d{4}-\d\d-\d\dT.*Z$/ }])
    t.match(await anybody('GET', '/v1/orders', undefined, bearer(session.accessToken)), {
      status: 401,
      body: { error: { code: 'TOKEN_REVOKED' } }
    })
    t.equal((await anybody('POST', '/v1/tokens', { refreshToken: session.refreshToken })).status, 401)
  }
  t.equal((await anybody('POST', '/v1/token-revocations', { token: 'nothing that was ever issued' })).status, 201)
})

t.test('anonymous clients can read categories, products and images; every other route requires a token [U1] [U10]', async (t) => {
  const [product] = (await anybody('GET', '/v1/products')).body.data
  for (const path of ['/', '/health/ready', '/v1/categories', `/v1/products/${product.id}`, `/v1/products/${product.id}/images`])
    t.equal((await anybody('GET', path)).status, 200, path)
  for (const [method, path] of [
    ['GET', '/v1/orders'],
    ['POST', '/v1/orders'],
    ['GET', `/v1/orders/${randomUUID()}/items`],
    ['GET', '/v1/customers'],
    ['PATCH', `/v1/products/${product.id}`],
    ['DELETE', `/v1/products/${product.id}`],
    ['POST', `/v1/products/${product.id}/images`]
  ] as const) {
    const { status, headers } = await anybody(method, path)
    t.strictSame([status, headers['www-authenticate']], [401, 'Bearer realm="api"'], `${method} ${path}`)
  }
})

t.test('a customer lists only their own orders and staff list all orders, with any filter [U10]', async (t) => {
  const own = await ordersOf(ada)
  t.ok(own.length > 0 && own.every(({ customerId }) => customerId === adaId))
  t.equal((await ordersOf(staff)).length, 60)
  t.strictSame((await ada('GET', `/v1/orders?customerId=${ids['max@example.com']}`)).body.data, [])
})

t.test('the order of another customer is the same 404 as a missing order, for every method and subresource [U10]', async (t) => {
  const [foreign] = await ordersOf(ada)
  for (const [method, path, body] of [
    ['GET', ''],
    ['PATCH', '', { note: 'mine now' }],
    ['DELETE', ''],
    ['POST', '/cancellations', {}],
    ['GET', '/items'],
    ['POST', '/items', { productId: randomUUID(), quantity: 1 }],
    ['GET', `/items/${randomUUID()}`],
    ['PATCH', `/items/${randomUUID()}`, { quantity: 1 }],
    ['DELETE', `/items/${randomUUID()}`]
  ] as const) {
    const there = await max(method, `/v1/orders/${foreign?.id}${path}`, body)
    const nowhere = await max(method, `/v1/orders/${randomUUID()}${path}`, body)
    t.equal(there.status, 404, `${method} ${path}`)
    t.strictSame(there.body.error, nowhere.body.error)
  }
  t.equal((await ada('GET', `/v1/orders/${foreign?.id}`)).status, 200)
})

t.test('customers order for themselves, staff must name the customer [U10]', async (t) => {
  const [{ id: categoryId }] = (await staff('GET', '/v1/categories')).body.data
  const product = (await staff('POST', '/v1/products', { name: 'Rye Bread', categoryId, unitPrice: '3.33', unitsInStock: 10 })).body.data
  const items = [{ productId: product.id, quantity: 1 }]
  const own = await ada('POST', '/v1/orders', { items })
  t.match(own, { status: 201, body: { data: { customerId: adaId } } })
  t.equal((await ada('POST', '/v1/orders', { items, customerId: adaId.toUpperCase() })).status, 201)
  t.match(await max('POST', '/v1/orders', { items, customerId: adaId }), { status: 403, body: { error: { code: 'FOREIGN_CUSTOMER' } } })
  t.match(await staff('POST', '/v1/orders', { items, customerId: adaId }), { status: 201, body: { data: { customerId: adaId } } })
  t.match(await staff('POST', '/v1/orders', { items }), {
    status: 422,
    body: { error: { code: 'CUSTOMER_MISSING', errors: [{ field: 'body.customerId' }] } }
  })
  const path = `/v1/orders/${own.body.data.id}`
  t.match(await ada('PATCH', path, { note: 'Ring twice' }), { status: 200, body: { data: { note: 'Ring twice' } } })
  t.match(await ada('PATCH', path, { status: 'paid' }), { status: 403, body: { error: { code: 'INSUFFICIENT_PERMISSION' } } })
  t.equal((await staff('PATCH', path, { status: 'paid' })).status, 200)
})

t.test('a customer can read and change only their own record; only staff can list customers [U10]', async (t) => {
  t.match(await ada('GET', `/v1/customers/${adaId}`), { status: 200, body: { data: { email: 'ada@example.com' } } })
  t.equal((await ada('PATCH', `/v1/customers/${adaId}`, { contactName: 'Ada A.' })).status, 200)
  for (const method of ['GET', 'PATCH'] as const) {
    const foreign = await max(method, `/v1/customers/${adaId}`, method === 'PATCH' ? { contactName: 'Max' } : undefined)
    t.match(foreign, { status: 404, body: { error: { code: 'RESOURCE_NOT_FOUND' } } })
  }
  t.equal((await staff('GET', `/v1/customers/${adaId}`)).body.data.contactName, 'Ada A.')
  t.match(await ada('GET', '/v1/customers'), { status: 403, body: { error: { code: 'INSUFFICIENT_PERMISSION' } } })
  t.equal((await ada('POST', '/v1/customers', {})).status, 403)
})

t.test(
  'the email address of a customer is contact data: it tells nothing about other addresses, and nobody signs in with it [U8]',
  async (t) => {
    const before = (await staff('GET', `/v1/customers/${adaId}`)).body.data.email
    for (const email of ['max@example.com', `${randomUUID()}@example.com`]) {
      const { status, body } = await ada('PATCH', `/v1/customers/${adaId}`, { email })
      t.strictSame([status, body.data.email], [200, email])
    }
    const { body } = await ada('PATCH', `/v1/customers/${adaId}`, { email: 'ada@contact.example' })
    t.equal(body.data.email, 'ada@contact.example')
    t.equal(await signInStatus('ada@contact.example'), 401)
    t.equal((await signIn()).tokenType, 'Bearer')
    t.equal((await ada('PATCH', `/v1/customers/${adaId}`, { email: before })).status, 200)
  }
)

t.test('receivers of webhooks on this machine are refused unless this is configured [W5]', async (t) => {
  const subscription = { url: 'https://localhost:8444/hooks', eventTypes: ['order.created'] }
  const refused = { status: 422, body: { error: { code: 'WEBHOOK_URL_REFUSED' } } }
  t.match(await ada('POST', '/v1/webhook-subscriptions', subscription), refused)
})

t.test('only staff can change products', async (t) => {
  const [product] = (await ada('GET', '/v1/products')).body.data
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
    t.equal((await ada(method, `/v1/products/${product.id}`, method === 'DELETE' ? undefined : {})).status, 403, method)
  t.equal((await ada('POST', '/v1/products', {})).status, 403)
  t.equal((await ada('DELETE', `/v1/products/${product.id}/images/${randomUUID()}`)).status, 403)
})

// A service that counts, and whose Redis is not available.
const warnings: { readonly msg: string; readonly err?: { readonly code: string } }[] = []
const logger = { level: 'warn', stream: { write: (line: string) => void warnings.push(JSON.parse(line)) } }
const alone = await startService(t, { rateLimit: 'on', redisUrl: 'redis://127.0.0.1:1', logger })

t.test('without Redis, the service starts with one warning that names the consequence, and serves', async (t) => {
  t.equal((await alone.anyone.get('/health/ready')).status, 200)
  t.match(
    warnings.filter(({ msg }) => /redis/i.test(msg)),
    [{ msg: 'Redis is not available. Each process counts its own requests until it is.', err: { code: 'ECONNREFUSED' } }]
  )
})

t.test('requests are limited unless RATE_LIMIT is off, sign-in attempts more strictly, and health checks never [X5]', async (t) => {
  const { anyone: counted } = alone
  const read = await counted.inject('/v1/products')
  t.match(read.headers, { 'ratelimit-policy': '"address";q=3000;w=60', ratelimit: /^"address";r=\d+;t=\d+$/ })
  t.notOk((await counted.inject('/health/live')).headers['ratelimit'])
  const guess = { method: 'POST', url: '/v1/tokens', payload: { username: 'ada@example.com' } } as const
  const statuses: number[] = []
  for (let count = 0; count < 21; count += 1) statuses.push((await counted.inject(guess)).statusCode)
  // One request was spent on signing in for this test.
  t.strictSame(statuses, [...Array.from({ length: 19 }, () => 422), 429, 429])
})

const redisUrl = process.env['TEST_REDIS_URL']
// PGlite is for one process.
const areShared = redisUrl !== undefined && process.env['TEST_DATABASE_URL'] !== undefined
const onServers = areShared ? {} : { skip: 'set TEST_REDIS_URL and TEST_DATABASE_URL to the addresses of servers' }

t.test('with Redis, two processes count together; without it each continues to count alone [X5]', onServers, async (t) => {
  const [one, other] = [
    await startService(t, { place, rateLimit: 'on', redisUrl }),
    await startService(t, { place, rateLimit: 'on', redisUrl })
  ]
  const left = async ({ anyone: process }: typeof one) =>
    Number(/r=(\d+)/.exec(String((await process.inject({ url: '/v1/products', remoteAddress: '127.0.0.77' })).headers['ratelimit']))?.[1])
  const before = await left(one)
  t.equal(await left(other), before - 1)
  t.equal(await left(alone), 2999)
  const readiness = async ({ call }: typeof one) => {
    const { status, body } = await call('GET', '/health/ready')
    return [status, body.data.stores]
  }
  const database = { name: 'database', required: true, available: true }
  const revocations = { ...database, name: 'revocations' }
  const redis = { name: 'redis', required: false }
  t.strictSame(await readiness(one), [200, [database, revocations, { ...redis, available: true }]])
  t.strictSame(await readiness(alone), [200, [database, revocations, { ...redis, available: false }]], 'requests are served without Redis')
})
