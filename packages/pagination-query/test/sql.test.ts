import { type AdapterUnderTest, adapterSuite, type SampleQuery } from '@concordat/pagination-query/adapter-suite'
import { runSql } from '@concordat/pagination-query/sql'
import { PGlite } from '@electric-sql/pglite'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { type Database, openSampleTable } from './sample-table.ts'

const walks = Number(process.env['WALKS'] ?? 500)

const pglite = await PGlite.create()
t.teardown(() => pglite.close())
adapterSuite(t, sqlAdapter('SQL on PGlite', pglite), { walks })

t.test('SQL on PostgreSQL', { skip }, async (t) => {
  adapterSuite(t, sqlAdapter('SQL on PostgreSQL', await openSchema(t)), { walks })
})

function sqlAdapter(name: string, database: Database): AdapterUnderTest {
  return {
    name,
    open: async () => {
      const table = await openSampleTable(database)
      return { ...table, run: (query: SampleQuery) => runSql(database, query, { table: table.name }) }
    }
  }
}
