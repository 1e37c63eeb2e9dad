import { type Collection, collection } from '@concordat/pagination-query'
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { Amount, Currency } from '../fields.ts'
import { Order, orderCollection, orderListing } from './schemas.ts'

const Money = Type.Object({ amount: Amount, currency: Currency }, { title: 'Money' })

const { id, customerId, status, placedAt, total, shippedAt, note } = Order.properties
const OrderWithMoney = Type.Object({ id, customerId, status, placedAt, total: Money, shippedAt, note })

type ShownOrder = Order | Static<typeof OrderWithMoney>

/** How a version of the interface shows orders; whatever answers with one asks this. */
export interface OrderRepresentation {
  readonly schema: TUnsafe<ShownOrder>
  /** By what lists of them are sorted, filtered and projected. */
  readonly collection: Collection<Omit<Order, 'currency'>>
  /** The order as it is shown. Of one that was asked for in parts, the same parts. */
  readonly show: (order: Order) => ShownOrder
}

/** Version 1: an amount, and apart from it the currency. */
export const ordersOfV1: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(Order),
  collection: orderCollection,
  show: (order) => order
}

/** Version 2: the total is an amount in a currency, and is sorted and filtered by its amount. */
export const ordersOfV2: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(OrderWithMoney),
  collection: collection(Type.Object({ id, customerId, status, placedAt, total, shippedAt, note }))(orderListing),
  // One that was asked for without its total has none.
  show: ({ total, currency, ...others }) =>
    total === undefined ? (others as ShownOrder) : { ...others, total: { amount: total, currency } }
}
