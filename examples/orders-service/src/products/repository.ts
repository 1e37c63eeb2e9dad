import type { ListQuery, Page } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { type ExpectedVersions, onViolation, type Statements, type Versioned } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { productErrors } from './errors.ts'
import type { Product, ProductChanges, WholeProduct } from './schemas.ts'

const columns = `id, name, description, category_id AS "categoryId", unit_price AS "unitPrice", currency,
  units_in_stock AS "unitsInStock", discontinued, created_at AS "createdAt", updated_at AS "updatedAt", version`
const refused = {
  products_category_id_fkey: () =>
    productErrors.create('UNKNOWN_CATEGORY', { errors: [{ field: 'body.categoryId', key: 'unknownCategory' }] })
}

export function listProducts(database: Statements, query: ListQuery<Product>): Promise<Page<Product>> {
  return runSql(database.client, query)
}

export async function findProduct(database: Statements, id: string): Promise<Versioned<Product> | undefined> {
  const [product] = await database.query<Versioned<Product>>(`SELECT ${columns} FROM products WHERE id = $1`, [id])
  return product
}

export async function createProduct(database: Statements, product: WholeProduct): Promise<Versioned<Product>> {
  return (await putProduct(database, v7(), product)) as Versioned<Product>
}

const assignments = `name = $2, description = $3, category_id = $4, unit_price = $5, currency = $6, units_in_stock = $7, discontinued = $8`

/** A product after a PUT, and whether the PUT created it. */
type PutProduct = Versioned<Product> & { readonly created?: boolean }

/** Replaces the product, or creates it. With `createOnly`, returns `undefined` when the product already exists. */
export async function putProduct(
  database: Statements,
  id: string,
  whole: WholeProduct,
  { createOnly = false } = {}
): Promise<PutProduct | undefined> {
  const [product] = await onViolation(
    database.query<PutProduct>(
      `INSERT INTO products (id, name, description, category_id, unit_price, currency, units_in_stock, discontinued)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (id) ${createOnly ? 'DO NOTHING' : `DO UPDATE SET ${assignments}`} RETURNING ${columns}, xmax = 0 AS created`,
      valuesOf(id, whole)
    ),
    refused
  )
  return product
}

/** Returns `undefined` when no product has this id and an expected version. */
export async function replaceProduct(
  database: Statements,
  id: string,
  whole: WholeProduct,
  expected: ExpectedVersions
): Promise<Versioned<Product> | undefined> {
  const [product] = await onViolation(
    database.query<Versioned<Product>>(
      `UPDATE products SET ${assignments} WHERE id = $1 AND ($9::uuid[] IS NULL OR version = ANY ($9)) RETURNING ${columns}`,
      [...valuesOf(id, whole), expected]
    ),
    refused
  )
  return product
}

/** Returns `undefined` when no product has this id and an expected version. */
export async function changeProduct(
  database: Statements,
  id: string,
  changes: ProductChanges,
  expected: ExpectedVersions
): Promise<Versioned<Product> | undefined> {
  if (Object.keys(changes).length === 0) return findProduct(database, id)
  const [product] = await onViolation(
    database.query<Versioned<Product>>(
      `UPDATE products SET name = coalesce($2, name), description = CASE WHEN $10 THEN NULL ELSE coalesce($3, description) END, category_id = coalesce($4, category_id),
         unit_price = coalesce($5, unit_price), currency = coalesce($6, currency), units_in_stock = coalesce($7, units_in_stock),
         discontinued = coalesce($8, discontinued)
       WHERE id = $1 AND ($9::uuid[] IS NULL OR version = ANY ($9)) RETURNING ${columns}`,
      [...valuesOf(id, changes), expected, changes.description === null]
    ),
    refused
  )
  return product
}

function valuesOf(id: string, product: ProductChanges) {
  const { name, description, categoryId, unitPrice, currency, unitsInStock, discontinued } = product
  return [id, name, description, categoryId, unitPrice, currency, unitsInStock, discontinued].map((value) => value ?? null)
}

/**
 * Deletes the product and its images. Returns its id, or `undefined` when no product has this id and an expected version. A product that
 * an order names is not deleted.
 */
export async function deleteProduct(database: Statements, id: string, expected: ExpectedVersions): Promise<string | undefined> {
  const deletion = `DELETE FROM products WHERE id = $1 AND ($2::uuid[] IS NULL OR version = ANY ($2)) RETURNING id`
  const [deleted] = await onViolation(database.query<{ id: string }>(deletion, [id, expected]), {
    order_items_product_id_fkey: () => productErrors.create('PRODUCT_IN_ORDERS')
  })
  return deleted?.id
}
