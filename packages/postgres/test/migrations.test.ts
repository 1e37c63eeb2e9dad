import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type Migration, migrate, migrationSql, type Postgres, readMigrations } from '@concordat/postgres'
import { apiKeyMigrations } from '@concordat/postgres/api-keys'
import { loginAttemptMigrations } from '@concordat/postgres/login-attempts'
import { rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { revocationMigrations } from '@concordat/postgres/revocations'
import { storeMigrations } from '@concordat/postgres/stores'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, server } from './database.ts'

const first: Migration = {
  component: 'trees',
  version: 1,
  statements: ['CREATE TABLE {schema}.trees (name text)', `INSERT INTO {schema}.trees VALUES ('oak')`]
}
const second: Migration = { component: 'trees', version: 2, statements: [`INSERT INTO {schema}.trees VALUES ('ash')`] }

t.test('migrates once when several processes start at the same time on an empty database, and all can use it', onServer, async (t) => {
  const schema = freshSchema(t)
  const processes = Array.from({ length: 6 }, () => connect(t).database)
  await Promise.all(processes.map((database) => migrate(database, [second, first], { schema })))
  for (const database of processes) {
    t.strictSame(await database.query(`SELECT to_json(name)::text AS json FROM ${schema}.trees`), ['oak', 'ash'])
  }
})

t.test('adds the steps of a later release, and still lets the previous release start', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, [first], { schema })
  await migrate(database, [first, second], { schema })
  await migrate(database, [first], { schema })
  t.equal((await database.query(`SELECT to_json(name)::text AS json FROM ${schema}.trees`)).length, 2)
})

t.test(
  'a migration that waits for a lock does not stop the writes of others, and is applied when the lock is free',
  onServer,
  async (t) => {
    const schema = freshSchema(t)
    const { database } = connect(t)
    await migrate(database, [first], { schema })
    const reader = await connect(t).database.open({ statements: [`SELECT json_build_object()::text AS json FROM ${schema}.trees`] })
    const alter: Migration = { component: 'trees', version: 2, statements: ['ALTER TABLE {schema}.trees ADD COLUMN height integer'] }
    let over = false
    const migrating = migrate(connect(t).database, [first, alter], { schema }).then(() => (over = true))
    const writer = connect(t).database
    await until(async () => {
      const [waiting] = await writer.query(
        `SELECT json_build_object('n', count(*))::text AS json FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE ${schema}.%'`
      )
      return (waiting as { n: number }).n > 0
    })
    await writer.query(`INSERT INTO ${schema}.trees VALUES ('elm') RETURNING to_json(name)::text AS json`)
    t.notOk(over, 'the writer did not wait for the reader')
    await reader.session.commit()
    await migrating
    await writer.query(`SELECT to_json(height)::text AS json FROM ${schema}.trees`)
  }
)

t.test('rejects when a table was never free in a hundred attempts', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let attempts = 0
  const open = async () => {
    attempts += 1
    throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
  }
  let outcome: unknown
  migrate({ open } as unknown as Postgres, [first]).catch((error: unknown) => (outcome = error))
  await until(async () => {
    mock.timers.tick(2000)
    return outcome !== undefined
  })
  t.match(outcome, { message: /could not lock a table in 100 attempts\. End the long transactions/, cause: { code: '55P03' } })
  t.equal(attempts, 100)
})

t.test('rejects when a step was changed after it was applied', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, [first], { schema })
  await t.rejects(migrate(database, [{ ...first, statements: ['SELECT 1'] }], { schema }), {
    message: /the statements of migration trees 1 differ from those that were applied to the schema \w+\./
  })
})

t.test('rejects when a step is missing before a later one', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, [{ ...second, statements: [] }], { schema })
  await t.rejects(migrate(database, [first], { schema }), { message: /migration trees 1 is missing from the schema/ })
})

t.test('rolls back a step that fails, on PGlite and on PostgreSQL', async (t) => {
  const broken: Migration = {
    component: 'trees',
    version: 2,
    statements: [`INSERT INTO {schema}.trees VALUES ('elm')`, 'SELECT missing_column']
  }
  const schema = server === '' ? (await inMemory()).schema : freshSchema(t)
  const databases = [(await inMemory()).database, ...(server === '' ? [] : [connect(t).database])]
  for (const database of databases) {
    await migrate(database, [first], { schema })
    await t.rejects(migrate(database, [first, broken], { schema }), /missing_column/)
    t.equal((await database.query(`SELECT to_json(name)::text AS json FROM ${schema}.trees`)).length, 1)
    await migrate(database, [first, second], { schema })
  }
})

t.test('rejects when the work ignores the failure of a statement', onServer, async (t) => {
  const { database } = connect(t)
  const work = database.transaction(async (queries) => {
    await queries.query('SELECT missing_column').catch(() => {})
    return 'done'
  })
  await t.rejects(work, { message: /was rolled back/ })
  t.strictSame(await database.query(`SELECT '1' AS json`), [1])
})

t.test('throws for a schema that must consist of lowercase letters', async (t) => {
  const { database } = await inMemory()
  for (const schema of ['', 'Upper', 'a"b', 'a; DROP TABLE x', 'a'.repeat(41)]) {
    await t.rejects(migrate(database, [], { schema }), /must consist of lowercase letters/)
    t.throws(() => postgresRefreshTokenStore(database, { schema }), TypeError)
  }
})

t.test('rejects listen when LISTEN fails, and releases the connection', onServer, async (t) => {
  const { database, pool } = connect(t, { max: 1 })
  await t.rejects(database.listen('a"b', { onMessage: () => {}, onLost: () => {} }))
  t.strictSame(await database.query(`SELECT '1' AS json`), [1])
  t.equal(pool.totalCount, 1)
})

