import type { ListQuery, Page } from '@concordat/pagination-query'
import { v7 } from 'uuid'
import type { Queries } from '../database/database.ts'
import { onViolation } from '../database/errors.ts'
import { list } from '../database/list.ts'
import { productInOrders, unknownCategory } from './errors.ts'
import type { Product, ProductChanges, WholeProduct } from './schemas.ts'

const columns = `id, name, description, category_id AS "categoryId", unit_price AS "unitPrice", currency,
  units_in_stock AS "unitsInStock", discontinued, created_at AS "createdAt", updated_at AS "updatedAt"`
const refused = { products_category_id_fkey: unknownCategory }

export function listProducts(database: Queries, query: ListQuery<Product>): Promise<Page<Product>> {
  return list(database, query)
}

export async function findProduct(database: Queries, id: string): Promise<Product | undefined> {
  const [product] = await database.query<Product>(`SELECT ${columns} FROM products WHERE id = $1`, [id])
  return product
}

export async function createProduct(database: Queries, product: WholeProduct): Promise<Product> {
  return (await putProduct(database, v7(), product)).product
}

/** Replaces the product, or creates it under this id when there is none. */
export async function putProduct(database: Queries, id: string, whole: WholeProduct): Promise<{ product: Product; created: boolean }> {
  const { name, description, categoryId, unitPrice, currency, unitsInStock, discontinued } = whole
  const [row] = await onViolation(
    // A row that this statement inserted has not been updated by any transaction, and xmax says so.
    database.query<Product & { created: boolean }>(
      `INSERT INTO products (id, name, description, category_id, unit_price, currency, units_in_stock, discontinued)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (id) DO UPDATE SET name = $2, description = $3, category_id = $4, unit_price = $5, currency = $6,
         units_in_stock = $7, discontinued = $8, updated_at = now()
       RETURNING ${columns}, xmax = 0 AS created`,
      [id, name, description ?? null, categoryId, unitPrice, currency, unitsInStock, discontinued]
    ),
    refused
  )
  const { created, ...product } = row as Product & { created: boolean }
  return { product, created }
}

export async function changeProduct(database: Queries, id: string, changes: ProductChanges): Promise<Product | undefined> {
  if (Object.keys(changes).length === 0) return findProduct(database, id)
  const { name, description, categoryId, unitPrice, currency, unitsInStock, discontinued } = changes
  const [product] = await onViolation(
    database.query<Product>(
      `UPDATE products SET name = coalesce($2, name), description = coalesce($3, description), category_id = coalesce($4, category_id),
         unit_price = coalesce($5, unit_price), currency = coalesce($6, currency), units_in_stock = coalesce($7, units_in_stock),
         discontinued = coalesce($8, discontinued), updated_at = now()
       WHERE id = $1 RETURNING ${columns}`,
      [id, name, description, categoryId, unitPrice, currency, unitsInStock, discontinued].map((value) => value ?? null)
    ),
    refused
  )
  return product
}

/** Whether there was one to delete. Its images go with it; a product that an order names stays. */
export async function deleteProduct(database: Queries, id: string): Promise<boolean> {
  const deleted = await onViolation(database.query('DELETE FROM products WHERE id = $1 RETURNING id', [id]), {
    order_items_product_id_fkey: productInOrders
  })
  return deleted.length > 0
}
