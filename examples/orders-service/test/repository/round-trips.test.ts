import { randomUUID } from 'node:crypto'
import { type Interceptor, proxyRoundTrips, type RoundTrip } from '@concordat/test-harness/round-trips'
import { postgresProtocol } from '@concordat/test-harness/wire-protocols'
import t from 'tap'
import { startService } from '../service.ts'
import { freshDatabase, server } from './fresh-database.ts'

const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' }
const productId = '0191106c-03c0-76ff-b1de-b7ec6c68a6a1'
// These are sent besides a request, which does not wait for them: notifications, the feed of revocations and the queue.
const beside = /pg_notify|LISTEN|revocations|pgboss|queue|connect|password/

t.test('each request needs a fixed number of statements and round trips to PostgreSQL', onServer, async (t) => {
  const place = await freshDatabase(t)
  const url = new URL(place.databaseUrl as string)
  let trips: RoundTrip[] = []
  const record: Interceptor = {
    request: () => 'forward',
    response(trip) {
      if (!beside.test(trip.label)) trips.push(trip)
      return 'forward'
    }
  }
  const target = { name: 'PostgreSQL', host: url.hostname, port: Number(url.port || 5432), protocol: postgresProtocol }
  const databaseUrl = Object.assign(url, { host: `127.0.0.1:${await proxyRoundTrips(t, target, record)}` }).href
  const { call, as } = await startService(t, { place: { ...place, databaseUrl } })
  const ada = await as('ada@example.com')
  await call('PATCH', `/v1/products/${productId}`, { unitsInStock: 1000 })
  const body = { items: [{ productId, quantity: 1 }] }
  const headers = { 'idempotency-key': randomUUID() }
  const path = `/v1/orders/${(await ada('POST', '/v1/orders', body)).body.data.id}`

  async function counted(work: () => Promise<{ readonly status: number }>) {
    trips = []
    const { status } = await work()
    const statements = trips.reduce((sum, trip) => sum + trip.statements, 0)
    return { status, roundTrips: trips.length, statements }
  }

  // BEGIN with the claim; the order; the subscribers of its event; the stored response with COMMIT.
  t.strictSame(await counted(() => ada('POST', '/v1/orders', body, headers)), { status: 201, roundTrips: 4, statements: 8 })
  t.strictSame(await counted(() => ada('POST', '/v1/orders', body, headers)), { status: 201, roundTrips: 1, statements: 1 })
  t.strictSame(await counted(() => ada('GET', path)), { status: 200, roundTrips: 1, statements: 1 })
  t.strictSame(await counted(() => call('PATCH', path, { note: 'Ring twice.' })), { status: 200, roundTrips: 6, statements: 7 })
  const signIn = async () => ({ status: typeof (await as('ada@example.com')) === 'function' ? 200 : 0 })
  t.strictSame(await counted(signIn), { status: 200, roundTrips: 8, statements: 8 })
})
