import { createApiKey, revocationFeed } from '@concordat/authentication'
import { apiKeyStoreContract, revocationStoreContract } from '@concordat/authentication/testing'
import { fromPool, migrate } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeyStore } from '@concordat/postgres/api-keys'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore, revocationMigrations } from '@concordat/postgres/revocations'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import { refreshTokenStoreContract } from '@concordat/token-issuing/testing'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, within } from './database.ts'

const hour = 3_600_000
const all = [...apiKeyMigrations, ...refreshTokenMigrations, ...revocationMigrations]
const killNamed = 'SELECT pg_terminate_backend(pid)::text AS json FROM pg_stat_activity WHERE application_name = $1'

async function prepared(t: Test, settings = {}) {
  const schema = freshSchema(t)
  const [one, two] = [connect(t, settings), connect(t, settings)]
  await migrate(one.database, all, { schema })
  return { schema, one, two }
}

t.test('stores refresh tokens on PostgreSQL while two pools compete', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  refreshTokenStoreContract(
    casesOf(t),
    () => postgresRefreshTokenStore(one.database, { schema }),
    () => postgresRefreshTokenStore(two.database, { schema })
  )
})

t.test('stores revocations on PostgreSQL and announces them to another pool', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  revocationStoreContract(
    casesOf(t),
    () => postgresRevocationStore(one.database, { schema }),
    () => postgresRevocationStore(two.database, { schema })
  )
})

t.test('reads revocations on the second pool while requests have all connections of the first', onServer, async (t) => {
  const schema = freshSchema(t)
  const [{ pool }, { pool: background, database: second }] = [connect(t, { max: 1 }), connect(t, { max: 2 })]
  await migrate(second, all, { schema })
  const store = postgresRevocationStore(fromPool(pool, { background }), { schema })
  const news = Promise.withResolvers<void>()
  const [request, end] = await Promise.all([pool.connect(), store.subscribe(news.resolve, () => {})])
  await postgresRevocationStore(second, { schema }).revoke({ kind: 'token', id: 't1', until: Date.now() + hour })
  await news.promise
  t.match((await store.read()).revocations, [{ id: 't1' }])
  request.release()
  await end()
})

t.test('stores API keys on PostgreSQL', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  // Keys are added by one pool and found by another.
  const [here, there] = [postgresApiKeyStore(one.database, { schema }), postgresApiKeyStore(two.database, { schema })]
  apiKeyStoreContract(casesOf(t), () => ({ ...here, find: (id) => there.find(id) }))
})

t.test('returns the same values when the service sets its own type parsers', onServer, async (t) => {
  const text = 25
  const types = { getTypeParser: (type: number) => (value: string) => (type === text ? value : `parsed ${value}`) }
  const { schema, one } = await prepared(t, { types })
  const store = postgresRevocationStore(one.database, { schema })
  const revocation = { kind: 'subject', id: 'u1', issuedBefore: 5, until: Date.now() + hour } as const
  await store.revoke(revocation)
  t.strictSame((await store.read()).revocations, [revocation])
})

t.test('stores refresh tokens on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  refreshTokenStoreContract(casesOf(t), () => postgresRefreshTokenStore(database, { schema }))
})

t.test('stores revocations on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  revocationStoreContract(casesOf(t), () => postgresRevocationStore(database, { schema }))
})

t.test('stores API keys on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  apiKeyStoreContract(casesOf(t), () => postgresApiKeyStore(database, { schema }))
})

