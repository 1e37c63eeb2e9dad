import { adapterSuite } from '@concordat/pagination-query/adapter-suite'
import { runDrizzle } from '@concordat/pagination-query/drizzle'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, boolean, date, integer, numeric, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'

const walks = Number(process.env['WALKS'] ?? 500)

t.test('Drizzle on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const db = drizzle(pool)
  adapterSuite(
    t,
    {
      name: 'Drizzle',
      open: async () => {
        const sample = await openSampleTable(pool)
        const table = sampleTable(sample.name)
        return { ...sample, run: (query) => runDrizzle(db, query, { table }) }
      }
    },
    { walks }
  )
})

function sampleTable(name: string) {
  return pgTable(name, {
    id: uuid().primaryKey(),
    title: text().notNull(),
    status: text().notNull(),
    rating: integer(),
    price: numeric().notNull(),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 6 }).notNull(),
    day: date(),
    views: bigint({ mode: 'bigint' }).notNull(),
    active: boolean().notNull()
  })
}
