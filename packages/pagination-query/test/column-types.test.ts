// In a process of its own: index-subject.ts adds tests to that of the process.
import { preparePages, runSql } from '@concordat/pagination-query/sql'
import { startPGlite } from '@concordat/test-harness/pglite'
import { citext } from '@electric-sql/pglite/contrib/citext'
import { Pool } from 'pg'
import t from 'tap'
import { checkColumns, createThings, session } from './column-checks.ts'
import { ownDatabase } from './index-subject.ts'
import { skip } from './postgres.ts'

t.test('columns of PGlite', async (t) => {
  const pglite = await startPGlite('memory://', { citext })
  t.teardown(() => pglite.close())
  await pglite.exec(createThings())
  await pglite.exec(`set timezone = 'America/New_York'; set datestyle = 'SQL, DMY'`)
  await t.test('SQL', async (t) => checkColumns(t, pglite, (query) => runSql(pglite, query)))
})

t.test('columns of PostgreSQL', { skip }, async (t) => {
  const pool = new Pool({ connectionString: await ownDatabase(), options: session, max: 2 })
  // Their plans do not depend on the values.
  pool.on('connect', preparePages)
  t.teardown(() => pool.end())
  await pool.query(createThings())
  await t.test('SQL', async (t) => checkColumns(t, pool, (query) => runSql(pool, query)))
})
