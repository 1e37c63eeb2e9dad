import type { OpenDatabase } from '@concordat/postgres/open'
import type { Statements } from '@concordat/postgres/rows'
import { sampleCategories, sampleCustomers, sampleOrder, sampleProducts } from './data.ts'
import { showProgress } from './progress.ts'

const batchSize = 5_000

/**
 * Seeds the database with the sample data up to this number of orders, all or nothing. Rows that were seeded earlier are not touched:
 * another start adds nothing and does not restore deleted rows. A higher number adds the missing orders.
 */
export async function seed(database: OpenDatabase, orders: number): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('orders-service seed'))`)
    const [seeding] = await transaction.query<{ rows: number }>(`SELECT rows FROM seedings WHERE name = 'orders'`)
    if (seeding === undefined) {
      await insert(transaction, 'categories', sampleCategories)
      await insert(transaction, 'products', sampleProducts)
      await insert(transaction, 'customers', sampleCustomers)
    }
    const first = seeding?.rows ?? 0
    for (let from = first; from < orders; from += batchSize) {
      const to = Math.min(from + batchSize, orders)
      const samples = Array.from({ length: to - from }, (_, offset) => sampleOrder(from + offset))
      await insert(
        transaction,
        'orders',
        samples.map(({ order }) => order)
      )
      await insert(
        transaction,
        'order_items',
        samples.flatMap(({ items }) => items)
      )
      await insert(
        transaction,
        'order_cancellations',
        samples.flatMap(({ cancellations }) => cancellations)
      )
      showProgress(to, orders)
    }
    await transaction.query(`INSERT INTO seedings VALUES ('orders', $1) ON CONFLICT (name) DO UPDATE SET rows = $1`, [
      Math.max(first, orders)
    ])
  })
}

// The properties of the rows have the names of their columns.
async function insert(transaction: Statements, table: string, rows: readonly object[]) {
  const columns = Object.keys(rows[0] ?? {}).join(', ')
  if (columns === '') return
  await transaction.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`, [
    JSON.stringify(rows)
  ])
}
