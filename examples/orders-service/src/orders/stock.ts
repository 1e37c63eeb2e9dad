import type { Statements } from '@concordat/postgres/rows'
import { orderErrors } from './errors.ts'

/** The number of units of a product, and the JSON pointer of the value in the body that names it. */
export interface Wanted {
  readonly productId: string
  readonly quantity: number
  readonly pointer: string
}

interface Stocked {
  readonly id: string
  readonly name: string
  readonly currency: string
  readonly units: number
  readonly discontinued: boolean
}

/** Takes the units out of stock, or throws and takes none. The currency of all the products must be `currency` when that is given. */
export async function takeStock(transaction: Statements, wanted: readonly Wanted[], currency?: string): Promise<void> {
  await requireStock(transaction, wanted, currency)
  await moveStock(transaction, wanted, -1)
}

/** Locks the products, and throws if they cannot be sold together. */
export async function requireStock(transaction: Statements, wanted: readonly Wanted[], currency?: string): Promise<void> {
  const stock = await lockProducts(transaction, wanted)
  const unknown = wanted.filter(({ productId }) => !stock.has(productId))
  if (unknown.length > 0) {
    throw orderErrors.create('UNKNOWN_PRODUCT', { errors: unknown.map(({ pointer }) => ({ ...placeOf(pointer), key: 'unknownProduct' })) })
  }

  const products = wanted.map(({ productId, pointer }) => ({ ...(stock.get(productId) as Stocked), pointer }))
  const expected = currency ?? (products[0] as Stocked).currency
  const foreign = products.filter((product) => product.currency !== expected)
  if (foreign.length > 0) {
    const errors = foreign.map(
      ({ pointer, currency }) => ({ ...placeOf(pointer), key: 'otherCurrency', params: { currency, expected } }) as const
    )
    throw orderErrors.create('MIXED_CURRENCIES', { errors })
  }

  for (const [id, quantity] of quantities(wanted)) {
    const { name, units, discontinued } = stock.get(id) as Stocked
    if (discontinued) throw orderErrors.create('PRODUCT_DISCONTINUED', { params: { product: name } })
    if (units < quantity) throw orderErrors.create('INSUFFICIENT_STOCK', { params: { product: name, available: units } })
  }
}

/** Returns the units to stock. */
export async function returnStock(transaction: Statements, lines: readonly Omit<Wanted, 'pointer'>[]): Promise<void> {
  await lockProducts(transaction, lines)
  await moveStock(transaction, lines, 1)
}

function placeOf(pointer: string) {
  return { field: `body${pointer.replaceAll('/', '.')}`, pointer }
}

// Rows are always locked in the order of their ids: two orders for the same products wait for each other, without a deadlock.
async function lockProducts(transaction: Statements, lines: readonly { readonly productId: string }[]) {
  const rows = await transaction.query<Stocked>(
    `SELECT id, name, currency, units_in_stock AS units, discontinued FROM products
     WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
    [lines.map(({ productId }) => productId)]
  )
  return new Map(rows.map((row) => [row.id, row]))
}

async function moveStock(transaction: Statements, lines: readonly { productId: string; quantity: number }[], direction: 1 | -1) {
  const moved = [...quantities(lines)]
  await transaction.query(
    `UPDATE products SET units_in_stock = units_in_stock + moved.quantity
     FROM unnest($1::uuid[], $2::integer[]) AS moved (id, quantity) WHERE products.id = moved.id`,
    [moved.map(([id]) => id), moved.map(([, quantity]) => quantity * direction)]
  )
}

// An order can name the same product on several lines.
function quantities(lines: readonly { productId: string; quantity: number }[]) {
  const sums = new Map<string, number>()
  for (const { productId, quantity } of lines) sums.set(productId, (sums.get(productId) ?? 0) + quantity)
  return sums
}
