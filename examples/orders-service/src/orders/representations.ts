import { type Collection, collection, one } from '@concordat/pagination-query'
import { type Static, type TUnsafe, Type } from '@sinclair/typebox'
import { customerOf } from '../access.ts'
import { customerCollection } from '../customers/schemas.ts'
import { Money, projection } from '../fields.ts'
import { Order, orderCollection, orderDescription, orderListing } from './schemas.ts'

const { id, customerId, status, placedAt, total, shippedAt, note } = Order.properties
const OrderWithMoney = Type.Object({ id, customerId, status, placedAt, total: Money, shippedAt, note }, { description: orderDescription })

type ShownOrder = Order | Static<typeof OrderWithMoney>

/** How a version of the API shows orders. Every route that returns an order uses it. */
export interface OrderRepresentation {
  readonly schema: TUnsafe<ShownOrder>
  /** The collection by which lists are sorted, filtered and projected. */
  readonly collection: Collection<Omit<Order, 'currency'>>
  /** What clients can select of a single order. */
  readonly projection: typeof projection & { readonly relationsOf?: Collection<Omit<Order, 'currency'>> }
  /** Converts an order to the form of the version. An order with only some fields is converted to the same fields. */
  readonly show: (order: Order) => ShownOrder
}

/** Version 1: an amount, and the currency in a separate field. */
export const ordersOfV1: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(Order),
  collection: orderCollection,
  projection,
  show: (order) => order
}

// Customers see themselves only, staff see all of them.
const customer = one(customerCollection, {
  key: 'customerId',
  permission: 'customers:read',
  source: ({ principal }) => {
    const only = customerOf(principal)
    return only === undefined ? {} : { where: { text: 'id = $1', values: [only] } }
  }
})
const collectionOfV2 = collection(Type.Object({ id, customerId, status, placedAt, total, shippedAt, note }))({
  ...orderListing,
  relations: { customer }
})

/** Version 2: the total is an amount with a currency, and an order can include its customer. Sorting and filtering use the amount. */
export const ordersOfV2: OrderRepresentation = {
  schema: Type.Unsafe<ShownOrder>(OrderWithMoney),
  collection: collectionOfV2,
  projection: { ...projection, relationsOf: collectionOfV2 },
  // An order that was requested without its total does not get one.
  show: ({ total, currency, ...others }) =>
    total === undefined ? (others as ShownOrder) : { ...others, total: { amount: total, currency } }
}
