import type { Transaction, WorkQueue } from '@concordat/work-queue'
import { type Delivery, jobIdOf } from '../store/delivery.ts'
import { keyOf, type Outage, type Receiver, receiverOf } from '../store/outage.ts'
import { ownerKey, type Subscription } from '../store/subscription.ts'

/** The queue for deliveries to unordered subscriptions, and for what concerns their receivers. */
export const deliveryQueue = 'webhook-deliveries'
/** The queue for deliveries to ordered subscriptions, which are sent one after the other. */
export const orderedDeliveryQueue = 'webhook-deliveries-ordered'
/** The queue for recoveries, which send the undelivered events of a time range again. */
export const recoveryQueue = 'webhook-recoveries'

/** The payload of a job that makes an attempt. */
export interface DeliveryJob {
  readonly deliveryId: string
}

/** The payload of a job that verifies the URL of a subscription, or makes one more attempt of the verification `extraFor`. */
export interface VerificationJob {
  readonly subscriptionId: string
  readonly extraFor?: string | undefined
}

/** The payload of a job that starts the probes of a receiver during an outage. */
export interface ProbeJob {
  readonly probed: Receiver
}

/** The payload of a job that starts everything that waits for a receiver. */
export interface WakeJob {
  readonly recovered: Receiver
}

/** The payload of a recovery of what was created at or after `since` and before `until`, and ended before the request, in milliseconds since the epoch. */
export interface RecoveryJob {
  readonly subscriptionId: string
  readonly since: number
  readonly until: number
  readonly endedBefore: number
}

/** Defines the queues of this package. */
export async function defineQueues(queue: WorkQueue): Promise<void> {
  await queue.define(deliveryQueue)
  await queue.define(orderedDeliveryQueue, { ordered: true })
  await queue.define(recoveryQueue)
}

/** Enqueues deliveries, each with its own delay. */
export async function enqueueDeliveries(
  queue: WorkQueue,
  deliveries: readonly { readonly delivery: Delivery; readonly subscription: Subscription; readonly delaySeconds: number }[],
  transaction: Transaction | undefined
): Promise<void> {
  for (const ordered of [false, true]) {
    const items = deliveries
      .filter(({ subscription }) => subscription.ordered === ordered)
      .map(({ delivery, subscription, delaySeconds }) => {
        const payload: DeliveryJob = { deliveryId: delivery.id }
        // The receivers of an owner share the attempts that the owner may hold.
        const turn = ordered ? { key: subscription.id } : turnOf(subscription)
        return { id: jobIdOf(delivery), payload, delaySeconds, ...turn }
      })
    if (items.length > 0) await queue.enqueue(queueOf({ ordered }), items, transaction)
  }
}

/** Enqueues the verification of a subscription's URL, or one more attempt of it, which does not use up the attempts of the verification. */
export async function enqueueVerification(
  queue: WorkQueue,
  subscription: Subscription,
  transaction: Transaction | undefined,
  isExtra = false
): Promise<void> {
  const { id, verificationJobId } = subscription
  const payload: VerificationJob = { subscriptionId: id, extraFor: isExtra ? verificationJobId : undefined }
  const item = { id: isExtra ? undefined : verificationJobId, payload, ...turnOf(subscription) }
  await queue.enqueue(deliveryQueue, [item], transaction)
}

function turnOf(subscription: Subscription) {
  return { key: ownerKey(subscription), part: receiverOf(subscription).origin }
}

/** Enqueues the job that starts the probes of a receiver. */
export async function enqueueProbes(
  queue: WorkQueue,
  outage: Outage,
  delaySeconds: number,
  transaction: Transaction | undefined
): Promise<void> {
  const payload: ProbeJob = { probed: { owner: outage.owner, origin: outage.origin } }
  // Not the key of the owner's deliveries, which may hang.
  await queue.enqueue(deliveryQueue, [{ id: outage.jobId, payload, key: keyOf(outage), delaySeconds }], transaction)
}

/** Enqueues the job that starts everything that waits for a receiver. */
export async function enqueueWake(queue: WorkQueue, { owner, origin }: Receiver, transaction: Transaction | undefined): Promise<void> {
  const payload: WakeJob = { recovered: { owner, origin } }
  await queue.enqueue(deliveryQueue, [{ payload, key: keyOf({ owner, origin }) }], transaction)
}

/** Makes the jobs of pending deliveries of one subscription ready to start now. */
export async function promoteDeliveries(
  queue: WorkQueue,
  subscription: Pick<Subscription, 'ordered'>,
  deliveries: readonly Delivery[],
  transaction: Transaction | undefined
): Promise<void> {
  await queue.promote(queueOf(subscription), deliveries.map(jobIdOf), transaction)
}

/** Wakes the workers of all queues of this package. */
export function kickQueues(queue: WorkQueue): void {
  queue.kick(deliveryQueue)
  queue.kick(orderedDeliveryQueue)
  queue.kick(recoveryQueue)
}

function queueOf({ ordered }: Pick<Subscription, 'ordered'>) {
  return ordered ? orderedDeliveryQueue : deliveryQueue
}
