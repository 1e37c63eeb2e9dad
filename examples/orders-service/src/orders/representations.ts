import { type Collection, collection } from '@concordat/pagination-query'
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { Amount, Currency } from '../fields.ts'
import { Order, orderCollection, orderDescription, orderListing } from './schemas.ts'

const Money = Type.Object({ amount: Amount, currency: Currency }, { title: 'Money' })

const { id, customerId, status, placedAt, total, shippedAt, note } = Order.properties
const OrderWithMoney = Type.Object({ id, customerId, status, placedAt, total: Money, shippedAt, note }, { description: orderDescription })

type ShownOrder = Order | Static<typeof OrderWithMoney>

/** How a version of the API shows orders. Every route that returns an order uses it. */
export interface OrderRepresentation {
  readonly schema: TUnsafe<ShownOrder>
  /** The collection by which lists are sorted, filtered and projected. */
  readonly collection: Collection<Omit<Order, 'currency'>>
  /** Converts an order to the form of the version. An order with only some fields is converted to the same fields. */
  readonly show: (order: Order) => ShownOrder
}

/** Version 1: an amount, and the currency in a separate field. */
export const ordersOfV1: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(Order),
  collection: orderCollection,
  show: (order) => order
}

/** Version 2: the total is an amount with a currency. Sorting and filtering use the amount. */
export const ordersOfV2: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(OrderWithMoney),
  collection: collection(Type.Object({ id, customerId, status, placedAt, total, shippedAt, note }))(orderListing),
  // An order that was requested without its total does not get one.
  show: ({ total, currency, ...others }) =>
    total === undefined ? (others as ShownOrder) : { ...others, total: { amount: total, currency } }
}
