import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type ExpectedVersions, onViolation, type Statements, type Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { orderErrors } from './errors.ts'
import { itemsOf } from './lines.ts'
import type { Cancellation, NewCancellation, NewOrder, Order, OrderChanges, OrderStatus } from './schemas.ts'
import { requireStock, returnStock } from './stock.ts'

const columns = `id, customer_id AS "customerId", status, placed_at AS "placedAt", shipped_at AS "shippedAt", total, currency, note, version`

const nextStatus: Readonly<Record<OrderStatus, OrderStatus | undefined>> = {
  pending: 'paid',
  paid: 'shipped',
  shipped: undefined,
  cancelled: undefined
}

/** Lists the orders of one customer, or of all customers. A total always comes with its currency. */
export function listOrders(database: Statements, query: ListQuery, customerId: string | undefined): Promise<Page<Order>> {
  const fields = query.fields.includes('total') ? [...new Set([...query.fields, 'currency'])] : query.fields
  const orders = { ...query, fields } as ListQuery<Order>
  return runSql(database.client, orders, customerId === undefined ? {} : { where: { text: 'customer_id = $1', values: [customerId] } })
}

export async function findOrder(database: Statements, id: string): Promise<Versioned<Order> | undefined> {
  const [order] = await database.query<Versioned<Order>>(`SELECT ${columns} FROM orders WHERE id = $1`, [id])
  return order
}

// Locks the products in the order of their ids, as everything that changes their stock, and writes only if all of them can be sold together.
const placement = `WITH line AS (
    SELECT * FROM unnest($4::uuid[], $5::uuid[], $6::integer[]) AS line (id, product_id, quantity)
  ), stock AS MATERIALIZED (
    SELECT id, currency, unit_price, units_in_stock AS units, discontinued FROM products WHERE id = ANY($5) ORDER BY id FOR NO KEY UPDATE
  ), wanted AS (
    SELECT product_id AS id, sum(quantity)::integer AS quantity FROM line GROUP BY product_id
  ), sale AS MATERIALIZED (
    SELECT min(currency) AS currency FROM wanted LEFT JOIN stock USING (id)
    HAVING bool_and(coalesce(NOT discontinued AND units >= quantity, false)) AND count(DISTINCT currency) = 1
  ), taken AS (
    UPDATE products SET units_in_stock = units_in_stock - wanted.quantity FROM wanted, sale WHERE products.id = wanted.id
  ), added AS (
    INSERT INTO order_items (id, order_id, product_id, quantity, unit_price)
    SELECT line.id, $1, product_id, quantity, unit_price FROM sale, line JOIN stock ON stock.id = product_id
  )
  INSERT INTO orders (id, customer_id, status, total, currency, note)
  SELECT $1::uuid, $2, 'pending', (SELECT sum(quantity * unit_price) FROM line JOIN stock ON stock.id = product_id), currency, $3 FROM sale
  RETURNING ${columns}`

/** Takes the stock and places the order, or does neither, in one statement. The database computes the total, in exact decimals. */
export async function createOrder(transaction: Statements, customerId: string, { items, note }: NewOrder): Promise<Versioned<Order>> {
  const wanted = items.map((item, index) => ({
    ...item,
    productId: item.productId.toLowerCase(),
    field: `body.items.${index}.productId`
  }))
  const lines = [wanted.map(() => v7()), wanted.map(({ productId }) => productId), wanted.map(({ quantity }) => quantity)]
  const [order] = await onViolation(transaction.query<Versioned<Order>>(placement, [v7(), customerId, note ?? null, ...lines]), {
    orders_customer_id_fkey: () =>
      orderErrors.create('UNKNOWN_CUSTOMER', { errors: [{ field: 'body.customerId', key: 'unknownCustomer' }] })
  })
  // The products are locked, so that this finds the reason.
  if (order === undefined) await requireStock(transaction, wanted)
  return order as Versioned<Order>
}

/**
 * Sets the note, and moves the status one step forward. Throws when the transition is not allowed. Returns `undefined` when no order has
 * an expected version.
 */
export async function changeOrder(
  transaction: Statements,
  id: string,
  { status, note }: OrderChanges,
  expected: ExpectedVersions
): Promise<Versioned<Order> | undefined> {
  const order = await lockOrder(transaction, id, expected)
  if (order === undefined) return undefined
  if (status !== undefined && nextStatus[order.status] !== status) {
    throw orderErrors.create('STATUS_CHANGE_NOT_ALLOWED', { params: { from: order.status, to: status } })
  }
  const [changed] = await transaction.query<Versioned<Order>>(
    `UPDATE orders SET status = coalesce($2, status), note = CASE WHEN $4 THEN NULL ELSE coalesce($3, note) END,
       shipped_at = CASE WHEN $2 = 'shipped' THEN now() ELSE shipped_at END
     WHERE id = $1 RETURNING ${columns}`,
    [id, status ?? null, note ?? null, note === null]
  )
  return changed
}

/** Cancels the order and returns its units to stock. */
export async function cancelOrder(transaction: Statements, id: string, { reason }: NewCancellation): Promise<Cancellation | undefined> {
  const order = await lockOrder(transaction, id)
  if (order === undefined) return undefined
  requireNotFinal(order)
  await returnStock(transaction, await itemsOf(transaction, id))
  await transaction.query(`UPDATE orders SET status = 'cancelled' WHERE id = $1`, [id])
  const [cancellation] = await transaction.query<Cancellation>(
    `INSERT INTO order_cancellations (order_id, reason) VALUES ($1, $2)
     RETURNING order_id AS "orderId", cancelled_at AS "cancelledAt", reason`,
    [id, reason ?? null]
  )
  return cancellation
}

/** Deletes the order and returns its units to stock. Returns its id, or `undefined` when no order has an expected version. */
export async function deleteOrder(transaction: Statements, id: string, expected: ExpectedVersions): Promise<string | undefined> {
  const order = await lockOrder(transaction, id, expected)
  if (order === undefined) return undefined
  requireNotFinal(order)
  await returnStock(transaction, await itemsOf(transaction, id))
  await transaction.query('DELETE FROM orders WHERE id = $1', [id])
  return id
}

// A shipped order can be neither cancelled nor deleted, and the record of a cancelled one remains.
function requireNotFinal({ status }: Order) {
  if (status === 'shipped') throw orderErrors.create('ORDER_ALREADY_SHIPPED')
  if (status === 'cancelled') throw orderErrors.create('ORDER_ALREADY_CANCELLED')
}

/**
 * Returns the order if it has one of the expected versions, and locks it until the transaction ends. An order is always locked before its
 * products. A transaction that waited for the lock gets the order as the other transaction left it.
 */
export async function lockOrder(transaction: Statements, id: string, expected: ExpectedVersions = null): Promise<Order | undefined> {
  const [order] = await transaction.query<Order>(
    `SELECT ${columns} FROM orders WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY ($2)) FOR UPDATE`,
    [id, expected]
  )
  return order
}
