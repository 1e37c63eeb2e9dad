import type { ListQuery, Page } from '@concordat/pagination-query'
import { runDrizzle } from '@concordat/pagination-query/drizzle'
import { runKnex } from '@concordat/pagination-query/knex'
import { runPrisma } from '@concordat/pagination-query/prisma'
import { eq } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { PgliteDatabase } from 'drizzle-orm/pglite'
import { expectTypeOf } from 'expect-type'
import type { Knex } from 'knex'

interface Order {
  readonly id: string
}

declare const query: ListQuery<Order>
const orders = pgTable('orders', { id: integer().primaryKey() })

// A database with a schema, a database with another driver, and a transaction.
declare const onPostgres: NodePgDatabase<{ orders: typeof orders }>
declare const onPglite: PgliteDatabase
expectTypeOf(runDrizzle(onPostgres, query, { table: orders, where: eq(orders.id, 1) })).resolves.toEqualTypeOf<Page<Order>>()
expectTypeOf(runDrizzle(onPglite, query, { table: orders })).resolves.toEqualTypeOf<Page<Order>>()
void onPostgres.transaction((transaction) => runDrizzle(transaction, query, { table: orders }))
void runDrizzle(onPglite, query, { table: onPglite.select().from(orders).as('some') })
// @ts-expect-error a table is required
void runDrizzle(onPostgres, query, {})
// @ts-expect-error the name of a table does not determine its columns
void runDrizzle(onPostgres, query, { table: 'orders' })

declare const knex: Knex
declare const transaction: Knex.Transaction
expectTypeOf(runKnex(knex('orders'), query)).resolves.toEqualTypeOf<Page<Order>>()
void runKnex(knex<{ id: number }>('orders').where('id', 1), query, { id: 'orders.id' })
void runKnex(transaction('orders').join('items', 'items.order_id', 'orders.id'), query, { id: { sql: 'orders.id' } })
// @ts-expect-error a builder, not a connection
void runKnex(knex, query)
// @ts-expect-error a column is a name or an expression
void runKnex(knex('orders'), query, { id: 1 })

declare const model: { fields: object; findMany(args: { where?: object }): PromiseLike<Order[]>; count(args: object): PromiseLike<number> }
expectTypeOf(runPrisma(model, query, { fields: { id: { name: 'number' } } })).resolves.toEqualTypeOf<Page<Order>>()
const { fields: _fields, ...unknown } = model
// @ts-expect-error without `fields`, the types of values are unknown
void runPrisma(unknown, query)
