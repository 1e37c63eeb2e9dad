import type { Item, Transaction, WorkQueue } from '@concordat/work-queue'
import type { Subscription } from './subscription.ts'

/** The queue for deliveries to unordered subscriptions. */
export const deliveryQueue = 'webhook-deliveries'
/** The queue for deliveries to ordered subscriptions, which are sent one after the other. */
export const orderedDeliveryQueue = 'webhook-deliveries-ordered'
/** The queue for recoveries, which send the undelivered events of a time range again. */
export const recoveryQueue = 'webhook-recoveries'

/** The payload of a job in the delivery queues. */
export interface DeliveryJob {
  readonly deliveryId: string
}

/** The payload of a job in the recovery queue. Times are in milliseconds since the Unix epoch. */
export interface RecoveryJob {
  readonly subscriptionId: string
  readonly since: number
  readonly until: number
  /** The time of the recovery request. Deliveries that ended later have already been tried again. */
  readonly endedBefore: number
}

/** Defines the queues of this package. */
export async function defineQueues(queue: WorkQueue): Promise<void> {
  await queue.define(deliveryQueue)
  await queue.define(orderedDeliveryQueue, { ordered: true })
  await queue.define(recoveryQueue)
}

/** A delivery to enqueue, and whether its subscription is ordered. */
export type QueuedDelivery = {
  readonly deliveryId: string
  readonly subscription: Pick<Subscription, 'id' | 'ordered'>
  readonly jobId: string
  readonly delaySeconds: number
}

/** Enqueues deliveries, in the given order. */
export async function enqueueDeliveries(queue: WorkQueue, deliveries: readonly QueuedDelivery[], transaction?: Transaction): Promise<void> {
  for (const ordered of [false, true]) {
    const items = deliveries.filter(({ subscription }) => subscription.ordered === ordered).map(itemOf)
    if (items.length > 0) await queue.enqueue(ordered ? orderedDeliveryQueue : deliveryQueue, items, transaction)
  }
}

/** Wakes the workers of all queues of this package. */
export function kickQueues(queue: WorkQueue): void {
  queue.kick(deliveryQueue)
  queue.kick(orderedDeliveryQueue)
  queue.kick(recoveryQueue)
}

function itemOf({ deliveryId, subscription, jobId, delaySeconds }: QueuedDelivery): Item {
  return { id: jobId, payload: { deliveryId } satisfies DeliveryJob, key: subscription.id, delaySeconds }
}
