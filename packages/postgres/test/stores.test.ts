import {
  apiKeyStoreContract,
  createApiKey,
  refreshTokenStoreContract,
  revocationFeed,
  revocationStoreContract
} from '@concordat/authentication'
import { migrate } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeys } from '@concordat/postgres/api-keys'
import { postgresRefreshTokens, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations, revocationMigrations } from '@concordat/postgres/revocations'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer } from './database.ts'

const hour = 3_600_000
const all = [...apiKeyMigrations, ...refreshTokenMigrations, ...revocationMigrations]
const killNamed = 'SELECT pg_terminate_backend(pid)::text AS json FROM pg_stat_activity WHERE application_name = $1'

async function prepared(t: Test, settings = {}) {
  const schema = freshSchema(t)
  const [one, two] = [connect(t, settings), connect(t, settings)]
  await migrate(one.database, all, { schema })
  return { schema, one, two }
}

t.test('refresh tokens on PostgreSQL, raced by two pools', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  refreshTokenStoreContract(
    casesOf(t),
    () => postgresRefreshTokens(one.database, { schema }),
    () => postgresRefreshTokens(two.database, { schema })
  )
})

t.test('revocations on PostgreSQL, told to another pool', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  revocationStoreContract(
    casesOf(t),
    () => postgresRevocations(one.database, { schema }),
    () => postgresRevocations(two.database, { schema })
  )
})

t.test('API keys on PostgreSQL', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  // What one process adds, another finds.
  const [here, there] = [postgresApiKeys(one.database, { schema }), postgresApiKeys(two.database, { schema })]
  apiKeyStoreContract(casesOf(t), () => ({ ...here, find: (id) => there.find(id) }))
})

t.test('a service’s own type parsers change nothing', onServer, async (t) => {
  const text = 25
  const types = { getTypeParser: (type: number) => (value: string) => (type === text ? value : `parsed ${value}`) }
  const { schema, one } = await prepared(t, { types })
  const store = postgresRevocations(one.database, { schema })
  const revocation = { kind: 'subject', id: 'u1', issuedBefore: 5, until: Date.now() + hour } as const
  await store.revoke(revocation)
  t.strictSame((await store.read()).revocations, [revocation])
})

t.test('refresh tokens on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  refreshTokenStoreContract(casesOf(t), () => postgresRefreshTokens(database, { schema }))
})

t.test('revocations on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  revocationStoreContract(casesOf(t), () => postgresRevocations(database, { schema }))
})

t.test('API keys on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  apiKeyStoreContract(casesOf(t), () => postgresApiKeys(database, { schema }))
})

