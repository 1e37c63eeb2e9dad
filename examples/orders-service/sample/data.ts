import { v7 } from 'uuid'
import names from './names.json' with { type: 'json' }

const day = 86_400_000
const firstOrderAt = Date.UTC(2024, 8, 1)
const spanOfOrders = 730 * day
const lastDays = firstOrderAt + spanOfOrders - 45 * day
const foundedAt = firstOrderAt - 30 * day
const currency = 'EUR'

export const sampleCategories = names.categories.map(({ name, description }, index) => ({
  id: idOf(randomOf('category', index), foundedAt + index),
  name,
  description
}))

const products = names.categories
  .flatMap((category, index) => category.products.map((name) => ({ name, category_id: sampleCategories[index]?.id })))
  .map((product, index) => {
    const random = randomOf('product', index)
    const created_at = isoOf(foundedAt + index * 60_000)
    return {
      id: idOf(random, foundedAt + index * 60_000),
      ...product,
      cents: 195 + below(random, 400) * 10,
      units_in_stock: 100 + below(random, 900),
      currency,
      discontinued: index % 10 === 7,
      created_at,
      updated_at: created_at
    }
  })

/** 77 products, of which one in ten is discontinued. */
export const sampleProducts = products.map(({ cents, ...product }) => ({ ...product, unit_price: decimalOf(cents) }))

const known = [
  { contact_name: 'Ada Almeida', email: 'ada@example.com' },
  { contact_name: 'Max Berger', email: 'max@example.com' }
]

/** 91 customers: each trade in each city. The first two are used in the documentation. */
export const sampleCustomers = names.trades
  .flatMap((trade) => names.places.map((place) => ({ trade, ...place })))
  .map(({ trade, city, country }, index) => {
    const createdAt = foundedAt + index * 3_600_000
    return {
      id: idOf(randomOf('customer', index), createdAt),
      company_name: `${city} ${trade}`,
      contact_name: `${names.givenNames[index % 13]} ${names.familyNames[index % 7]}`,
      email: `orders@${`${city}-${trade}`.toLowerCase().replaceAll(' ', '-')}.example`,
      country,
      created_at: isoOf(createdAt),
      ...known[index]
    }
  })

/**
 * Returns the rows of the order with this number, always the same rows. Any number of orders is distributed evenly over two years, a tenth
 * of them are Ada's, and the first 830 have 2,155 items.
 */
export function sampleOrder(index: number) {
  const random = randomOf('order', index)
  // Multiples of the golden ratio are distributed evenly over the time span, for any number of orders.
  const placed = firstOrderAt + Math.floor(((index * 0.618_033_988_749_895) % 1) * spanOfOrders)
  const customer = index % 10 === 3 ? 0 : 1 + below(random, sampleCustomers.length - 1)
  const id = idOf(random, placed)
  const first = below(random, products.length)
  const stride = 1 + below(random, products.length - 1)
  const lines = Array.from({ length: itemCountOf(index) }, (_, position) => {
    const product = products[(first + position * stride) % products.length] as (typeof products)[number]
    return { id: idOf(random, placed), product, quantity: 1 + below(random, 40) }
  })
  const status = statusAt(placed, random())
  const shipped_at = status === 'shipped' ? isoOf(placed + day + below(random, 8 * day)) : null
  const cancelled_at = isoOf(placed + below(random, day))
  const reason = names.cancellationReasons[below(random, names.cancellationReasons.length)]
  const total = decimalOf(lines.reduce((sum, { product, quantity }) => sum + quantity * product.cents, 0))
  return {
    order: { id, customer_id: sampleCustomers[customer]?.id, status, placed_at: isoOf(placed), shipped_at, total, currency },
    items: lines.map(({ product, ...line }) => ({ ...line, order_id: id, product_id: product.id, unit_price: decimalOf(product.cents) })),
    cancellations: status === 'cancelled' ? [{ order_id: id, cancelled_at, reason }] : []
  }
}

// 2155 / 830 on average. Of two neighbors, one has an item more and the other an item fewer, so that the sum stays the same.
function itemCountOf(index: number) {
  const average = Math.floor(((index + 1) * 2155) / 830) - Math.floor((index * 2155) / 830)
  const moved = below(randomOf('items', index >> 1), 2)
  return index % 2 === 0 ? average + moved : average - moved
}

function statusAt(placed: number, chance: number) {
  if (chance < 0.06) return 'cancelled'
  if (placed < lastDays) return 'shipped'
  return chance < 0.4 ? 'pending' : chance < 0.7 ? 'paid' : 'shipped'
}

type Random = () => number

// Mulberry32: the same numbers on every machine for each stream and index.
function randomOf(stream: string, index: number): Random {
  let state = (index + 1) * 0x9e37_79b1
  for (const character of stream) state = Math.imul(state ^ (character.codePointAt(0) as number), 0x0100_0193)
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function below(random: Random, limit: number) {
  return Math.floor(random() * limit)
}

function idOf(random: Random, milliseconds: number) {
  const bytes = Buffer.alloc(16)
  for (let offset = 0; offset < 16; offset += 4) bytes.writeUInt32BE(below(random, 4_294_967_296), offset)
  return v7({ msecs: milliseconds, random: bytes })
}

function isoOf(milliseconds: number) {
  return new Date(milliseconds).toISOString()
}

function decimalOf(cents: number) {
  return (cents / 100).toFixed(2)
}
