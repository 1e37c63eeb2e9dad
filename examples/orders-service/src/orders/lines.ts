import type { Statements, Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import type { Item, NewItem } from './schemas.ts'

/** The columns of an item for SELECT. */
export const itemColumns = 'id, product_id AS "productId", quantity, unit_price AS "unitPrice", version'

/** Returns all items of an order, without a limit. */
export function itemsOf(transaction: Statements, orderId: string): Promise<Item[]> {
  return transaction.query<Item>(`SELECT ${itemColumns} FROM order_items WHERE order_id = $1`, [orderId])
}

/** Adds an item to an order at the current price of its product, and updates the total. The caller has taken its stock. */
export async function addItem(
  transaction: Statements,
  orderId: string,
  { productId, quantity }: NewItem
): Promise<Versioned<Item> | undefined> {
  const [item] = await transaction.query<Versioned<Item>>(
    `INSERT INTO order_items (id, order_id, product_id, quantity, unit_price) SELECT $1, $2, id, $4, unit_price FROM products WHERE id = $3
     RETURNING ${itemColumns}`,
    [v7(), orderId, productId, quantity]
  )
  await writeTotal(transaction, orderId)
  return item
}

/** Sets the total to the sum of the items, in exact decimals. */
export async function writeTotal(transaction: Statements, orderId: string) {
  await transaction.query(
    'UPDATE orders SET total = (SELECT coalesce(sum(quantity * unit_price), 0) FROM order_items WHERE order_id = $1) WHERE id = $1',
    [orderId]
  )
}
