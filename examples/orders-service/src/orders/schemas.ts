import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Amount, Currency, Id, removable, Timestamp } from '../fields.ts'

export const OrderStatus = Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('shipped'), Type.Literal('cancelled')])
export type OrderStatus = Static<typeof OrderStatus>

const Note = Type.String({ maxLength: 2000, examples: ['Ring twice.'] })
const Quantity = Type.Integer({ minimum: 1, maximum: 10_000 })

export const orderDescription = 'An order of a customer. Its total is fixed when it is placed.'
export const Order = Type.Object(
  {
    id: Id,
    customerId: Id,
    status: OrderStatus,
    placedAt: Timestamp,
    total: Amount,
    currency: Currency,
    shippedAt: Type.Optional(Timestamp),
    note: Type.Optional(Note)
  },
  { description: orderDescription }
)
export type Order = Static<typeof Order>

const range = ['gt', 'gte', 'lt', 'lte'] as const

/**
 * The list of orders, the same in every version. New orders arrive all the time, so a client of numbered pages would see some of them
 * twice.
 */
export const orderListing = {
  name: 'orders',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-placedAt'],
  sort: {
    keys: ['placedAt', 'total'],
    combinations: [
      ['total', 'placedAt'],
      ['total', '-placedAt'],
      ['-total', 'placedAt'],
      ['-total', '-placedAt']
    ]
  },
  filter: { status: ['eq', 'ne', 'in'], customerId: ['eq'], placedAt: range, total: ['eq', ...range] }
} as const

export const orderCollection = collection(Order)(orderListing)

export const NewItem = Type.Object({ productId: Id, quantity: Quantity })
export type NewItem = Static<typeof NewItem>

export const NewOrder = Type.Object({
  customerId: Type.Optional(Type.Unsafe<string>({ ...Id, description: 'Required for staff. Customers order for themselves.' })),
  items: Type.Array(NewItem, { minItems: 1, maxItems: 100 }),
  note: Type.Optional(Note)
})
export type NewOrder = Static<typeof NewOrder>

export const OrderChanges = Type.Object({ status: Type.Optional(OrderStatus), note: removable(Note) })
export type OrderChanges = Static<typeof OrderChanges>

export const Item = Type.Object({ id: Id, productId: Id, quantity: Quantity, unitPrice: Amount })
export type Item = Static<typeof Item>

export const itemCollection = collection(Item)({
  name: 'order-items',
  style: 'page',
  id: 'id',
  defaultSort: ['id'],
  sort: { keys: ['id'] }
})

export const ItemChanges = Type.Object({ quantity: Type.Optional(Quantity) })
export type ItemChanges = Static<typeof ItemChanges>

const Reason = Type.String({ maxLength: 500, examples: ['Ordered twice.'] })
export const NewCancellation = Type.Object({ reason: Type.Optional(Reason) })
export type NewCancellation = Static<typeof NewCancellation>

export const Cancellation = Type.Object({
  orderId: Id,
  cancelledAt: Timestamp,
  reason: Type.Optional(Reason)
})
export type Cancellation = Static<typeof Cancellation>

export const ItemPath = Type.Object({ id: Id, itemId: Id })
