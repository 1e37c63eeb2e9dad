import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import type { ExpectedVersions, Statements, Versioned } from '@concordat/postgres/rows'
import { orderErrors } from './errors.ts'
import { addItem, itemColumns, writeTotal } from './lines.ts'
import { lockOrder } from './repository.ts'
import type { Item, ItemChanges, NewItem } from './schemas.ts'
import { returnStock, takeStock } from './stock.ts'

export function listItems(database: Statements, orderId: string, query: ListQuery<Item>): Promise<Page<Item>> {
  return runSql(database.client, query, { where: { text: 'order_id = $1', values: [orderId] } })
}

export async function findItem(database: Statements, orderId: string, id: string): Promise<Versioned<Item> | undefined> {
  const [item] = await database.query<Versioned<Item>>(`SELECT ${itemColumns} FROM order_items WHERE order_id = $1 AND id = $2`, [
    orderId,
    id
  ])
  return item
}

/** Returns `undefined` when the order does not exist. */
export async function createItem(transaction: Statements, orderId: string, item: NewItem): Promise<Versioned<Item> | undefined> {
  const order = await lockPending(transaction, orderId)
  if (order === undefined) return undefined
  const wanted = { ...item, productId: item.productId.toLowerCase(), field: 'body.productId' }
  await takeStock(transaction, [wanted], order.currency)
  return addItem(transaction, orderId, wanted)
}

/**
 * Changes the quantity. The price stays the price at which the item was ordered. Returns `undefined` when the order has no item with this id and an
 * expected version.
 */
export async function changeItem(
  transaction: Statements,
  orderId: string,
  id: string,
  { quantity }: ItemChanges,
  expected: ExpectedVersions
): Promise<Versioned<Item> | undefined> {
  const item = await findExpected(transaction, orderId, id, expected)
  if (item === undefined || quantity === undefined) return item
  const { productId } = item
  const more = quantity - item.quantity
  if (more > 0) await takeStock(transaction, [{ productId, quantity: more, field: 'body.quantity' }])
  else await returnStock(transaction, [{ productId, quantity: -more }])
  const [changed] = await transaction.query<Versioned<Item>>(
    `UPDATE order_items SET quantity = $2 WHERE id = $1 RETURNING ${itemColumns}`,
    [id, quantity]
  )
  await writeTotal(transaction, orderId)
  return changed
}

/** Returns the item, or `undefined` when the order has no item with this id and an expected version. The last item can be deleted too; the total of the order is then zero. */
export async function deleteItem(
  transaction: Statements,
  orderId: string,
  id: string,
  expected: ExpectedVersions
): Promise<Item | undefined> {
  const item = await findExpected(transaction, orderId, id, expected)
  if (item === undefined) return undefined
  await returnStock(transaction, [item])
  await transaction.query('DELETE FROM order_items WHERE id = $1', [id])
  await writeTotal(transaction, orderId)
  return item
}

// With the order locked, nobody else changes its items.
async function findExpected(transaction: Statements, orderId: string, id: string, expected: ExpectedVersions) {
  const order = await lockPending(transaction, orderId)
  const item = order && (await findItem(transaction, orderId, id))
  return item !== undefined && (expected?.includes(String(item.version)) ?? true) ? item : undefined
}

async function lockPending(transaction: Statements, orderId: string) {
  const order = await lockOrder(transaction, orderId)
  if (order !== undefined && order.status !== 'pending') {
    throw orderErrors.create('ORDER_NOT_PENDING', { params: { status: order.status } })
  }
  return order
}
