import type { ListQuery } from '@concordat/pagination-query'
import { runDrizzle } from '@concordat/pagination-query/drizzle'
import { runKnex } from '@concordat/pagination-query/knex'
import { runKysely } from '@concordat/pagination-query/kysely'
import { int, mysqlTable, varchar } from 'drizzle-orm/mysql-core'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import knex from 'knex'
import {
  DummyDriver,
  Kysely,
  MysqlAdapter,
  MysqlQueryCompiler,
  PostgresAdapter,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler
} from 'kysely'
import t from 'tap'

const key = { field: 'id', kind: 'integer', nullable: false, descending: false } as const
const query: ListQuery<{ id: number }> = {
  name: 'orders',
  id: 'id',
  conditions: [],
  order: [key],
  fields: ['id'],
  perPage: 10,
  reverse: false,
  offset: 0,
  ranges: [{ equal: [] }],
  count: 'none'
}
const refusal = (adapter: string, found: string) =>
  `pagination-query: ${adapter} runs the SQL of PostgreSQL, but its client is for another database (${found}). Use PostgreSQL, or an adapter of your own, which adapterContract tests.`

t.test('Knex for another database is refused', async (t) => {
  for (const [client, dialect] of [
    ['mysql2', 'mysql'],
    ['mysql', 'mysql'],
    ['sqlite3', 'sqlite3'],
    ['better-sqlite3', 'sqlite3'],
    ['mssql', 'mssql'],
    ['oracledb', 'oracle']
  ] as const)
    await t.rejects(runKnex(knex({ client })('orders'), query), { name: 'TypeError', message: refusal('runKnex', dialect) }, client)
})

t.test('Drizzle columns of another database are refused', async (t) => {
  const orders = { mysql: mysqlTable('orders', { id: int('id') }), sqlite: sqliteTable('orders', { id: integer('id') }) }
  for (const [table, found] of [
    [orders.mysql, 'MySqlInt'],
    [orders.sqlite, 'SQLiteInteger'],
    [mysqlTable('orders', { id: varchar('id', { length: 36 }) }), 'MySqlVarChar']
  ] as const) {
    const message = refusal('runDrizzle', found)
    await t.rejects(runDrizzle({} as never, query, { table: table as never }), { name: 'TypeError', message }, found)
  }
})

class FailingDriver extends DummyDriver {
  override async acquireConnection(): Promise<never> {
    throw new Error('near "::": syntax error')
  }
}

t.test('Kysely for another database is refused when its query fails', async (t) => {
  for (const [createAdapter, createQueryCompiler, text] of [
    [() => new MysqlAdapter(), () => new MysqlQueryCompiler(), 'select ? as `one` from `orders`'],
    [() => new SqliteAdapter(), () => new SqliteQueryCompiler(), 'select ? as "one" from "orders"'],
    [() => new PostgresAdapter(), () => new PostgresQueryCompiler(), undefined]
  ] as const) {
    const dialect = { createAdapter, createQueryCompiler, createDriver: () => new FailingDriver(), createIntrospector: () => ({}) as never }
    const database = new Kysely<{ orders: { id: number } }>({ dialect })
    const expected =
      text === undefined ? { message: 'near "::": syntax error' } : { name: 'TypeError', message: refusal('runKysely', text) }
    await t.rejects(runKysely(database.selectFrom('orders'), query), expected)
  }
})
