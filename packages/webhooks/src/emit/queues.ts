import type { Item, Transaction, WorkQueue } from '@concordat/work-queue'
import { keyOf, type Outage, type Receiver, receiverOf } from '../store/outage.ts'
import type { Subscription } from '../store/subscription.ts'

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

/** The payload of a job in the delivery queue that verifies the URL of a subscription. */
export interface VerificationJob {
  readonly subscriptionId: string
  /** The verification for which the owner requested one more attempt; undefined for the job of the verification itself. */
  readonly extraFor?: string | undefined
}

/** The payload of a job in the delivery queue that starts the probes of a receiver during an outage. */
export interface ProbeJob {
  readonly probed: Receiver
}

/** The payload of a job in the delivery queue that starts everything that waits for a receiver. */
export interface WakeJob {
  readonly recovered: Receiver
}

/**
 * The payload of a job in the recovery queue, for the deliveries that were created at or after `since` and before `until`. Times are in milliseconds since
 * the Unix epoch.
 */
export interface RecoveryJob {
  readonly subscriptionId: string
  readonly since: number
  readonly until: number
  /** The time of the recovery request: deliveries that ended later have already been tried again. */
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
  readonly subscription: Pick<Subscription, 'id' | 'owner' | 'url' | 'ordered'>
  readonly jobId: string
  readonly delaySeconds: number
}

/** Enqueues deliveries, in the given order. */
export async function enqueueDeliveries(queue: WorkQueue, deliveries: readonly QueuedDelivery[], transaction?: Transaction): Promise<void> {
  for (const ordered of [false, true]) {
    const items = deliveries.filter(({ subscription }) => subscription.ordered === ordered).map(itemOf)
    if (items.length > 0) await queue.enqueue(queueOf({ ordered }), items, transaction)
  }
}

/** Enqueues the verification of a subscription's URL, or one more attempt of it, which does not use up the attempts of the verification. */
export async function enqueueVerification(
  queue: WorkQueue,
  { id, owner, url, verificationJobId }: Subscription,
  transaction: Transaction | undefined,
  isExtra = false
): Promise<void> {
  const payload: VerificationJob = { subscriptionId: id, extraFor: isExtra ? verificationJobId : undefined }
  const item = { id: isExtra ? undefined : verificationJobId, payload, key: owner, part: receiverOf({ owner, url }).origin }
  await queue.enqueue(deliveryQueue, [item], transaction)
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

/** Makes the job that starts the probes of a receiver read the outage again. */
export async function promoteProbes(queue: WorkQueue, { jobId }: Outage, transaction: Transaction | undefined): Promise<void> {
  await queue.promote(deliveryQueue, [jobId], transaction)
}

/** Enqueues the job that starts everything that waits for a receiver. */
export async function enqueueWake(queue: WorkQueue, { owner, origin }: Receiver, transaction: Transaction | undefined): Promise<void> {
  const payload: WakeJob = { recovered: { owner, origin } }
  await queue.enqueue(deliveryQueue, [{ payload, key: keyOf({ owner, origin }) }], transaction)
}

/** Enqueues a recovery. An owner has one at a time. */
export async function enqueueRecovery(
  queue: WorkQueue,
  owner: string,
  job: RecoveryJob,
  transaction: Transaction | undefined
): Promise<void> {
  await queue.enqueue(recoveryQueue, [{ payload: job, key: owner }], transaction)
}

/** Makes the jobs of pending deliveries of one subscription ready to start now. */
export async function promoteDeliveries(
  queue: WorkQueue,
  subscription: Pick<Subscription, 'ordered'>,
  jobIds: readonly string[],
  transaction: Transaction | undefined
): Promise<void> {
  await queue.promote(queueOf(subscription), jobIds, transaction)
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

function itemOf({ deliveryId, subscription, jobId, delaySeconds }: QueuedDelivery): Item {
  const job = { id: jobId, payload: { deliveryId } satisfies DeliveryJob, delaySeconds }
  // The receivers of an owner share the attempts that the owner may hold.
  const { owner, origin } = receiverOf(subscription)
  return subscription.ordered ? { ...job, key: subscription.id } : { ...job, key: owner, part: origin }
}
