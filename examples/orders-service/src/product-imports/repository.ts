import type { Statements } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { productTable } from '../products/repository.ts'
import { type Product, productDefaults } from '../products/schemas.ts'
import type { ImportedProduct, ImportLine, Refusal } from './read-line.ts'
import { maxRefusals } from './schemas.ts'

/** What an import has done so far. */
export interface ImportState {
  readonly linesRead: number
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly refused: number
  readonly refusals: readonly Refusal[]
}

const state = 'lines_read AS "linesRead", created, changed, unchanged, refused, refusals'

export async function createImport(rows: Statements, fileId: string): Promise<void> {
  await rows.query('INSERT INTO product_imports (file_id) VALUES ($1)', [fileId])
}

export async function findImport(rows: Statements, fileId: string): Promise<ImportState | undefined> {
  const [found] = await rows.query<ImportState>(`SELECT ${state} FROM product_imports WHERE file_id = $1`, [fileId])
  return found
}

/** Locks an import until the transaction ends, and with it all others, because they could create the same product. */
export async function lockImport(rows: Statements, fileId: string): Promise<ImportState | undefined> {
  await rows.query(`SELECT pg_advisory_xact_lock(hashtext('product_imports'))`)
  return findImport(rows, fileId)
}

/** Adds what the next lines have done. */
export async function addToImport(rows: Statements, fileId: string, batch: ImportState): Promise<void> {
  const { linesRead, created, changed, unchanged, refused, refusals } = batch
  await rows.query(
    `UPDATE product_imports SET lines_read = lines_read + $2, created = created + $3, changed = changed + $4, unchanged = unchanged + $5,
      refused = refused + $6, refusals = jsonb_path_query_array(refusals || $7::jsonb, '$[0 to ${maxRefusals - 1}]') WHERE file_id = $1`,
    [fileId, linesRead, created, changed, unchanged, refused, JSON.stringify(refusals)]
  )
}

/** Deletes some imports that are older than their jobs, and returns the ids of their files. */
export async function deleteOldImports(rows: Statements): Promise<string[]> {
  const deleted = await rows.query<{ fileId: string }>(
    `DELETE FROM product_imports WHERE file_id IN (
      SELECT file_id FROM product_imports WHERE created_at < now() - interval '9 days' ORDER BY created_at LIMIT 100
    ) RETURNING file_id AS "fileId"`
  )
  return deleted.map(({ fileId }) => fileId)
}

/**
 * Creates the products of lines, or changes those that have their names. Calls `onChange` with each product that was changed. Without `writes`, it only
 * returns what it would do.
 */
export async function importLines(
  rows: Statements,
  lines: readonly ImportLine[],
  { writes, onChange }: { readonly writes: boolean; readonly onChange: (product: Product) => Promise<unknown> }
): Promise<ImportState> {
  const read = lines.flatMap((line) => ('product' in line ? [line] : []))
  const refusals: Refusal[] = lines.flatMap((line) => ('refusal' in line ? [line.refusal] : []))
  const categories = await idsOf(
    rows,
    'SELECT id FROM categories WHERE id = ANY($1::uuid[])',
    read.map(({ product }) => product.categoryId)
  )
  const products = await rows.query<Product>(
    `SELECT ${productTable.columns} FROM products WHERE name = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
    [read.map(({ product }) => product.name)]
  )
  const byName = Map.groupBy(products, ({ name }) => name)
  let [created, changed, unchanged] = [0, 0, 0]
  for (const { line, product } of read) {
    const [known, another] = byName.get(product.name) ?? []
    if (!categories.has(product.categoryId.toLowerCase())) refusals.push({ line, field: 'categoryId', reason: 'category' })
    else if (another !== undefined) refusals.push({ line, field: 'name', reason: 'ambiguousName' })
    else if (known === undefined) {
      created += 1
      if (writes) await productTable.insert(rows, { id: v7(), ...productDefaults, ...product })
    } else if (isEqual(known, product)) unchanged += 1
    else {
      changed += 1
      if (writes) await onChange(await productTable.update(rows, { id: known.id }, product))
    }
  }
  refusals.sort((a, b) => a.line - b.line)
  return { linesRead: lines.length, created, changed, unchanged, refused: refusals.length, refusals }
}

async function idsOf(rows: Statements, sql: string, ids: readonly string[]) {
  return new Set((await rows.query<{ id: string }>(sql, [ids])).map(({ id }) => id))
}

function isEqual(known: Product, { categoryId, unitPrice, currency, unitsInStock }: ImportedProduct) {
  return (
    known.categoryId === categoryId.toLowerCase() &&
    Number(known.unitPrice) === Number(unitPrice) &&
    known.currency === currency &&
    known.unitsInStock === unitsInStock
  )
}
