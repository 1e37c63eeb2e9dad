import { collection, one } from '@concordat/pagination-query'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { categoryCollection } from '../categories/schemas.ts'
import { Amount, Currency, Id, Price, removable, Timestamp } from '../fields.ts'

export const maxNameLength = 200
export const maxUnitsInStock = 1_000_000

const Description = Type.String({ maxLength: 4000, examples: ['Aged for twelve years in oak.'] })

const writable = {
  name: Type.String({ minLength: 1, maxLength: maxNameLength, examples: ['Aged balsamic vinegar'] }),
  description: Type.Optional(Description),
  categoryId: Id,
  unitPrice: Price,
  currency: Currency,
  unitsInStock: Type.Integer({ minimum: 0, maximum: maxUnitsInStock, examples: [24] }),
  discontinued: Type.Boolean({ examples: [false] })
}
const given = { createdAt: Timestamp, updatedAt: Timestamp }

export const Product = Type.Object(
  { id: Id, ...writable, ...given, unitPrice: Amount, unitsInStock: Type.Integer({ examples: [24] }) },
  { description: 'A product that the shop sells, with its price and the stock.' }
)
export type Product = Static<typeof Product>

const productListing = {
  name: 'products',
  style: 'page',
  id: 'id',
  defaultSort: ['name'],
  sort: {
    keys: ['name', 'unitPrice', 'createdAt'],
    combinations: [
      ['unitPrice', 'name'],
      ['unitPrice', '-name'],
      ['-unitPrice', 'name'],
      ['-unitPrice', '-name']
    ]
  },
  filter: {
    categoryId: ['eq', 'in'],
    unitPrice: ['eq', 'gte', 'gt', 'lt', 'lte'],
    discontinued: ['eq'],
    name: ['eq', 'ne', 'prefix']
  }
} as const

export const productCollection = collection(Product)(productListing)

/** The products of version 2, which can include their category. */
export const productsWithCategory = collection(Product)({
  ...productListing,
  relations: { category: one(categoryCollection, { key: 'categoryId', permission: 'public' }) }
})

/** The values of fields that are missing in a new product. */
export const productDefaults = { currency: 'EUR', unitsInStock: 0, discontinued: false }

export const NewProduct = Type.Object({
  ...writable,
  currency: Type.Optional(withDefault(writable.currency, productDefaults.currency)),
  unitsInStock: Type.Optional(withDefault(writable.unitsInStock, productDefaults.unitsInStock)),
  discontinued: Type.Optional(withDefault(writable.discontinued, productDefaults.discontinued))
})

/** All fields that clients can write. Fields that only the service sets may be sent back as they were read; they are ignored. */
export const WholeProduct = Type.Object({ ...writable, ...Type.Partial(Type.Object({ id: Id, ...given })).properties })
export type WholeProduct = Static<typeof WholeProduct>

export const ProductChanges = Type.Partial(Type.Object({ ...writable, description: removable(Description) }))
export type ProductChanges = Static<typeof ProductChanges>

function withDefault<Schema extends TSchema>(schema: Schema, value: unknown): Schema {
  return { ...schema, default: value }
}
