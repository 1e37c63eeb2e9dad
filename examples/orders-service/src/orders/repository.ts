import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { onViolation, type Statements, type Versioned } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import { v7 } from 'uuid'
import { orderErrors } from './errors.ts'
import { type Item, itemCollection, type NewItem, type NewOrder, type Order, orderCollection } from './schemas.ts'
import { requireStock, returnStock } from './stock.ts'

/** The statements of orders. An order is locked before its products, and its items change only while it is locked. */
export const orderTable = table(orderCollection)
export const itemTable = table(itemCollection, { columns: { orderId: 'order_id' } })

/** Lists the orders of one customer, or of all customers. A total always comes with its currency. */
export function listOrders(database: Statements, query: ListQuery, customerId: string | undefined): Promise<Page<Order>> {
  const fields = query.fields.includes('total') ? [...new Set([...query.fields, 'currency'])] : query.fields
  const orders = { ...query, fields } as ListQuery<Order>
  return runSql(database.client, orders, customerId === undefined ? {} : { where: { text: 'customer_id = $1', values: [customerId] } })
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
  RETURNING ${orderTable.columns}`

/** Takes the stock and places the order, or does neither, in one statement. The database computes the total, in exact decimals. */
export async function createOrder(rows: Statements, customerId: string, { items, note }: NewOrder): Promise<Versioned<Order>> {
  const wanted = items.map((item, index) => ({ ...item, productId: item.productId.toLowerCase(), pointer: `/items/${index}/productId` }))
  const lines = [wanted.map(() => v7()), wanted.map(({ productId }) => productId), wanted.map(({ quantity }) => quantity)]
  const [order] = await onViolation(rows.prepared<Versioned<Order>>(placement, [v7(), customerId, note ?? null, ...lines]), {
    orders_customer_id_fkey: () =>
      orderErrors.create('UNKNOWN_CUSTOMER', { errors: [{ field: 'body.customerId', pointer: '/customerId', key: 'unknownCustomer' }] })
  })
  // The products are locked, so that this finds the reason.
  if (order === undefined) await requireStock(rows, wanted)
  return order as Versioned<Order>
}

/** Returns the units of an order to stock. A shipped order has none, and those of a cancelled one are returned already. */
export async function releaseStock(rows: Statements, { id, status }: Order): Promise<void> {
  if (status === 'shipped') throw orderErrors.create('ORDER_ALREADY_SHIPPED')
  if (status === 'cancelled') throw orderErrors.create('ORDER_ALREADY_CANCELLED')
  await returnStock(rows, await rows.query<Item>(`SELECT ${itemTable.columns} FROM order_items WHERE order_id = $1`, [id]))
}

/** Adds an item to an order at the current price of its product. The caller has taken its stock. */
export async function addItem(rows: Statements, orderId: string, { productId, quantity }: NewItem): Promise<Versioned<Item>> {
  const [item] = await rows.query<Versioned<Item>>(
    `INSERT INTO order_items (id, order_id, product_id, quantity, unit_price) SELECT $1, $2, id, $4, unit_price FROM products WHERE id = $3
     RETURNING ${itemTable.columns}`,
    [v7(), orderId, productId, quantity]
  )
  return item as Versioned<Item>
}

/** Sets the total of an order to the sum of its items, in exact decimals, and returns the order. */
export async function writeTotal(rows: Statements, orderId: string): Promise<Versioned<Order>> {
  const [order] = await rows.query<Versioned<Order>>(
    `UPDATE orders SET total = (SELECT coalesce(sum(quantity * unit_price), 0) FROM order_items WHERE order_id = $1) WHERE id = $1
     RETURNING ${orderTable.columns}`,
    [orderId]
  )
  return order as Versioned<Order>
}
