import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSql } from '@concordat/pagination-query/sql'
import { adapterContract, type OpenSample } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import t from 'tap'
import { runMysql } from '../src/mysql-lists.ts'
import { openMysql, skip } from './mysql.ts'

t.test('the adapter for MySQL passes the contract of adapters', { skip }, async (t) => {
  const { database, close } = await openMysql()
  t.teardown(close)
  let tables = 0

  async function openSample(): Promise<OpenSample> {
    const name = `sample${++tables}`
    await database.schema.createTable(name, (table) => {
      table.string('id', 36).primary()
      table.string('title', 50).notNullable()
      table.string('status', 50).notNullable()
      table.integer('rating')
      table.decimal('price', 65, 30).notNullable()
      table.datetime('created_at', { precision: 6 }).notNullable()
      table.date('day')
      table.bigInteger('views').notNullable()
      table.boolean('active').notNullable()
    })
    return {
      async insert(rows) {
        const columns = rows.map(({ createdAt, ...row }) => ({ ...row, created_at: createdAt.slice(0, -1) }))
        await database(name).insert(columns)
      },
      async delete(ids) {
        await database(name)
          .whereIn('id', [...ids])
          .delete()
      },
      run: (query) => runMysql(database(name), query, { createdAt: 'created_at' }),
      close: () => database.schema.dropTable(name)
    }
  }

  await t.test('contract', async (t) => adapterContract(casesOf(t), openSample, { walks: 20 }))
})

t.test('runSql refuses a client of MySQL at its first request', { skip }, async (t) => {
  const { database, close } = await openMysql()
  t.teardown(close)
  const key = { field: 'id', kind: 'integer', nullable: false, descending: false } as const
  const query = { name: 'tasks', id: 'id', conditions: [], order: [key], fields: ['id'], perPage: 10, reverse: false, offset: 0 }
  const client = { query: async (text: string) => ({ rows: (await database.raw(text.replaceAll('?', String.raw`\?`)))[0] as object[] }) }
  await t.rejects(runSql(client, { ...query, ranges: [{ equal: [] }], count: 'none' }), {
    name: 'TypeError',
    message: /its client is for another database \(ER_PARSE_ERROR\)\. Use PostgreSQL, or an adapter of your own/
  })
  const { sql, bindings: values } = database('tasks').where('owner', 'ann').toSQL().toNative()
  await t.rejects(runSql(client, { ...query, ranges: [{ equal: [] }], count: 'none' }, { table: { sql, values: [...values] } }), {
    name: 'TypeError',
    message: /source\.table\.sql is in the SQL of another database/
  })
})

t.test('docs/without-postgresql.md shows this adapter', async (t) => {
  const [adapter, page] = ['../src/mysql-lists.ts', '../../../docs/without-postgresql.md'].map((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8')
  )
  t.ok(page?.includes(String(adapter)))
})
