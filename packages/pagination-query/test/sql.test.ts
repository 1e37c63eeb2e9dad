import { randomUUID } from 'node:crypto'
import { adapterSuite } from '@concordat/pagination-query/adapter-suite'
import { runSql, type SqlClient } from '@concordat/pagination-query/sql'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import t from 'tap'
import { type Database, openSampleTable } from './sample-table.ts'

const walks = Number(process.env['WALKS'] ?? 500)

const pglite = await PGlite.create()
t.teardown(() => pglite.close())
adapterSuite(t, sqlAdapter('SQL on PGlite', pglite), { walks })

t.test('SQL on PostgreSQL', { skip: process.env['TEST_DATABASE_URL'] === undefined && 'TEST_DATABASE_URL is not set' }, async (t) => {
  const schema = `pagination_${randomUUID().replaceAll('-', '')}`
  // Neither the session's time zone nor its style of dates may show.
  const options = `-c search_path=${schema} -c timezone=America/St_Johns -c datestyle=SQL,DMY`
  const pool = new pg.Pool({ connectionString: process.env['TEST_DATABASE_URL'], max: 1, options })
  await pool.query(`create schema ${schema}`)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  adapterSuite(t, sqlAdapter('SQL on PostgreSQL', pool), { walks })
})

function sqlAdapter(name: string, database: Database & SqlClient) {
  return {
    name,
    open: async () => {
      const table = await openSampleTable(database)
      return {
        ...table,
        run: (query: Parameters<Awaited<ReturnType<Parameters<typeof adapterSuite>[1]['open']>>['run']>[0]) =>
          runSql(database, query, { table: table.name })
      }
    }
  }
}
