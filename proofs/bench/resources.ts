// What every server of the benchmark sends and logs: the same resources, the same schemas, the same log destination.
import { openSync, writeSync } from 'node:fs'

export const publicUrl = 'https://api.example.com'
export const password = 'correct horse battery staple'
export const username = 'ada@example.com'
export const secret = 'w8K!3fPz-0aQm7Rx+2LdVt5Yc9Hj6NbE'

/** The issuer of access tokens. Every peer accepts and issues HS256 tokens with this key. */
export const tokens = { issuer: 'https://tokens.example.com', audience: 'products', kid: 'bench' } as const

const uuid = (number: number) => `01937f6e-0000-7000-8000-${String(number).padStart(12, '0')}`
export const product = (number: number) => ({
  id: uuid(number),
  name: 'Chai',
  categoryId: uuid(0),
  unitPrice: '18.00',
  currency: 'EUR',
  unitsInStock: 39,
  discontinued: false,
  createdAt: '2025-01-01T00:00:00.000Z',
  updatedAt: '2025-01-01T00:00:00.000Z'
})
export const products: readonly ReturnType<typeof product>[] = Array.from({ length: 50 }, (_, number) => product(number + 1))
export const productsById: ReadonlyMap<string, ReturnType<typeof product>> = new Map(products.map((found) => [found.id, found]))

const text = { type: 'string' }
const time = { type: 'string', format: 'date-time' }
export const productSchema = {
  type: 'object',
  required: Object.keys(product(1)),
  properties: {
    id: text,
    name: text,
    categoryId: text,
    unitPrice: text,
    currency: text,
    unitsInStock: { type: 'integer' },
    discontinued: { type: 'boolean' },
    createdAt: time,
    updatedAt: time
  }
} as const
const item = {
  type: 'object',
  required: ['productId', 'quantity'],
  additionalProperties: false,
  properties: { productId: text, quantity: { type: 'integer', minimum: 1 } }
} as const
export const newOrderSchema = {
  type: 'object',
  required: ['customer', 'items'],
  additionalProperties: false,
  properties: { customer: text, items: { type: 'array', items: item }, note: text }
} as const
export const orderSchema = {
  type: 'object',
  required: ['id', 'customer', 'items'],
  properties: { id: text, ...newOrderSchema.properties }
} as const

export interface NewOrder {
  readonly customer: string
  readonly items: readonly { readonly productId: string; readonly quantity: number }[]
  readonly note?: string
}

/** Lines are written to a device that discards them, 64 KB at a time, so that neither the disk nor system calls are compared. */
export function logStream(): { write: (line: string) => void } {
  const device = openSync('/dev/null', 'w')
  let block = ''
  return {
    write(line) {
      block += line
      if (block.length < 65_536) return
      writeSync(device, block)
      block = ''
    }
  }
}
