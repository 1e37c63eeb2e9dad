import { until } from '@concordat/test-harness/until'
import type { FastifyInstance } from 'fastify'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { password, startService } from '../service.ts'
import { freshDatabase, server } from './fresh-database.ts'

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

t.test('a locked table makes no token invalid, the process stays ready, and routes of other tables are served', onServer, async (t) => {
  const place = await freshDatabase(t)
  const { app, call } = await startService(t, { place }, addWhoami)
  const send = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  const get = async (url: string, headers: Record<string, string> = {}) => (await send(url, headers)).statusCode
  const { body } = await call('POST', '/v1/tokens', { username: 'ops@example.com', password })
  const authorization = `Bearer ${body.data.accessToken}`
  const unlock = await lockProducts(t, place.databaseUrl)

  // Three times as many requests as the pool has connections wait for the table, for longer than revocations may be out of date. Those that are
  // refused immediately, because others wait already, are sent again.
  const refused = new Map<string, number>()
  let ended = 0
  const reader = async () => {
    while (ended < 30) {
      await until(async () => {
        const response = await send('/v2/products')
        t.equal(response.statusCode, 503)
        const { code } = response.json().error
        refused.set(code, (refused.get(code) ?? 0) + 1)
        return code !== 'SERVICE_OVERLOADED'
      }, 50)
      ended += 1
    }
  }
  const others: Record<string, number[]> = {
    '/whoami': [],
    '/health/ready': [],
    '/health/live': [],
    '/v1/orders': [],
    '/v2/categories': []
  }
  const probes = Object.entries(others).map(([url, statuses]) =>
    until(async () => statuses.push(await get(url, url.startsWith('/health') ? {} : { authorization })) > 0 && ended >= 30, 50)
  )
  await Promise.all([...Array.from({ length: 30 }, reader), ...probes])
  t.strictSame([...refused.keys()].toSorted(), ['SERVICE_OVERLOADED', 'SERVICE_UNAVAILABLE'])
  for (const [url, statuses] of Object.entries(others)) {
    t.ok(statuses.length > 30, `${url}: ${statuses.length} requests`)
    t.strictSame(new Set(statuses), new Set([200]), url)
  }
  await unlock()
  await until(async () => (await get('/v2/products', { authorization })) === 200)
})
