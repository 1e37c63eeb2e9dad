import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@concordat/postgres'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { startPGlite } from '@concordat/test-harness/pglite'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { freshSchema, onServer, schemaName, server } from './database.ts'

type OpenOptions = Parameters<typeof openDatabase>[0]

const ignore = () => {}
const named = (name: string) => `${server}${server.includes('?') ? '&' : '?'}application_name=${name}`
const breaking = 'SELECT pg_terminate_backend(pg_backend_pid())'

/** Both kinds of database: PostgreSQL only if a server is configured. Migrations create schemas, so each database has one of its own. */
const places: readonly (readonly [kind: string, place: OpenOptions])[] = [
  ['PGlite', { folder: 'memory://' }],
  ...(server === '' ? [] : [['PostgreSQL', { url: server }] as const])
]

async function open(t: Test, options: OpenOptions): Promise<OpenDatabase> {
  const database = await openDatabase(options)
  t.teardown(() => database.close())
  return database
}

async function failing(database: OpenDatabase): Promise<void> {
  await database.query('SELECT missing_column')
}

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

for (const [kind, place] of places) {
  const database = await openDatabase(place)
  t.teardown(() => database.close())
  t.test(`prepares the database before it is used, on ${kind}`, async (t) => {
    const schema = kind === 'PGlite' ? schemaName() : freshSchema(t)
    const oaks = { component: 'trees', version: 1, statements: ['CREATE TABLE {schema}.trees (name text)'] }
    const prepared = await open(t, {
      ...place,
      async prepare(opened) {
        await migrate(opened.postgres, [oaks], { schema })
        await opened.query(`INSERT INTO ${schema}.trees VALUES ($1)`, ['oak'])
      }
    })
    t.strictSame(await prepared.query(`SELECT name FROM ${schema}.trees`), [{ name: 'oak' }])
  })

  t.test(`returns decimals as strings, timestamps in UTC, and omits NULL values, on ${kind}`, async (t) => {
    const sql = `SELECT 12.50::numeric AS amount, '2026-01-02T03:04:05.678+02:00'::timestamptz AS at, 5::bigint AS big, NULL AS nothing, '' AS empty`
    t.strictSame(await database.query(sql), [{ amount: '12.50', at: '2026-01-02T01:04:05.678Z', big: 5, empty: '' }])
  })

  t.test(`is checked, on ${kind}`, async (t) => {
    await t.resolves(database.check())
  })

  t.test(`commits a transaction, and rolls back one that throws or ignores the error of a statement, on ${kind}`, async (t) => {
    const schema = kind === 'PGlite' ? schemaName() : freshSchema(t)
    const created = await database.transaction(async (transaction) => {
      await transaction.query(`CREATE SCHEMA ${schema}`)
      await transaction.query(`CREATE TABLE ${schema}.trees (name text)`)
      return 'created'
    })
    t.equal(created, 'created')
    const failed = database.transaction(async (transaction) => {
      await transaction.query(`INSERT INTO ${schema}.trees VALUES ('oak')`)
      throw new Error('changed my mind')
    })
    await t.rejects(failed, { message: 'changed my mind' })
    const swallowed = database.transaction(async (transaction) => {
      await transaction.query('SELECT 1 / 0').catch(ignore)
      return 'done'
    })
    await t.rejects(swallowed, { message: /rolled back/ })
    t.strictSame(await database.query(`SELECT name FROM ${schema}.trees`), [])
  })

  t.test(`opens a queue in the same database, on ${kind}`, async (t) => {
    const schema = kind === 'PGlite' ? schemaName() : freshSchema(t)
    const queue = await database.openQueue({ schema })
    await queue.define('work')
    const begun: unknown[] = []
    queue.work(
      'work',
      async ({ payload }) => {
        begun.push(payload)
        return { done: true }
      },
      { concurrency: 1 }
    )
    await queue.enqueue('work', [{ payload: 1 }])
    await until(() => begun.length === 1)
    await queue.close()
    t.strictSame(begun, [1])
  })
}

t.test('rejects when neither a URL nor a folder is set', async (t) => {
  await t.rejects(openDatabase({}), {
    name: 'TypeError',
    message: 'postgres: options.url or options.folder is required: the URL of a PostgreSQL server, or a folder for PGlite.'
  })
})

