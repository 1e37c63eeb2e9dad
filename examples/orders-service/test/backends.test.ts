// The shop's own systems act as staff, whose limits allow them 20 orders a second for a day.
import { randomUUID } from 'node:crypto'
import { openDatabase } from '@concordat/postgres/open'
import t from 'tap'
import { freshPlace, startService } from './service.ts'

const perSecond = 20
const keysOfADay = perSecond * 86_400
// A key with a response of 1 kB and its headers.
const bytesOfAKey = 1700
const place = await freshPlace(t)
const { call: staff, as } = await startService(t, { place, rateLimit: 'on', seedOrders: 0 })
const ada = await as('ada@example.com')
const key = () => ({ 'idempotency-key': randomUUID() })

t.test('a backend may send 20 requests a second, other clients and addresses have limits of their own', async (t) => {
  const policies = async (call: typeof staff) => {
    const text = String((await call('GET', '/v2/orders')).headers['ratelimit-policy'])
    return new Map(
      [...text.matchAll(/"([\w-]+)";q=(\d+);w=(\d+)/g)].map(([, name, quota, window]) => [name, Number(quota) / Number(window)])
    )
  }
  const [ofStaff, ofAda] = [await policies(staff), await policies(ada)]
  t.ok((ofStaff.get('backend') ?? 0) >= perSecond, 'its own limit')
  t.ok((ofStaff.get('address') ?? 0) >= perSecond, 'its address')
  t.notOk(ofStaff.has('client'))
  t.strictSame([ofAda.get('client'), ofAda.has('backend')], [10, false])
})

t.test(
  'after 20 requests with keys a second for a day, those of a backend are replayed whole, and others have reached their limit',
  place.databaseUrl === undefined ? { skip: 'set TEST_DATABASE_URL to the address of a PostgreSQL server' } : {},
  async (t) => {
    const [{ id: categoryId }] = (await staff('GET', '/v2/categories')).body.data
    const product = { name: 'Rye Bread', categoryId, unitPrice: '3.33', unitsInStock: 1000, currency: 'EUR' }
    const productId = (await staff('POST', '/v2/products', product, key())).body.data.id as string
    const order = { items: [{ productId, quantity: 1 }] }
    const customerId = (await ada('POST', '/v2/orders', order, key())).body.data.customerId as string
    const database = await openDatabase({ url: place.databaseUrl })
    t.teardown(() => database.close())
    const sizes = () => database.query<{ client: string }>('SELECT DISTINCT client FROM concordat.idempotency_sizes')
    for (const [name, call] of Object.entries({ staff, ada })) {
      const body = name === 'staff' ? { ...order, customerId } : order
      // The next responses of this client are counted, one of some.
      await database.query('DELETE FROM concordat.idempotency_sizes')
      while ((await sizes()).length === 0) await call('POST', '/v2/orders', body, key())
      await database.query(
        `INSERT INTO concordat.idempotency_sizes SELECT client, expires_at, ${(keysOfADay / 1000) * bytesOfAKey}
        FROM (SELECT * FROM concordat.idempotency_sizes LIMIT 1) AS one, generate_series(1, 1000)`
      )
      const again = key()
      const [first, retry] = [await call('POST', '/v2/orders', body, again), await call('POST', '/v2/orders', body, again)]
      if (name === 'ada') t.match(first, { status: 429, body: { error: { code: 'IDEMPOTENCY_STORAGE_EXCEEDED' } } })
      else {
        t.strictSame([first.status, retry.status, retry.bytes], [201, 201, first.bytes])
        t.strictSame([retry.headers['idempotency-replayed'], retry.headers['idempotency-status']], ['true', undefined])
      }
    }
  }
)
