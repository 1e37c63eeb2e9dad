import { adapterSuite } from '@concordat/pagination-query/adapter-suite'
import { runKnex } from '@concordat/pagination-query/knex'
import knex, { type Knex } from 'knex'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'

const walks = Number(process.env['WALKS'] ?? 500)

t.test('Knex on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const database = knex({ client: 'pg', connection: pool.options as Knex.PgConnectionConfig })
  t.teardown(() => database.destroy())
  adapterSuite(
    t,
    {
      name: 'Knex',
      open: async () => {
        const sample = await openSampleTable(pool)
        return { ...sample, run: (query) => runKnex(database(sample.name), query) }
      }
    },
    { walks }
  )
})