t.test('retains what was written in a folder, and only one process at a time can use it', async (t) => {
  const folder = join(emptyFolder(t), 'new')
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => openDatabase({ folder })))
  const [first] = outcomes.filter((outcome) => outcome.status === 'fulfilled')
  const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
  t.strictSame(
    refusals.map(({ reason }) => String(reason)),
    Array(4).fill(`Error: postgres: the folder ${folder} is in use by another process. Stop that process, or use another folder.`)
  )
  await first?.value.query('CREATE TABLE trees (name text)')
  await first?.value.close()
  const second = await openDatabase({ folder })
  t.strictSame(await second.query('SELECT name FROM trees'), [])
  await second.close()
})

t.test('makes a folder with its parents, also when another call does, and rejects where a folder cannot be', async (t) => {
  const folder = emptyFolder(t)
  const [one, other] = await Promise.allSettled([1, 2].map(() => openDatabase({ folder: join(folder, 'a', 'b') })))
  t.strictSame([one?.status, other?.status].toSorted(), ['fulfilled', 'rejected'], 'one of them has the lock')
  for (const result of [one, other]) if (result?.status === 'fulfilled') await result.value.close()
  await writeFile(join(folder, 'file'), '')
  await t.rejects(openDatabase({ folder: join(folder, 'file') }), { code: 'EEXIST' })
  await t.rejects(openDatabase({ folder: join(folder, 'file', 'below') }), { code: 'ENOTDIR' })
  if (process.platform === 'linux') await t.rejects(openDatabase({ folder: '/proc/orders' }), { code: /ENOENT|EACCES/ })
})

t.test('unlocks a folder that cannot be opened or prepared, so that it works after it is repaired', async (t) => {
  const folder = join(emptyFolder(t), 'data')
  await (await startPGlite(folder)).close()
  await t.rejects(openDatabase({ folder, prepare: failing }), /missing_column/)
  const file = join(folder, 'PG_VERSION')
  const version = await readFile(file)
  await writeFile(file, 'none')
  await t.rejects(openDatabase({ folder }), { message: `postgres: the database in the folder ${folder} cannot be opened: ` })
  await rm(file)
  const before = await readdir(folder)
  await t.rejects(openDatabase({ folder }), {
    message: `postgres: the folder ${folder} has files but is not a database, because PG_VERSION is missing. Restore it from a backup, or use an empty folder.`
  })
  t.strictSame(await readdir(folder), before, 'nothing was written')
  await writeFile(file, version)
  const database = await openDatabase({ folder })
  t.strictSame(await database.query('SELECT 1 AS one'), [{ one: 1 }])
  await database.close()
  await rm(folder, { recursive: true })
  await t.rejects(openDatabase({ folder: join(import.meta.filename, 'folder') }), { code: 'ENOTDIR' })
})

t.test('limits the time of statements and names the connections, except that preparations have no time limit', onServer, async (t) => {
  const limits = `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
    current_setting('application_name') AS name`
  let prepared: object[] = []
  const prepare = async (opened: OpenDatabase) => void (prepared = await opened.query(limits))
  const database = await open(t, { url: named('trees'), maxConnections: 1, prepare })
  t.strictSame(prepared, [{ statement: '0', lock: '0', name: 'trees' }])
  t.strictSame(await database.query(limits), [{ statement: '10s', lock: '5s', name: 'trees' }])
  const process = 'SELECT pg_backend_pid() AS pid'
  const [one, other] = await Promise.all([database.query(process), database.query(process)])
  t.strictSame(one, other, 'both used the one connection')
})

t.test('is checked, listens and deletes on other connections than those of requests', onServer, async (t) => {
  const database = await open(t, { url: server, maxConnections: 1 })
  const heard = Promise.withResolvers<string>()
  const end = await database.transaction(async (transaction) => {
    t.match(await transaction.query('SELECT 1 AS one'), [{ one: 1 }], 'the only connection for requests is in use')
    await Promise.all([database.check(), database.check()])
    const channel = schemaName()
    const end = await database.postgres.listen(channel, { onMessage: heard.resolve, onLost: ignore })
    await database.postgres.background.query('SELECT pg_notify($1, $2)', [channel, 'news'])
    return end
  })
  t.equal(await heard.promise, 'news')
  await end()
})

