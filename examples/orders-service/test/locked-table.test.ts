import { until } from '@concordat/test-harness/until'
import type { FastifyInstance } from 'fastify'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { freshDatabase, server } from './fresh-database.ts'
import { password, startService } from './service.ts'

const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' }

/** Locks `products` in another connection, and returns the function that unlocks it. */
async function lockProducts(t: Test, url: string | undefined) {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN; LOCK TABLE products IN ACCESS EXCLUSIVE MODE')
  return () => client.query('ROLLBACK')
}

/** A route that needs a token, and no table. */
function addWhoami(app: FastifyInstance) {
  app.get('/whoami', { config: { permissions: ['orders:read'] } }, async ({ principal }) => ({ subject: principal?.subject }))
}

t.test('a locked table makes no token invalid, and the process stays ready', onServer, async (t) => {
  const place = await freshDatabase(t)
  const { app, call } = await startService(t, place, addWhoami)
  const get = async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).statusCode
  const { body } = await call('POST', '/v1/tokens', { username: 'ops@example.com', password })
  const authorization = `Bearer ${body.data.accessToken}`
  const unlock = await lockProducts(t, place.databaseUrl)

  // Three times as many requests as the pool has connections wait for the table, for longer than revocations may be out of date.
  let ended = 0
  const reader = async () => {
    while (ended < 60) {
      t.equal(await get('/v2/products'), 503)
      ended += 1
    }
  }
  const others: Record<string, number[]> = { '/whoami': [], '/health/ready': [] }
  const probes = Object.entries(others).map(([url, statuses]) =>
    until(async () => statuses.push(await get(url, url === '/whoami' ? { authorization } : {})) > 0 && ended >= 60, 50)
  )
  await Promise.all([...Array.from({ length: 30 }, reader), ...probes])
  for (const [url, statuses] of Object.entries(others)) {
    t.ok(statuses.length > 50, `${url}: ${statuses.length} requests`)
    t.strictSame(new Set(statuses), new Set([200]), url)
  }
  t.equal(await get('/v2/orders', { authorization }), 200)
  await unlock()
  t.equal(await get('/v2/products', { authorization }), 200)
})
