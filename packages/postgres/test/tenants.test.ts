import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromPGlite, fromPool, type Migration, migrate } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { fileMigrations, postgresFileStore } from '@concordat/postgres/files'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { storeMigrations } from '@concordat/postgres/stores'
import { table } from '@concordat/postgres/table'
import { transactionPool } from '@concordat/postgres/transaction-pool'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { freshRoles } from '@concordat/test-harness/database-roles'
import { onPgBouncer, startPgBouncer } from '@concordat/test-harness/pgbouncer'
import { startPGlite } from '@concordat/test-harness/pglite'
import { countStatements } from '@concordat/test-harness/statement-counts'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { onServer, server } from './database.ts'

const tenantSetting = 'app.tenant'
const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

/** Creates a table of which a transaction sees the rows of its tenant, and a row of each of two tenants. */
async function prepare(database: OpenDatabase) {
  await database.query('CREATE TABLE visits (tenant text NOT NULL, name text, PRIMARY KEY (tenant, name))')
  await database.query("CREATE POLICY tenant ON visits USING (tenant = (SELECT NULLIF(current_setting('app.tenant', true), '')))")
  await database.query('ALTER TABLE visits ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
  await database.query('CREATE TABLE patients (tenant text, id text, name text, PRIMARY KEY (tenant, id))')
  await database.query("CREATE POLICY tenant ON patients USING (tenant = (SELECT NULLIF(current_setting('app.tenant', true), '')))")
  await database.query('ALTER TABLE patients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY')
}

async function seed(database: OpenDatabase) {
  for (const tenant of ['a', 'b'])
    await database.asTenant(tenant, (statements) => statements.query('INSERT INTO visits VALUES ($1, $2)', [tenant, `visit of ${tenant}`]))
  return database
}

type Kind = 'PGlite' | 'PostgreSQL' | 'PgBouncer'
const kinds: readonly (readonly [Kind, { skip?: string }])[] = [
  ['PGlite', {}],
  ['PostgreSQL', onServer],
  ['PgBouncer', onPgBouncer]
]

/** Opens a database whose role is bound by policies. */
async function open(t: Test, kind: Kind): Promise<OpenDatabase> {
  if (kind === 'PGlite') return closedAfter(t, await openDatabase({ folder: 'memory://', tenantSetting, prepare }))
  const { owner } = await freshRoles(t, server)
  const database = closedAfter(t, await openDatabase({ url: owner, tenantSetting, prepare, maxConnections: 2 }))
  if (kind === 'PostgreSQL') return database
  const bouncer = await startPgBouncer(owner, ignored)
  t.teardown(() => bouncer.stop())
  return closedAfter(t, await openDatabase({ url: bouncer.url, tenantSetting, maxConnections: 6 }))
}

function closedAfter(t: Test, database: OpenDatabase) {
  t.teardown(() => database.close())
  return database
}

/** Starts a service whose requests have the tenant of a header. Authentication finds it in the credential. */
async function start(t: Test, database: OpenDatabase, routes: (app: FastifyInstance) => void) {
  const app = Fastify({ handlerTimeout: 10_000 })
  t.teardown(() => app.close())
  app.decorateRequest('tenant', undefined)
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { tenant: request.headers['x-tenant'] })
  })
  await app.register(unitOfWork, { database: database.postgres })
  routes(app)
  await app.ready()
  return (url: string, tenant?: string, method: 'GET' | 'POST' = 'GET') =>
    app.inject({ method, url, headers: tenant === undefined ? {} : { 'x-tenant': tenant } })
}

const all = 'SELECT name FROM visits ORDER BY name'
const namesIn = async (client: { query: FastifyRequest['reads']['query'] }) =>
  (await client.query<{ name: string }>(all)).rows.map(({ name }) => name)
const codeOf = (error: unknown) => (error as { code?: unknown }).code

