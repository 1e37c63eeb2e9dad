import type { OpenDatabase } from '@concordat/postgres/open'
import type { WebhooksOptions } from '@concordat/webhooks'
import type { Transaction } from '@concordat/work-queue'
import { audiencesOf } from '../access.ts'
import { ordersOfV2 } from '../orders/representations.ts'
import { Order } from '../orders/schemas.ts'
import { Product } from '../products/schemas.ts'

const id = '0191106c-03c0-76ff-b1de-b7ec6c68a6a1'
const order: Order = {
  id,
  customerId: '01911062-dc00-771a-b12f-f840ae896740',
  status: 'pending',
  placedAt: '2026-01-31T12:00:00.000Z',
  total: '75.15',
  currency: 'EUR'
}
const product: Product = {
  id,
  name: 'Aged Balsamic Vinegar',
  categoryId: '01911062-dc01-748a-a183-01c1a2ff13b3',
  unitPrice: '25.05',
  currency: 'EUR',
  unitsInStock: 468,
  discontinued: false,
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z'
}

function ofOrder(description: string, example: Order) {
  const { schema, show } = ordersOfV2
  return {
    description,
    audiences: audiencesOf,
    schema: Order,
    example,
    versions: { 2: { schema, example: show(example), represent: show } }
  }
}

/** The events that clients can subscribe to. `data` is the resource as its GET returns it in the version of the subscription. */
const events = {
  'order.created': ofOrder('An order was placed.', order),
  'order.updated': ofOrder('The status, the note or the items of an order were changed.', { ...order, status: 'paid' }),
  'order.cancelled': ofOrder('An order was cancelled.', { ...order, status: 'cancelled' }),
  'product.updated': {
    description: 'The staff changed a product. A change of its stock by an order does not emit this event.',
    schema: Product,
    example: product
  }
} as const satisfies WebhooksOptions['events']

/**
 * Returns the options of the preset. Customers receive events of their own orders, staff of all orders, and both of products, which are public. One
 * statement reads the current roles of all subscribers.
 */
export function webhooksOf(database: OpenDatabase) {
  return {
    events,
    ownersOf: (user) => [user],
    async mayReceive(subscriptions, { type, data, transaction }) {
      const customerId = type === 'product.updated' ? null : (data as Order).customerId
      const client: Transaction = transaction ?? database.postgres.client
      const { rows } = await client.query(
        `SELECT id::text FROM users WHERE id = ANY($1::uuid[]) AND ($2::uuid IS NULL OR role = 'staff' OR (role = 'customer' AND id = $2))`,
        [subscriptions.map(({ owner }) => owner), customerId]
      )
      const allowed = new Set((rows as { readonly id: string }[]).map(({ id }) => id))
      return subscriptions.filter(({ owner }) => allowed.has(owner))
    }
  } as const satisfies WebhooksOptions
}
