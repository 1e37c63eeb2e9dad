import type { Statements } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import type { Item, NewItem } from './schemas.ts'

/** The columns of an item for SELECT. */
export const itemColumns = 'id, product_id AS "productId", quantity, unit_price AS "unitPrice", version'

/** Returns all items of an order, without a limit. */
export function itemsOf(transaction: Statements, orderId: string): Promise<Item[]> {
  return transaction.query<Item>(`SELECT ${itemColumns} FROM order_items WHERE order_id = $1`, [orderId])
}

/** Adds items to an order at the current prices of their products, and updates its total. The caller has taken their stock. */
export async function addItems(transaction: Statements, orderId: string, items: readonly NewItem[]): Promise<string[]> {
  const ids = items.map(() => v7())
  await transaction.query(
    `INSERT INTO order_items (id, order_id, product_id, quantity, unit_price)
     SELECT line.id, $1, products.id, line.quantity, products.unit_price
     FROM unnest($2::uuid[], $3::uuid[], $4::integer[]) AS line (id, product_id, quantity) JOIN products ON products.id = line.product_id`,
    [orderId, ids, items.map(({ productId }) => productId), items.map(({ quantity }) => quantity)]
  )
  await writeTotal(transaction, orderId)
  return ids
}

/** Sets the total to the sum of the items, in exact decimals. */
export async function writeTotal(transaction: Statements, orderId: string) {
  await transaction.query(
    'UPDATE orders SET total = (SELECT coalesce(sum(quantity * unit_price), 0) FROM order_items WHERE order_id = $1) WHERE id = $1',
    [orderId]
  )
}