for (const [kind, options] of kinds) {
  t.test(`on ${kind}`, options, async (t) => {
    const database = await seed(await open(t, kind))
    await t.test('each request sees the rows of its tenant only', async (t) => {
      const send = await start(t, database, (app) => {
        app.get('/reads', async ({ reads }) => namesIn(reads))
        app.get('/transaction', { config: { transaction: true } }, async ({ transaction }) => namesIn(transaction))
        app.get('/own', async () => database.transaction(async (statements) => statements.query(all)))
        app.get('/outside', async () => database.query(all).catch(codeOf))
        app.get('/store', async () => database.postgres.query(`SELECT to_json(name)::text AS json FROM visits`))
        app.get('/another', async () => database.asTenant('b', async ({ client }) => namesIn(client)))
        app.post('/reads', async ({ reads }) => reads.query('DELETE FROM visits').catch(codeOf))
        app.get('/wrong', async ({ reads }) => reads.query('SELECT nothing').catch(codeOf))
        app.get('/savepoint', { config: { transaction: true } }, async ({ transaction }) => {
          await transaction.query('SAVEPOINT one')
          await transaction.query('SELECT nothing').catch(() => {})
          await transaction.query('ROLLBACK TO SAVEPOINT one')
          return namesIn(transaction)
        })
        app.get('/data-layer', { config: { transaction: true } }, async ({ transaction }) => {
          const client = await transactionPool(transaction).connect()
          await client.query('BEGIN')
          await client.query('SELECT nothing').catch(() => {})
          await client.query('ROLLBACK')
          return (await client.query(all)).rows
        })
        app.get('/open', { config: { transaction: true } }, async ({ transaction, reads }) => {
          await transaction.query('SELECT')
          return namesIn(reads).catch(codeOf)
        })
      })
      const results = async (url: string, tenant?: string, method?: 'POST') => (await send(url, tenant, method)).json()
      for (const url of ['/reads', '/transaction', '/savepoint']) {
        t.strictSame(await results(url, 'a'), ['visit of a'], url)
        t.strictSame(await results(url), [], `${url} without a tenant`)
      }
      for (const url of ['/own', '/data-layer']) t.strictSame(await results(url, 'b'), [{ name: 'visit of b' }], url)
      t.strictSame(await results('/outside'), [])
      t.equal((await send('/outside', 'a')).body, 'TRANSACTION_REQUIRED')
      t.strictSame(await results('/store', 'a'), [])
      t.strictSame(await results('/another', 'a'), ['visit of b'])
      t.equal((await send('/reads', 'a', 'POST')).body, '25006')
      t.equal((await send('/wrong', 'a')).body, '42703')
      t.equal((await send('/open', 'a')).body, 'TRANSACTION_REQUIRED')
      const many = Array.from(
        { length: 60 },
        (_, index) => [['/reads', '/transaction', '/wrong'][index % 3] ?? '', 'ab'[index % 2]] as const
      )
      const bodies = await Promise.all(many.map(async ([url, tenant]) => [url, tenant, (await send(url, tenant)).body]))
      t.strictSame(
        bodies,
        many.map(([url, tenant]) => [url, tenant, url === '/wrong' ? '42703' : JSON.stringify([`visit of ${tenant}`])])
      )
      t.strictSame(await results('/reads'), [])
    })

    await t.test('an injected request has its own tenant, and never joins the transaction of another one', async (t) => {
      const send = await start(t, database, (app) => {
        const inner = (tenant: string, url: string) => app.inject({ url, headers: { 'x-tenant': tenant } })
        app.get('/inner', { config: { transaction: true } }, async ({ transaction }) => namesIn(transaction))
        app.get('/inner-reads', async ({ reads }) => namesIn(reads))
        app.get('/inner-own', async () => database.transaction(({ client }) => namesIn(client)))
        app.get<{ Params: { tenant: string } }>('/joining/:tenant', { config: { transaction: true } }, async (request) => {
          await request.transaction.query('SELECT')
          return (await inner(request.params.tenant, '/inner')).json()
        })
        app.get('/around/:url', async (request) => (await inner('b', `/${(request.params as { url: string }).url}`)).json())
      })
      t.strictSame((await send('/joining/a', 'a')).json(), ['visit of a'])
      t.match((await send('/joining/b', 'a')).json(), { code: 'TRANSACTION_TENANT_DIFFERS' })
      for (const url of ['inner', 'inner-reads', 'inner-own']) t.strictSame((await send(`/around/${url}`, 'a')).json(), ['visit of b'], url)
    })

    await t.test('stores read and write in a request with a tenant, whose policies they do not need', async (t) => {
      await migrate(database.postgres, [...auditTrailMigrations, ...fileMigrations])
      const [{ source }, files] = [postgresAuditTrailStore(database.postgres), postgresFileStore(database.postgres)]
      const send = await start(t, database, (app) => {
        app.get('/records', async () => ('client' in source ? (await source.client.query(`SELECT id FROM ${source.table}`, [])).rows : []))
        app.get('/files', async () => files.delete([randomUUID()]))
      })
      for (const url of ['/records', '/files']) t.equal((await send(url, 'a')).statusCode, 200, url)
    })

    await t.test('a row with the tenant in its key is put, and that of another tenant stays', async (t) => {
      const patients = table<{ id: string; name: string }, 'tenant'>(
        { name: 'patients', id: 'id', fields: new Set(['id', 'name']) },
        { hasVersion: false, columns: { tenant: 'tenant' } }
      )
      const put = (tenant: string, name: string) =>
        database.asTenant(tenant, (rows) =>
          patients.put(rows, { tenant, id: 'one' }, { name }, { createOnly: false, versions: () => null, failed: Error })
        )
      t.match(await put('a', 'Ada'), { row: { id: 'one', name: 'Ada' }, isCreated: true })
      t.match(await put('b', 'Bea'), { isCreated: true })
      t.match(await put('a', 'Max'), { row: { name: 'Max' }, isCreated: false })
      t.match(await database.asTenant('b', (rows) => patients.find(rows, { id: 'one' })), { name: 'Bea' })
    })

    await t.test('work of a tenant outside requests is committed or rolled back, and a malformed tenant is refused', async (t) => {
      await t.rejects(
        database.asTenant('a', async (statements) => {
          await statements.query("INSERT INTO visits VALUES ('a', 'new')")
          throw new Error('no')
        }),
        { message: 'no' }
      )
      await t.rejects(
        database.asTenant('a', (statements) => statements.query("INSERT INTO visits VALUES ('b', 'new')")),
        { code: '42501' }
      )
      t.strictSame(await database.asTenant('a', (statements) => statements.query(all)), [{ name: 'visit of a' }])
      t.strictSame(await database.asTenant('z', (statements) => statements.query('DELETE FROM visits RETURNING name')), [])
      // After a transaction that set it, the setting is the empty text, and not null.
      t.strictSame(await database.query(all), [])
      for (const tenant of [undefined, null, '', "a'", 'a b', 'a'.repeat(65), 7, ['a'], { a: 1 }, 'ü', 'a\n']) {
        const work = () => t.fail('the work ran')
        await t.rejects(
          database.asTenant(tenant as string, async () => work()),
          {
            name: 'TypeError',
            message:
              /^postgres: the tenant must have 1 to 64 letters, digits, _ and -, but is .+\. Pass the tenant that was stored with the work\.$/
          }
        )
      }
      t.strictSame(await database.asTenant('-_Z9'.repeat(16), (statements) => statements.query(all)), [])
    })
  })
}

