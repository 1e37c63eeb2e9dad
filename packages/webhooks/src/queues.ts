import type { Item, Transaction, WorkQueue } from '@concordat/work-queue'
import type { Subscription } from './subscription.ts'

/** Deliveries of subscriptions that take them in any order. */
export const deliveryQueue = 'webhook-deliveries'
/** Deliveries of subscriptions that take them one after the other. */
export const orderedDeliveryQueue = 'webhook-deliveries-ordered'
/** Time ranges that are to be delivered again. */
export const recoveryQueue = 'webhook-recoveries'

/** What a job of the delivery queues says. */
export interface DeliveryJob {
  readonly deliveryId: string
}

/** What a job of the recovery queue says; times in milliseconds since 1970. */
export interface RecoveryJob {
  readonly subscriptionId: string
  readonly since: number
  readonly until: number
  /** When it was asked for: what ends later has been tried anew already. */
  readonly endedBefore: number
}

/** Makes the queues ready. */
export async function defineQueues(queue: WorkQueue): Promise<void> {
  await queue.define(deliveryQueue)
  await queue.define(orderedDeliveryQueue, { ordered: true })
  await queue.define(recoveryQueue)
}

/** A delivery and whether its subscription is ordered. */
export type QueuedDelivery = {
  readonly deliveryId: string
  readonly subscription: Pick<Subscription, 'id' | 'ordered'>
  readonly jobId: string
  readonly delaySeconds: number
}

/** Has deliveries done, in their order. */
export async function enqueueDeliveries(queue: WorkQueue, deliveries: readonly QueuedDelivery[], transaction?: Transaction): Promise<void> {
  for (const ordered of [false, true]) {
    const items = deliveries.filter(({ subscription }) => subscription.ordered === ordered).map(itemOf)
    if (items.length > 0) await queue.enqueue(ordered ? orderedDeliveryQueue : deliveryQueue, items, transaction)
  }
}

/** Says that there may be something to do. */
export function kickQueues(queue: WorkQueue): void {
  queue.kick(deliveryQueue)
  queue.kick(orderedDeliveryQueue)
  queue.kick(recoveryQueue)
}

function itemOf({ deliveryId, subscription, jobId, delaySeconds }: QueuedDelivery): Item {
  return { id: jobId, payload: { deliveryId } satisfies DeliveryJob, key: subscription.id, delaySeconds }
}
