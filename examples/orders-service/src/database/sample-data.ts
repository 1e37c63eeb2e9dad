import { v7 } from 'uuid'
import { cancellationReasons, categories, familyNames, givenNames, places, trades } from './sample-names.ts'

const day = 86_400_000
const firstOrderAt = Date.UTC(2024, 8, 1)
const spanOfOrders = 730 * day
const lastDays = firstOrderAt + spanOfOrders - 45 * day
const foundedAt = firstOrderAt - 30 * day

interface SampleProduct {
  readonly id: string
  readonly name: string
  readonly categoryId: string
  readonly cents: number
  readonly unitsInStock: number
  readonly discontinued: boolean
  readonly createdAt: string
}

interface SampleOrder {
  readonly id: string
  readonly customerId: string
  readonly status: 'pending' | 'paid' | 'shipped' | 'cancelled'
  readonly placedAt: string
  readonly shippedAt: string | null
  readonly cancelledAt: string | null
  readonly reason: string | null
  readonly totalCents: number
  readonly items: readonly { readonly id: string; readonly productId: string; readonly quantity: number; readonly cents: number }[]
}

export const sampleCategories: readonly { readonly id: string; readonly name: string; readonly description: string }[] = categories.map(
  ({ name, description }, index) => ({ id: idOf(randomOf('category', index), foundedAt + index), name, description })
)

/** 77 products, of which one in ten is discontinued. */
export const sampleProducts: readonly SampleProduct[] = categories
  .flatMap(({ products }, category) => products.map((name) => ({ name, category })))
  .map(({ name, category }, index) => {
    const random = randomOf('product', index)
    const createdAt = foundedAt + index * 60_000
    return {
      id: idOf(random, createdAt),
      name,
      categoryId: (sampleCategories[category] as { id: string }).id,
      cents: 195 + below(random, 400) * 10,
      unitsInStock: 100 + below(random, 900),
      discontinued: index % 10 === 7,
      createdAt: isoOf(createdAt)
    }
  })

/** 91 customers. The first two are used in the documentation. */
export const sampleCustomers: readonly Readonly<
  Record<'id' | 'companyName' | 'contactName' | 'email' | 'country' | 'createdAt', string>
>[] = trades
  .flatMap((trade) => places.map(([city, country]) => ({ trade, city, country })))
  .map(({ trade, city, country }, index) => {
    const createdAt = foundedAt + index * 3_600_000
    const given = givenNames[index % 13] as string
    const family = familyNames[index % 7] as string
    const known = [
      { contactName: 'Ada Almeida', email: 'ada@example.com' },
      { contactName: 'Max Berger', email: 'max@example.com' }
    ][index]
    return {
      id: idOf(randomOf('customer', index), createdAt),
      companyName: `${city} ${trade}`,
      contactName: `${given} ${family}`,
      email: `orders@${`${city}-${trade}`.toLowerCase().replaceAll(' ', '-')}.example`,
      country,
      createdAt: isoOf(createdAt),
      ...known
    }
  })

/**
 * Returns the order with this number, always the same order. Any number of orders is distributed evenly over two years, a tenth of them
 * are Ada's, and the first 830 have 2,155 items.
 */
export function sampleOrder(index: number): SampleOrder {
  const random = randomOf('order', index)
  // Multiples of the golden ratio are distributed evenly over the time span, for any number of orders.
  const placed = firstOrderAt + Math.floor(((index * 0.618_033_988_749_895) % 1) * spanOfOrders)
  const customer = index % 10 === 3 ? 0 : 1 + below(random, sampleCustomers.length - 1)
  const id = idOf(random, placed)
  const first = below(random, sampleProducts.length)
  const stride = 1 + below(random, sampleProducts.length - 1)
  const items = Array.from({ length: itemCountOf(index) }, (_, position) => {
    const product = sampleProducts[(first + position * stride) % sampleProducts.length] as SampleProduct
    return { id: idOf(random, placed), productId: product.id, quantity: 1 + below(random, 40), cents: product.cents }
  })
  const status = statusAt(placed, random())
  return {
    id,
    customerId: (sampleCustomers[customer] as { id: string }).id,
    status,
    placedAt: isoOf(placed),
    shippedAt: status === 'shipped' ? isoOf(placed + day + below(random, 8 * day)) : null,
    cancelledAt: status === 'cancelled' ? isoOf(placed + below(random, day)) : null,
    reason: status === 'cancelled' ? (cancellationReasons[below(random, cancellationReasons.length)] as string) : null,
    totalCents: items.reduce((sum, { quantity, cents }) => sum + quantity * cents, 0),
    items
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
  const words = new DataView(new ArrayBuffer(16))
  for (let offset = 0; offset < 16; offset += 4) words.setUint32(offset, below(random, 4_294_967_296))
  return v7({ msecs: milliseconds, random: new Uint8Array(words.buffer) })
}

function isoOf(milliseconds: number) {
  return new Date(milliseconds).toISOString()
}
