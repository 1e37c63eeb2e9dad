import { adapterSuite } from '@concordat/pagination-query/adapter-suite'
import { runKysely } from '@concordat/pagination-query/kysely'
import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely'
import t from 'tap'
import { openSchema, skip } from './postgres.ts'
import { openSampleTable } from './sample-table.ts'

const walks = Number(process.env['WALKS'] ?? 500)

t.test('Kysely on PostgreSQL', { skip }, async (t) => {
  const pool = await openSchema(t)
  const plain = new Kysely<Record<string, object>>({ dialect: new PostgresDialect({ pool }) })
  for (const [name, database] of [
    ['Kysely', plain],
    ['Kysely with names in camel case', plain.withPlugin(new CamelCasePlugin({ underscoreBeforeDigits: true }))]
  ] as const) {
    adapterSuite(
      t,
      {
        name,
        open: async () => {
          const table = await openSampleTable(pool)
          return { ...table, run: (query) => runKysely(database.selectFrom(table.name), query, { title: `${table.name}.title` }) }
        }
      },
      { walks: database === plain ? walks : Math.ceil(walks / 5) }
    )
  }
})
