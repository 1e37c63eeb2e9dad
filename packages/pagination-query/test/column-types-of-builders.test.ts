// In a process of its own: index-subject.ts adds tests to that of the process.
import { Pool } from 'pg'
import t from 'tap'
import { checkColumns, columnNames, createThings, session } from './column-checks.ts'
import { ownDatabase } from './index-subject.ts'
import { skip } from './postgres.ts'
import { builders } from './query-builders.ts'

t.test('columns with the client of each query builder', { skip }, async (t) => {
  const pool = new Pool({ connectionString: await ownDatabase(), options: session, max: 2 })
  t.teardown(() => pool.end())
  await pool.query(createThings())
  const rows = { table: 'things', columns: ['id', ...columnNames], except: '00000000-0000-0000-0000-000000000000' }
  for (const [name, run] of Object.entries(await builders(t.teardown.bind(t), pool))) {
    // The order is that of runSql, which is tested in both directions.
    await t.test(name, async (t) => checkColumns(t, pool, (query) => run(query, rows), ['desc']))
  }
})