t.test('rejects a check with a 503 while the database cannot be reached, and not any more when it can', onServer, async (t) => {
  const name = schemaName()
  const administrator = await open(t, { url: server })
  await administrator.query(`CREATE DATABASE ${name} ALLOW_CONNECTIONS false`)
  const database = await openDatabase({ url: Object.assign(new URL(server), { pathname: `/${name}` }).href })
  await t.rejects(database.check(), { statusCode: 503, code: 'SERVICE_UNAVAILABLE', cause: { code: '55000' } })
  await administrator.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  await t.resolves(database.check())
  await database.close()
  await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`)
})

t.test('rejects a check while the database is read-only, and recognizes the errors of refused writes', onServer, async (t) => {
  const name = schemaName()
  const administrator = await open(t, { url: server })
  await administrator.query(`CREATE DATABASE ${name}`)
  await administrator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  const database = await openDatabase({ url: Object.assign(new URL(server), { pathname: `/${name}` }).href })
  await t.rejects(database.check(), { statusCode: 503, cause: { message: 'postgres: the database is read-only.' } })
  const failed = await database.query('CREATE TABLE trees ()').catch((error: unknown) => error)
  t.ok(database.refusesWrites(failed))
  t.ok(database.refusesWrites(new Error('wrapped', { cause: failed })))
  t.notOk(database.refusesWrites(await database.query('SELECT missing').catch((error: unknown) => error)))
  t.notOk(database.refusesWrites(undefined))
  await database.close()
  await administrator.query(`DROP DATABASE ${name} WITH (FORCE)`)
})

t.test('a check is busy, and does not fail, while its connections are in use', onServer, async (t) => {
  const database = await open(t, { url: server })
  const opened = await Promise.all(Array.from({ length: 5 }, async () => database.postgres.background.open({})))
  t.equal(await database.check(), 'busy')
  for (const { session } of opened) await session.rollback()
  t.equal(await database.check(), 'available')
})

t.test('a check in a folder is busy while a transaction is open', async (t) => {
  const database = await open(t, { folder: 'memory://' })
  await database.transaction(async () => t.equal(await database.check(), 'busy'))
  t.equal(await database.check(), 'available')
})

t.test('closes the connection of a preparation that fails', onServer, async (t) => {
  const name = schemaName()
  await t.rejects(openDatabase({ url: named(name), prepare: failing }), /missing_column/)
  const database = await open(t, { url: server })
  const count = 'SELECT count(*) FROM pg_stat_activity WHERE application_name = $1'
  await until(async () => (await database.query<{ count: number }>(count, [name]))[0]?.count === 0)
})

t.test('rejects with a 503 only the work whose connection breaks', onServer, async (t) => {
  const reported: unknown[] = []
  const database = await open(t, { url: server, onError: (error) => reported.push(error) })
  const unavailable = { statusCode: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '2' } }
  await t.rejects(database.query(breaking), { ...unavailable, cause: { code: '57P01' } }, 'the server is the cause')
  const broken = database.transaction(async (transaction) => {
    await transaction.query(breaking).catch(ignore)
    await transaction.query('SELECT 1')
  })
  await t.rejects(broken, unavailable)
  t.strictSame(await database.query('SELECT 1 AS one'), [{ one: 1 }])
  t.strictSame(reported, [])
})

t.test('reports a connection that breaks while nothing uses it', onServer, async (t) => {
  const reported: unknown[] = []
  const database = await open(t, { url: server, onError: (error) => reported.push(error) })
  const [connection] = await database.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  await (await open(t, { url: server })).query('SELECT pg_terminate_backend($1)', [connection?.pid])
  await until(() => reported.length > 0)
  t.match(reported, [{ code: '57P01' }])
})

t.test('rejects with a 503 while the server refuses connections to the database', onServer, async (t) => {
  const name = schemaName()
  const administrator = await open(t, { url: server })
  await administrator.query(`CREATE DATABASE ${name} ALLOW_CONNECTIONS false`)
  const database = await openDatabase({ url: Object.assign(new URL(server), { pathname: `/${name}` }).href })
  await t.rejects(database.query('SELECT 1'), { statusCode: 503, code: 'SERVICE_UNAVAILABLE', cause: { code: '55000' } })
  await database.close()
  await administrator.query(`DROP DATABASE ${name}`)
})
