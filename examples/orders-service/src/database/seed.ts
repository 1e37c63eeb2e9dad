import type { Database, Queries } from './database.ts'
import { inTransaction } from './queries.ts'
import { sampleCategories, sampleCustomers, sampleOrder, sampleProducts } from './sample-data.ts'

const batchSize = 5_000

/**
 * Seeds the database with the sample data up to this number of orders, all or nothing. Rows that were seeded earlier are not touched:
 * another start adds nothing and does not restore deleted rows. A higher number adds the missing orders.
 */
export async function seed(database: Database, orders: number, onProgress: (done: number, total: number) => void): Promise<void> {
  await inTransaction(database.postgres, async (transaction) => {
    await transaction.query(`SELECT pg_advisory_xact_lock(hashtext('orders-service seed'))`)
    const [seeding] = await transaction.query<{ rows: number }>(`SELECT rows FROM seedings WHERE name = 'orders'`)
    if (seeding === undefined) await seedCatalogue(transaction)
    const first = seeding?.rows ?? 0
    for (let from = first; from < orders; from += batchSize) {
      const to = Math.min(from + batchSize, orders)
      await seedOrders(transaction, from, to)
      onProgress(to, orders)
    }
    await transaction.query(`INSERT INTO seedings VALUES ('orders', $1) ON CONFLICT (name) DO UPDATE SET rows = $1`, [
      Math.max(first, orders)
    ])
  })
}

async function seedCatalogue(transaction: Queries) {
  await insert(transaction, 'categories', { id: 'uuid', name: 'text', description: 'text' }, sampleCategories)
  await insert(
    transaction,
    'products',
    {
      id: 'uuid',
      name: 'text',
      category_id: 'uuid',
      unit_price: 'numeric',
      currency: 'text',
      units_in_stock: 'integer',
      discontinued: 'boolean',
      created_at: 'timestamptz',
      updated_at: 'timestamptz'
    },
    sampleProducts.map(({ id, name, categoryId, cents, unitsInStock, discontinued, createdAt }) => ({
      id,
      name,
      category_id: categoryId,
      unit_price: decimalOf(cents),
      currency: 'EUR',
      units_in_stock: unitsInStock,
      discontinued,
      created_at: createdAt,
      updated_at: createdAt
    }))
  )
  await insert(
    transaction,
    'customers',
    { id: 'uuid', company_name: 'text', contact_name: 'text', email: 'text', country: 'text', created_at: 'timestamptz' },
    sampleCustomers.map(({ id, companyName, contactName, email, country, createdAt }) => ({
      id,
      company_name: companyName,
      contact_name: contactName,
      email,
      country,
      created_at: createdAt
    }))
  )
}

async function seedOrders(transaction: Queries, from: number, to: number) {
  const orders = Array.from({ length: to - from }, (_, offset) => sampleOrder(from + offset))
  await insert(
    transaction,
    'orders',
    {
      id: 'uuid',
      customer_id: 'uuid',
      status: 'text',
      placed_at: 'timestamptz',
      shipped_at: 'timestamptz',
      total: 'numeric',
      currency: 'text'
    },
    orders.map(({ id, customerId, status, placedAt, shippedAt, totalCents }) => ({
      id,
      customer_id: customerId,
      status,
      placed_at: placedAt,
      shipped_at: shippedAt,
      total: decimalOf(totalCents),
      currency: 'EUR'
    }))
  )
  await insert(
    transaction,
    'order_items',
    { id: 'uuid', order_id: 'uuid', product_id: 'uuid', quantity: 'integer', unit_price: 'numeric' },
    orders.flatMap((order) =>
      order.items.map(({ id, productId, quantity, cents }) => ({
        id,
        order_id: order.id,
        product_id: productId,
        quantity,
        unit_price: decimalOf(cents)
      }))
    )
  )
  await insert(
    transaction,
    'order_cancellations',
    { order_id: 'uuid', cancelled_at: 'timestamptz', reason: 'text' },
    orders
      .filter(({ cancelledAt }) => cancelledAt !== null)
      .map(({ id, cancelledAt, reason }) => ({ order_id: id, cancelled_at: cancelledAt, reason }))
  )
}

// One parameter for each column, for any number of rows.
async function insert<Column extends string>(
  transaction: Queries,
  table: string,
  columns: Readonly<Record<Column, string>>,
  rows: readonly Readonly<Record<Column, unknown>>[]
) {
  const names = Object.keys(columns) as Column[]
  const arrays = names.map((name, index) => `$${index + 1}::${columns[name]}[]`)
  await transaction.query(
    `INSERT INTO ${table} (${names.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`,
    names.map((name) => rows.map((row) => row[name]))
  )
}

function decimalOf(cents: number) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}
