import { migrate, type Postgres } from '@concordat/postgres'
import { loginAttemptMigrations, postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import { postgresRateLimitStore, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import type { Count } from '@concordat/rate-limiting'
import { inTurn, testLoginAttempts, testRateLimits } from '@concordat/test-harness/counts'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, within } from './database.ts'

const all = [...loginAttemptMigrations, ...rateLimitMigrations]
const minute = 60_000

async function onServers(t: Test) {
  const schema = freshSchema(t)
  const [one, two] = [connect(t).database, connect(t).database]
  await migrate(one, all, { schema })
  return { schema, one, two }
}

async function onPGlite() {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  return { database, schema }
}

t.test('counts rate limits on PostgreSQL while two pools compete', onServer, async (t) => {
  const { schema, one, two } = await onServers(t)
  testRateLimits(t, inTurn(postgresRateLimitStore(one, { schema }), postgresRateLimitStore(two, { schema })))
})

t.test('counts rate limits on PGlite', async (t) => {
  const { database, schema } = await onPGlite()
  testRateLimits(t, postgresRateLimitStore(database, { schema }))
})

t.test('counts sign-in attempts on PostgreSQL while two pools compete', onServer, async (t) => {
  const { schema, one, two } = await onServers(t)
  testLoginAttempts(t, postgresLoginAttemptStore(one, { schema }), postgresLoginAttemptStore(two, { schema }))
})

t.test('counts sign-in attempts on PGlite', async (t) => {
  const { database, schema } = await onPGlite()
  testLoginAttempts(t, postgresLoginAttemptStore(database, { schema }))
})

t.test('never allows more requests than the limit of each window while many calls compete and windows restart', onServer, async (t) => {
  const { schema, one, two } = await onServers(t)
  const store = inTurn(postgresRateLimitStore(one, { schema }), postgresRateLimitStore(two, { schema }))
  const counts: Count[] = []
  const startedAt = performance.now()
  const call = async () => {
    for (let n = 0; n < 100; n += 1) counts.push(await store.add('raced', 1, 5, 50))
  }
  await Promise.all(Array.from({ length: 8 }, call))
  const opened = counts.filter(({ count }) => count === 1).length
  const passed = counts.filter(({ count }) => count <= 5).length
  t.ok(passed <= 5 * opened, `${passed} passed in ${opened} windows`)
  t.ok(opened <= Math.ceil((performance.now() - startedAt) / 50) + 1, 'no window begins before the previous one has ended')
  t.ok(counts.every(({ resetMs }) => resetMs > 0 && resetMs <= 50))
})

t.test('refuses a request that waited for one that took the last place, and does not count it', onServer, async (t) => {
  const { schema, one } = await onServers(t)
  const two = connect(t, { application_name: schema }).database
  const store = postgresRateLimitStore(two, { schema })
  const waiting = `SELECT pid::text AS json FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`
  const late = await one.transaction(async (open) => {
    await postgresRateLimitStore(within(one, open), { schema }).add('a', 1, 1, minute)
    const response = Promise.resolve(store.add('a', 1, 1, minute))
    await until(async () => (await one.query(waiting, [schema])).length > 0)
    return { response }
  })
  t.equal((await late.response).count, 2)
  t.equal((await store.add('a', 1, 2, minute)).count, 2)
})

t.test('writes nothing for a request that is refused because the window is full', async (t) => {
  const { database, schema } = await onPGlite()
  const store = postgresRateLimitStore(database, { schema })
  const version = () => database.query(`SELECT to_json(xmin::text || ctid::text)::text AS json FROM ${schema}.rate_limits`)
  await store.add('a', 10, 10, minute)
  const before = await version()
  for (let n = 0; n < 3; n += 1) t.equal((await store.add('a', 1, 10, minute))?.count, 11)
  t.strictSame(await version(), before)
})

/** Waits until the table has this number of rows. */
function untilRows(database: Postgres, table: string, wanted: number) {
  return until(async () => (await database.query<number>(`SELECT count(*)::text AS json FROM ${table}`))[0] === wanted)
}

t.test('deletes expired counts in the background, in batches', async (t) => {
  const { database, schema } = await onPGlite()
  const fill = (table: string, over: string) =>
    database.query(`INSERT INTO ${schema}.${table} SELECT 'old ' || n, ${over} FROM generate_series(1, 2500) AS n`)
  await fill('rate_limits', `1, 1, now() - interval '1 second'`)
  await fill('login_attempts', '1, 0')
  const limits = postgresRateLimitStore(database, { schema })
  const attempts = postgresLoginAttemptStore(database, { schema })
  for (const left of [1501, 501, 1]) {
    await limits.add('new', 1, 10, minute)
    await untilRows(database, `${schema}.rate_limits`, left)
    await attempts.take('new', { limit: 3, windowMs: minute }, Date.now())
    await untilRows(database, `${schema}.login_attempts`, left)
  }
  t.equal((await limits.add('new', 1, 10, minute))?.count, 4)
})

t.test('retains attempts for as long as the clock of another service may be behind', async (t) => {
  const { database, schema } = await onPGlite()
  const limit = { limit: 1, windowMs: 1000 }
  await postgresLoginAttemptStore(database, { schema }).take('early', limit, 100_000)
  // Each new store sweeps with its first count.
  await postgresLoginAttemptStore(database, { schema }).take('other', limit, 100_000 + minute)
  t.equal(await postgresLoginAttemptStore(database, { schema }).take('early', limit, 100_000), 1000)
  await postgresLoginAttemptStore(database, { schema }).take('other', limit, 101_001 + minute)
  await untilRows(database, `${schema}.login_attempts`, 1)
})

t.test('continues to count when the deletion of expired counts fails', async (t) => {
  const { database, schema } = await onPGlite()
  const requested: string[] = []
  const stubborn: Postgres = {
    ...database,
    query: async (sql, params) => {
      requested.push(sql)
      if (sql.includes('DELETE')) throw new Error('canceling statement due to lock timeout')
      return database.query(sql, params)
    },
    get background() {
      return stubborn
    }
  }
  const store = postgresRateLimitStore(stubborn, { schema })
  t.equal((await store.add('a', 1, 10, minute))?.count, 1)
  t.equal((await store.add('a', 1, 10, minute))?.count, 2)
  t.equal(requested.filter((sql) => sql.includes('DELETE')).length, 1)
})