t.test('applies a component after those before it in the list', async (t) => {
  const { database, schema } = await inMemory()
  const leaves: Migration = { component: 'leaves', version: 1, statements: ['CREATE TABLE {schema}.leaves (tree {schema}.tree)'] }
  const trees: Migration = { component: 'trees', version: 1, statements: ['CREATE DOMAIN {schema}.tree AS text'] }
  await t.rejects(migrate(database, [leaves, trees], { schema }), /does not exist/)
  await t.resolves(migrate(database, [trees, leaves], { schema }))
})

async function folderOf(t: Test, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

t.test('applies the numbered files of a folder, each with several statements, on PGlite and on PostgreSQL', async (t) => {
  const folder = await folderOf(t, {
    '0002-functions.sql': `CREATE FUNCTION {schema}.tallest() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        RETURN 'oak';
      END $$;
      -- The last statement has no semicolon.
      INSERT INTO {schema}.trees VALUES ({schema}.tallest())`,
    '0001-trees.sql': '-- Trees.\nCREATE TABLE {schema}.trees (name text);\nCREATE INDEX ON {schema}.trees (name);\n',
    'notes.md': 'not a migration'
  })
  const migrations = await readMigrations(folder, 'trees')
  t.strictSame(await readMigrations(pathToFileURL(`${folder}/`), 'trees'), migrations)
  t.match(migrations, [
    { component: 'trees', version: 1 },
    { component: 'trees', version: 2 }
  ])
  const databases = [await inMemory(), ...(server === '' ? [] : [{ database: connect(t).database, schema: freshSchema(t) }])]
  for (const { database, schema } of databases) {
    for (const times of ['once', 'twice']) {
      await migrate(database, migrations, { schema })
      t.strictSame(await database.query(`SELECT to_json(name)::text AS json FROM ${schema}.trees`), ['oak'], times)
    }
  }
})

t.test('rejects for a file without a number, and for two files with the same number', async (t) => {
  const unnumbered = await folderOf(t, { 'trees.sql': 'SELECT 1' })
  await t.rejects(readMigrations(unnumbered, 'trees'), {
    message: 'postgres: the name of the migration trees.sql must begin with a number. Rename it to 0001-trees.sql, with the next number.'
  })
  const twice = await folderOf(t, { '0001-ash.sql': 'SELECT 1', '0001-oak.sql': 'SELECT 1' })
  await t.rejects(readMigrations(twice, 'trees'), {
    message: 'postgres: the migration 0001-oak.sql has the same number as another file. Rename it with the next number.'
  })
})

// Tables with their columns, indexes, constraints and sequences, and what was applied.
async function contentsOf(database: Postgres, schema: string) {
  const shown = (column: string) => `replace(${column}, '${schema}', 'schema')`
  return database.query(
    `SELECT to_json(line)::text AS json FROM (
       SELECT concat_ws(' ', table_name, ordinal_position, column_name, data_type, is_nullable, ${shown('column_default')}, collation_name)
         FROM information_schema.columns WHERE table_schema = $1
       UNION ALL SELECT ${shown('indexdef')} FROM pg_indexes WHERE schemaname = $1
       UNION ALL SELECT concat_ws(' ', conname, ${shown('pg_get_constraintdef(oid)')}) FROM pg_constraint WHERE connamespace = $1::regnamespace
       UNION ALL SELECT concat_ws(' ', relname, relkind, relpersistence, reloptions) FROM pg_class WHERE relnamespace = $1::regnamespace
       UNION ALL SELECT concat_ws(' ', sequencename, max_value) FROM pg_sequences WHERE schemaname = $1
       UNION ALL SELECT concat_ws(' ', component, version, checksum) FROM ${schema}.migrations
     ) AS lines (line) ORDER BY line`,
    [schema]
  )
}

t.test('writes SQL for another migration tool that creates the same tables as migrate', onServer, async (t) => {
  const stores = [
    apiKeyMigrations,
    loginAttemptMigrations,
    rateLimitMigrations,
    refreshTokenMigrations,
    revocationMigrations,
    storeMigrations
  ]
  const commented: Migration = {
    component: "oak's",
    version: 1,
    statements: ['CREATE TABLE {schema}.oaks (name text) -- one; two', 'SELECT 1;']
  }
  const migrations = [...stores.flat(), commented]
  const { database, pool } = connect(t)
  const [migrated, executed] = [freshSchema(t), freshSchema(t)]
  await migrate(database, migrations, { schema: migrated })
  await pool.query(migrationSql(migrations, { schema: executed }))
  const contents = await contentsOf(database, migrated)
  t.ok(contents.length > 100)
  t.strictSame(await contentsOf(database, executed), contents)
  await migrate(database, migrations, { schema: executed })
  t.strictSame(await contentsOf(database, executed), contents, 'migrate has nothing left to do')
})

t.test('writes only the new steps of an update', async (t) => {
  const text = migrationSql([second])
  t.match(text, /^CREATE SCHEMA IF NOT EXISTS concordat;\nCREATE TABLE IF NOT EXISTS concordat\.migrations \(/)
  t.match(
    text,
    /\n\n-- trees 2\nINSERT INTO concordat\.trees VALUES \('ash'\);\nINSERT INTO concordat\.migrations .+ VALUES \('trees', 2, '\w{64}'\);\n$/
  )
  t.notMatch(text, 'trees 1')
  t.throws(() => migrationSql([], { schema: 'a b' }), /must consist of lowercase letters/)
})