t.test('what is over is deleted by and by', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  const count = async (table: string) => (await database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.${table}`))[0]
  const tokens = postgresRefreshTokens(database, { schema })
  const family = { id: 'f1', handle: 'h1', subject: 'u1', beganAt: 0, expiresAt: hour }
  await tokens.begin(family, 'a', hour)
  await tokens.begin({ ...family, id: 'f2', handle: 'h2', beganAt: 24 * hour, expiresAt: 25 * hour }, 'a', hour)
  t.equal(await count('refresh_families'), 2, 'one that has just ended is still told from one that never was')
  await tokens.begin({ ...family, id: 'f3', handle: 'h3', beganAt: 26 * hour, expiresAt: 27 * hour }, 'a', hour)
  t.equal(await count('refresh_families'), 2)
  const revocations = postgresRevocations(database, { schema })
  await revocations.revoke({ kind: 'token', id: 'a', until: 1 })
  await revocations.revoke({ kind: 'token', id: 'a', until: 2 })
  t.equal(await count('revocations'), 1)
  await revocations.revoke({ kind: 'token', id: 'b', until: 2 })
  t.equal(await count('revocations'), 1)
  const keys = postgresApiKeys(database, { schema })
  const ends = [1, Date.now() - hour, undefined]
  for (const expiresAt of ends) await keys.add(createApiKey({ client: 'kiosk', permissions: [], expiresAt }).record)
  t.equal(await count('api_keys'), 2, 'one that has ended an hour ago is still there, for services whose clock is late')
})

t.test('revocations: one that commits late is not missed by whoever has looked in between', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  const store = postgresRevocations(two.database, { schema })
  const [late, early] = ['late', 'early'].map((id) => ({ kind: 'token', id, until: Date.now() + hour }) as const)
  const page = await one.database.transaction(async (queries) => {
    await postgresRevocations({ ...one.database, query: (...told) => queries.query(...told) }, { schema }).revoke(
      late as typeof early & object
    )
    await store.revoke(early as typeof late & object)
    return store.read()
  })
  t.strictSame(page.revocations, [early])
  t.ok((await store.read(page.cursor)).revocations.some(({ id }) => id === 'late'))
})

t.test('a cursor of another database, or of a future that was lost, reads everything', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  const store = postgresRevocations(database, { schema })
  await store.revoke({ kind: 'token', id: 'a', until: Date.now() + hour })
  t.equal((await store.read('9223372036854775807')).revocations.length, 1)
  t.equal((await store.read("0'; DROP SCHEMA x; --")).revocations.length, 1)
})

t.test('a revocation on one connection is known on another within a second, by the notice alone [U4]', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  const [here, there] = [one, two].map(({ database }) =>
    revocationFeed({ store: postgresRevocations(database, { schema }), pollSeconds: 60 })
  )
  if (here === undefined || there === undefined) return
  await Promise.all([here.start(), there.start()])
  t.teardown(() => Promise.all([here.close(), there.close()]))
  const started = performance.now()
  await here.revoke({ kind: 'session', id: 's1', until: Date.now() + hour })
  await until(() => there.isRevoked({ sub: 'u1', iat: 0, sid: 's1' }))
  t.comment(`${Math.round(performance.now() - started)} ms`)
})

t.test('with its connections killed again and again the feed grows stale, and heals by itself [U4]', onServer, async (t) => {
  const { schema, one } = await prepared(t)
  const cut = connect(t, { application_name: schema })
  const feed = revocationFeed({ store: postgresRevocations(cut.database, { schema }), pollSeconds: 0.05, timeoutSeconds: 0.5 })
  t.teardown(() => feed.close())
  await feed.start()
  await until(() => feed.staleMilliseconds < 1000)
  // As long as the table is locked nothing can be read, and whoever waits for it is cut off.
  await one.database.transaction(async (queries) => {
    await queries.query(`LOCK TABLE ${schema}.revocations IN ACCESS EXCLUSIVE MODE`)
    await until(async () => {
      await one.database.query(killNamed, [schema])
      return feed.staleMilliseconds >= 1000 && cut.errors.length > 0
    })
    const store = postgresRevocations({ ...one.database, query: (...told) => queries.query(...told) }, { schema })
    await store.revoke({ kind: 'session', id: 's1', until: Date.now() + hour })
  })
  await until(() => feed.staleMilliseconds < 500 && feed.isRevoked({ sub: 'u1', iat: 0, sid: 's1' }))
  t.comment(`${cut.errors.length} connections were killed`)
})

t.test('a subscription whose connection is killed is made anew and hears again', onServer, async (t) => {
  const { schema, one } = await prepared(t)
  const cut = connect(t, { application_name: schema })
  const store = postgresRevocations(cut.database, { schema })
  const lost = Promise.withResolvers<void>()
  const end = await store.subscribe(() => {}, lost.resolve)
  await one.database.query(killNamed, [schema])
  await lost.promise
  await end()
  const woken = Promise.withResolvers<void>()
  const endAgain = await store.subscribe(woken.resolve, () => {})
  await postgresRevocations(one.database, { schema }).revoke({ kind: 'token', id: 'a', until: Date.now() + hour })
  await woken.promise
  await endAgain()
})