t.test('deletes expired records gradually', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  const count = async (table: string) => (await database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.${table}`))[0]
  const tokens = postgresRefreshTokenStore(database, { schema })
  const family = { id: 'f1', handle: 'h1', subject: 'u1', beganAt: 0, expiresAt: hour }
  await tokens.begin(family, 'a', hour)
  await tokens.begin({ ...family, id: 'f2', handle: 'h2', beganAt: 24 * hour, expiresAt: 25 * hour }, 'a', hour)
  t.equal(await count('refresh_families'), 2, 'a family that has just expired is still distinguished from one that never existed')
  await tokens.begin({ ...family, id: 'f3', handle: 'h3', beganAt: 26 * hour, expiresAt: 27 * hour }, 'a', hour)
  t.equal(await count('refresh_families'), 2)
  const revocations = postgresRevocationStore(database, { schema })
  await revocations.revoke({ kind: 'token', id: 'a', until: 1 })
  await revocations.revoke({ kind: 'token', id: 'a', until: 2 })
  t.equal(await count('revocations'), 1)
  await revocations.revoke({ kind: 'token', id: 'b', until: 2 })
  t.equal(await count('revocations'), 1)
  const keys = postgresApiKeyStore(database, { schema })
  const ends = [1, Date.now() - hour, undefined]
  for (const expiresAt of ends) await keys.add(createApiKey({ client: 'kiosk', permissions: [], expiresAt }).record)
  t.equal(await count('api_keys'), 2, 'a key that expired an hour ago is still stored, for services whose clock is behind')
})

t.test('returns a revocation that commits late to a reader that read the page before', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  const store = postgresRevocationStore(two.database, { schema })
  const [late, early] = ['late', 'early'].map((id) => ({ kind: 'token', id, until: Date.now() + hour }) as const)
  const page = await one.database.transaction(async (open) => {
    await postgresRevocationStore(within(one.database, open), { schema }).revoke(late as typeof early & object)
    await store.revoke(early as typeof late & object)
    return store.read()
  })
  t.strictSame(page.revocations, [early])
  t.ok((await store.read(page.cursor)).revocations.some(({ id }) => id === 'late'))
})

t.test('reads all revocations for a cursor of another database or of a lost future state', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, all, { schema })
  const store = postgresRevocationStore(database, { schema })
  await store.revoke({ kind: 'token', id: 'a', until: Date.now() + hour })
  t.equal((await store.read('9223372036854775807')).revocations.length, 1)
  t.equal((await store.read("0'; DROP SCHEMA x; --")).revocations.length, 1)
})

t.test('announces a revocation to another connection within a second, by the notification alone [U4]', onServer, async (t) => {
  const { schema, one, two } = await prepared(t)
  const [here, there] = [one, two].map(({ database }) =>
    revocationFeed({ store: postgresRevocationStore(database, { schema }), pollSeconds: 60 })
  )
  if (here === undefined || there === undefined) return
  await Promise.all([here.start(), there.start()])
  t.teardown(() => Promise.all([here.close(), there.close()]))
  const started = performance.now()
  await here.revoke({ kind: 'session', id: 's1', until: Date.now() + hour })
  await until(() => there.isRevoked({ sub: 'u1', iat: 0, sid: 's1' }))
  t.comment(`${Math.round(performance.now() - started)} ms`)
})

t.test('becomes stale while the connections of the feed are killed repeatedly, and recovers automatically [U4]', onServer, async (t) => {
  const { schema, one } = await prepared(t)
  const cut = connect(t, { application_name: schema })
  const feed = revocationFeed({ store: postgresRevocationStore(cut.database, { schema }), pollSeconds: 0.05, timeoutSeconds: 0.5 })
  t.teardown(() => feed.close())
  await feed.start()
  await until(() => feed.staleMs < 1000)
  // While the table is locked, nothing can be read, and the connections that wait for it are killed.
  await one.database.transaction(async (open) => {
    await open.query(`LOCK TABLE ${schema}.revocations IN ACCESS EXCLUSIVE MODE`)
    await until(async () => {
      await one.database.query(killNamed, [schema])
      return feed.staleMs >= 1000 && cut.errors.length > 0
    })
    const store = postgresRevocationStore(within(one.database, open), { schema })
    await store.revoke({ kind: 'session', id: 's1', until: Date.now() + hour })
  })
  await until(() => feed.staleMs < 500 && feed.isRevoked({ sub: 'u1', iat: 0, sid: 's1' }))
  t.comment(`${cut.errors.length} connections were killed`)
})

t.test('receives notifications after subscribing again when the connection of a subscription was killed', onServer, async (t) => {
  const { schema, one } = await prepared(t)
  const cut = connect(t, { application_name: schema })
  const store = postgresRevocationStore(cut.database, { schema })
  const lost = Promise.withResolvers<void>()
  const end = await store.subscribe(() => {}, lost.resolve)
  await one.database.query(killNamed, [schema])
  await lost.promise
  await end()
  const woken = Promise.withResolvers<void>()
  const endAgain = await store.subscribe(woken.resolve, () => {})
  await postgresRevocationStore(one.database, { schema }).revoke({ kind: 'token', id: 'a', until: Date.now() + hour })
  await woken.promise
  await endAgain()
})
