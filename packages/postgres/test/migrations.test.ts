import { type Migration, migrate } from '@concordat/postgres'
import { postgresRefreshTokens } from '@concordat/postgres/refresh-tokens'
import t from 'tap'
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

t.test('rejects when a step was changed after it was applied', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, [first], { schema })
  await t.rejects(migrate(database, [{ ...first, statements: ['SELECT 1'] }], { schema }), {
    message: /migration trees 1 was applied to the schema \w+ with other statements/
  })
})

t.test('rejects when a step is missing before a later one', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, [{ ...second, statements: [] }], { schema })
  await t.rejects(migrate(database, [first], { schema }), { message: /migration trees 1 was never applied/ })
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

t.test('throws for a schema that is not a plain name', async (t) => {
  const { database } = await inMemory()
  for (const schema of ['', 'Upper', 'a"b', 'a; DROP TABLE x', 'a'.repeat(41)]) {
    await t.rejects(migrate(database, [], { schema }), /is not a plain name/)
    t.throws(() => postgresRefreshTokens(database, { schema }), TypeError)
  }
})

t.test('rejects listen when LISTEN fails, and releases the connection', onServer, async (t) => {
  const { database, pool } = connect(t, { max: 1 })
  await t.rejects(database.listen('a"b', { heard: () => {}, lost: () => {} }))
  t.strictSame(await database.query(`SELECT '1' AS json`), [1])
  t.equal(pool.totalCount, 1)
})
