import { randomUUID } from 'node:crypto'
import { openDatabase } from '@concordat/postgres/open'
import { until } from '@concordat/test-harness/until'
import { describedFetch } from '@concordat/testing'
import t from 'tap'
import { startService } from '../service.ts'
import { signIn, startChild } from './child.ts'
import { emptyDatabase, freshDatabase, server } from './fresh-database.ts'

function end(how: 'paid' | 'cancellations' | 'deleted', order: string): ['PATCH' | 'POST' | 'DELETE', string, object?] {
  if (how === 'paid') return ['PATCH', order, { status: 'paid' }]
  return how === 'deleted' ? ['DELETE', order] : ['POST', `${order}/cancellations`, {}]
}

if (server === undefined) t.plan(0, 'set TEST_DATABASE_URL to the address of a PostgreSQL server')
else {
  const shared = await freshDatabase(t)
  const { call } = await startService(t, { place: shared })
  const { call: sendToOther } = await startService(t, { place: shared })

  const { databaseUrl = '' } = await emptyDatabase(t)
  const started = { DATABASE_URL: databaseUrl, SEED_ORDERS: '830', PUBLIC_URL: 'https://shop.example' }
  const processes = [startChild(t, started), startChild(t, started)] as const
  const [here, there] = (await Promise.all(processes.map(({ address }) => address))) as [string, string]

  t.test('two processes that start at the same time on an empty database migrate and seed it once', async (t) => {
    const database = await openDatabase({ url: databaseUrl })
    const counts = `SELECT (SELECT count(*) FROM products) AS products, (SELECT count(*) FROM orders) AS orders,
      (SELECT count(*) FROM order_items) AS items, (SELECT count(*) FROM concordat.migrations WHERE component = 'orders-service') AS migrations`
    t.strictSame(await database.query(counts), [{ products: 77, orders: 830, items: 2155, migrations: 2 }])
    await database.close()
  })

  t.test('a token of one process is valid in another process on the same database, until it is revoked there [U4]', async (t) => {
    const headers = await signIn(here)
    const status = async (address: string) => (await describedFetch(`${address}/v1/orders`, { headers })).status
    t.equal(await status(there), 200)
    const token = headers.authorization.replace('Bearer ', '')
    await describedFetch(`${here}/v1/token-revocations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token })
    })
    t.equal(await status(here), 401)
    await until(async () => (await status(there)) === 401)
    t.equal(await status(there), 401)
  })

  t.test('two processes send the same tag, and each accepts the tag of the other [C6]', async (t) => {
    const headers = await signIn(here)
    const [customer] = ((await (await describedFetch(`${here}/v2/customers?perPage=1`, { headers })).json()) as { data: { id: string }[] })
      .data
    for (const path of ['/v2/products?perPage=5', '/v2/orders', `/v2/customers/${customer?.id}`, '/v2/categories']) {
      const tag = (await describedFetch(here + path, { headers })).headers.get('etag')
      t.match(tag, /^"/)
      t.equal((await describedFetch(there + path, { headers })).headers.get('etag'), tag, path)
      t.equal((await describedFetch(there + path, { headers: { ...headers, 'if-none-match': tag as string } })).status, 304, path)
    }
  })

  t.test('two processes stop at the same time', async (t) => {
    for (const { process } of processes) process.kill('SIGTERM')
    t.match(await Promise.all(processes.map(({ ended }) => ended)), [{ code: 0 }, { code: 0 }])
  })

  t.test('fifty simultaneous orders on two instances sell the ten units in stock, with the products in any order', async (t) => {
    const customerId = (await call('GET', '/v1/customers')).body.data[0].id
    const categoryId = (await call('GET', '/v1/categories')).body.data[0].id
    const newProduct = async (unitsInStock: number) =>
      (await call('POST', '/v1/products', { name: 'Scarce', categoryId, unitPrice: '1', unitsInStock })).body.data.id as string
    const [scarce, plenty] = [await newProduct(10), await newProduct(1000)]
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const items = [scarce, plenty].map((productId) => ({ productId, quantity: 1 }))
        return accepted(index % 2 === 0 ? call : sendToOther, { customerId, items: index % 3 === 0 ? items.toReversed() : items })
      })
    )
    // A busy machine refuses some with a 503, which has changed nothing.
    async function accepted(send: typeof call, order: object) {
      for (;;) {
        const response = await send('POST', '/v1/orders', order)
        if (response.status !== 503) return response
      }
    }
    const tally = (code: number) => responses.filter(({ status }) => status === code).length
    t.strictSame([tally(201), tally(409)], [10, 40])
    t.equal((await call('GET', `/v1/products/${scarce}`)).body.data.unitsInStock, 0)
    t.equal((await call('GET', `/v1/products/${plenty}`)).body.data.unitsInStock, 990)
  })

  t.test('an order is cancelled once when many requests to cancel it arrive at the same time', async (t) => {
    const customerId = (await call('GET', '/v1/customers')).body.data[0].id
    const product = (await call('GET', '/v1/products')).body.data.find(({ discontinued }: { discontinued: boolean }) => !discontinued)
    const order = (await call('POST', '/v1/orders', { customerId, items: [{ productId: product.id, quantity: 5 }] })).body.data
    const responses = await Promise.all(Array.from({ length: 10 }, () => call('POST', `/v1/orders/${order.id}/cancellations`, {})))
    t.equal(responses.filter(({ status }) => status === 201).length, 1)
    t.equal(responses.filter(({ body }) => body.error?.code === 'ORDER_ALREADY_CANCELLED').length, 9)
    t.equal((await call('GET', `/v1/products/${product.id}`)).body.data.unitsInStock, product.unitsInStock)
  })

  t.test('simultaneous operations on one order do not lose stock and do not return 5xx', async (t) => {
    const customerId = (await call('GET', '/v1/customers')).body.data[0].id
    const categoryId = (await call('GET', '/v1/categories')).body.data[0].id
    const product = async () =>
      (await call('POST', '/v1/products', { name: 'Contested', categoryId, unitPrice: '1.37', unitsInStock: 100 })).body.data.id as string
    const [one, two] = [await product(), await product()]
    for (const last of ['paid', 'cancellations', 'deleted'] as const) {
      const items = [one, two].map((productId) => ({ productId, quantity: 3 }))
      const path = `/v1/orders/${(await call('POST', '/v1/orders', { customerId, items })).body.data.id}`
      const [first, second] = (await call('GET', `${path}/items`)).body.data.map(({ id }: { id: string }) => `${path}/items/${id}`)
      const responses = await Promise.all(
        Array.from({ length: 6 }, (_, quantity) => [
          call('POST', `${path}/items`, { productId: two, quantity: quantity + 1 }),
          call('PATCH', first, { quantity: quantity + 1 }),
          call('POST', '/v1/orders', { customerId, items: items.toReversed() }),
          call('PATCH', second, { quantity: 7 - quantity }),
          call('PATCH', path, { note: `note ${quantity}` }),
          quantity === 3 ? call('DELETE', second) : call('GET', path),
          ...(quantity < 4 ? [] : [call(...end(last, path))])
        ]).flat()
      )
      t.strictSame(
        responses.filter(({ status }) => status >= 500).map(({ body }) => body),
        []
      )
      const others = responses.filter(({ status, headers }) => status === 201 && /\/orders\/[^/]+$/.test(headers['location'] as string))
      for (const { headers } of others) await call('DELETE', new URL(headers['location'] as string).pathname)
      await call('DELETE', path)
      const left = await Promise.all([one, two].map((id) => call('GET', `/v1/products/${id}`)))
      t.strictSame(
        left.map(({ body }) => body.data.unitsInStock),
        [100, 100],
        last
      )
    }
  })

  t.test('many simultaneous PUT requests to one new id create one product', async (t) => {
    const categoryId = (await call('GET', '/v1/categories')).body.data[0].id
    const product = { name: 'Rye', categoryId, unitPrice: '1.00', currency: 'EUR', unitsInStock: 1, discontinued: false }
    const path = `/v1/products/${randomUUID()}`
    const responses = await Promise.all(Array.from({ length: 10 }, () => call('PUT', path, product)))
    t.strictSame(responses.map(({ status }) => status).sort(), [...Array<number>(9).fill(200), 201])
  })

  t.test('without its database the service is alive, is not ready, and does not reveal the reason', async (t) => {
    const outside = await openDatabase({ url: server })
    const name = new URL(shared.databaseUrl as string).pathname.slice(1)
    await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await outside.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    await until(async () => (await call('GET', '/health/ready')).status === 503, 50)
    for (const [path, code] of [
      ['/health/ready', 'NOT_READY'],
      ['/v1/products', 'SERVICE_UNAVAILABLE']
    ] as const) {
      const { status, headers, body } = await call('GET', path)
      t.match({ status, code: body.error.code }, { status: 503, code }, path)
      t.equal(headers['retry-after'], '2')
      t.notMatch(JSON.stringify(body), /postgres|connect|select|127\.0\.0\.1/i)
    }
    t.equal((await call('GET', '/health/live')).status, 200)
    await outside.close()
  })
}