t.test('a request with a tenant needs as many round trips as one without', onServer, async (t) => {
  const { owner } = await freshRoles(t, server)
  const { counts, url } = await countStatements(t, owner)
  const direct = await openDatabase({ url: owner, tenantSetting, prepare })
  await direct.close()
  const database = await seed(closedAfter(t, await openDatabase({ url, tenantSetting, maxConnections: 1 })))
  const send = await start(t, database, (app) => {
    app.get('/one', async ({ reads }) => namesIn(reads))
    app.get('/two', async ({ reads }) => [await namesIn(reads), await namesIn(reads)])
    app.get('/transaction', { config: { transaction: true } }, async ({ transaction }) => namesIn(transaction))
  })
  for (const [path, expected] of Object.entries({ '/one': 1, '/two': 2, '/transaction': 3 })) {
    for (const tenant of [undefined, 'a']) {
      counts.trips = 0
      t.equal((await send(path, tenant)).statusCode, 200)
      t.equal(counts.trips, expected, `${path} ${tenant}`)
    }
  }
})

t.test('a service whose role policies do not bind does not start', async (t) => {
  const engine = await startPGlite()
  t.teardown(() => engine.close())
  const databases = [
    [fromPGlite(engine, { tenantSetting }), /the role "postgres", .+Open PGlite with openDatabase/],
    ...(server === ''
      ? []
      : [[closedAfter(t, await openDatabase({ url: server, tenantSetting })).postgres, /Connect as an ordinary role\.$/] as const])
  ] as const
  for (const [database, message] of databases) {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(unitOfWork, { database })
    await t.rejects(async () => app.ready(), { name: 'TypeError', message })
  }
  await engine.exec('CREATE ROLE service; SET ROLE service')
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database: fromPGlite(engine, { tenantSetting }) })
  await app.ready()
})

t.test('refuses a setting that is not a name, a pool that waits for each statement, and work without a setting', async (t) => {
  const pool = new Pool({ pipeline: true })
  for (const wrong of ['tenant', 'App.tenant', "app.tenant'", 'app.a.b', ''])
    t.throws(() => fromPool(pool, { tenantSetting: wrong }), {
      name: 'TypeError',
      message: /^postgres: options\.tenantSetting ".*" must be two names/
    })
  t.throws(() => fromPool(new Pool(), { tenantSetting }), { name: 'TypeError', message: /new Pool\(\{ pipeline: true \}\)/ })
  const plain = await openDatabase({ folder: 'memory://' })
  t.teardown(() => plain.close())
  await t.rejects(
    plain.asTenant('a', async () => {}),
    { name: 'TypeError', message: /Set tenantSetting/ }
  )
  t.strictSame((await plain.postgres.reads('a').query('SELECT 1 AS one')).rows, [{ one: 1 }])
  // A second pool has no tenants: it is for work that belongs to none.
  t.equal(fromPool(pool, { tenantSetting, background: new Pool() }).background.tenantSetting, undefined)
})

t.test('a read whose connection fails is 503, and the next one has another connection', onServer, async (t) => {
  const { owner } = await freshRoles(t, server)
  const database = await seed(closedAfter(t, await openDatabase({ url: owner, tenantSetting, prepare, maxConnections: 1 })))
  const reads = database.postgres.reads('a')
  await t.rejects(reads.query('SELECT pg_terminate_backend(pg_backend_pid())'), { statusCode: 503, code: 'SERVICE_UNAVAILABLE' })
  t.strictSame(await namesIn(reads), ['visit of a'])
})

t.test('PGlite continues as an ordinary role, also with what a superuser has created before', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const tree: Migration = { component: 'trees', version: 1, statements: ['CREATE TABLE {schema}.trees (name text)'] }
  const before = await openDatabase({
    folder,
    async prepare(database) {
      await migrate(database.postgres, storeMigrations)
      await prepare(database)
      for (const statement of [
        'CREATE SCHEMA own',
        "CREATE TYPE own.mood AS ENUM ('good')",
        'CREATE DOMAIN own.short AS varchar(9)',
        'CREATE TABLE own.things (id integer GENERATED ALWAYS AS IDENTITY, other serial, mood own.mood)',
        'CREATE SEQUENCE own.numbers',
        'CREATE VIEW own.moods AS SELECT mood FROM own.things',
        'CREATE MATERIALIZED VIEW own.kept AS SELECT mood FROM own.things',
        'CREATE FUNCTION own.one() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$'
      ])
        await database.query(statement)
      const queue = await database.openQueue()
      await queue.define('greetings')
      await queue.close()
    }
  })
  await before.close()
  for (let start = 0; start < 2; start += 1) {
    const database = await openDatabase({ folder, tenantSetting, prepare: ({ postgres }) => migrate(postgres, [...storeMigrations, tree]) })
    if (start === 0) await seed(database)
    t.strictSame(await database.query('SELECT current_user AS role, rolsuper AS super FROM pg_roles WHERE rolname = current_user'), [
      { role: 'concordat_service', super: false }
    ])
    t.strictSame(await database.query(all), [])
    t.strictSame(await database.asTenant('b', (statements) => statements.query(all)), [{ name: 'visit of b' }])
    await database.query('CREATE OR REPLACE FUNCTION own.one() RETURNS integer LANGUAGE sql AS $$ SELECT 2 $$')
    await database.query("ALTER TYPE own.mood ADD VALUE IF NOT EXISTS 'bad'")
    await database.query('ALTER SEQUENCE own.numbers RESTART')
    await database.query('REFRESH MATERIALIZED VIEW own.kept')
    const queue = await database.openQueue()
    for (const name of ['greetings', 'farewells']) {
      await queue.define(name)
      const done = Promise.withResolvers<unknown>()
      queue.work(name, async ({ payload }) => (done.resolve(payload), { done: true }), { concurrency: 1 })
      await queue.enqueue(name, [{ payload: name }])
      t.equal(await done.promise, name)
    }
    await queue.close(0)
    t.equal(await database.check(), 'available')
    await database.close()
  }
})
