import type { Handler, Transaction } from '@concordat/work-queue'
import type { Emission } from '../emit/emission.ts'
import { deliveryQueue, enqueueDeliveries, promoteDeliveries, type RecoveryJob, recoveryQueue } from '../emit/queues.ts'
import type { Settings } from '../options.ts'
import { type Delivery, promotedDelivery, reopenedDelivery } from '../store/delivery.ts'
import { type Outage, receiverOf } from '../store/outage.ts'
import type { DeliverySelection } from '../store/store.ts'
import { ownerKey, type Subscription } from '../store/subscription.ts'

const batch = 200
const lowestId = '00000000-0000-0000-0000-000000000000'

/** Reopens and enqueues the selected finished deliveries of a subscription, in a transaction. Returns the reopened deliveries. */
export async function reopen(
  { store, queue, now }: Settings,
  subscription: Subscription,
  selection: DeliverySelection,
  transaction: Transaction | undefined
): Promise<Delivery[]> {
  const reopened = await store.changeDeliveries(selection, (delivery) => reopenedDelivery(delivery, now()), transaction)
  await enqueueDeliveries(
    queue,
    reopened.map((delivery) => ({ delivery, subscription, delaySeconds: 0 })),
    transaction
  )
  return reopened
}

async function promote(
  { store, queue, now }: Settings,
  subscription: Subscription,
  selection: DeliverySelection,
  transaction: Transaction | undefined
) {
  const pending = await store.changeDeliveries(selection, (delivery) => promotedDelivery(delivery, now()), transaction)
  const due = pending.filter(({ nextAttemptAt = 0 }) => nextAttemptAt <= now())
  await promoteDeliveries(queue, subscription, due, transaction)
  return pending
}

/** Ends a pause of the receiver with a probe now, and enqueues the recovery of a time range. */
export async function requestRecovery(
  { store, queue, now }: Settings,
  subscription: Subscription,
  range: Pick<RecoveryJob, 'since' | 'until'>,
  transaction: Transaction | undefined
): Promise<void> {
  const probedNow = (current?: Outage) => current && { ...current, nextProbeAt: Math.min(current.nextProbeAt, now()) }
  const outage = await store.changeOutage(receiverOf(subscription), probedNow, transaction)
  if (outage !== undefined) await queue.promote(deliveryQueue, [outage.jobId], transaction)
  const payload: RecoveryJob = { ...range, subscriptionId: subscription.id, endedBefore: now() }
  // An owner has one recovery at a time.
  await queue.enqueue(recoveryQueue, [{ payload, key: ownerKey(subscription) }], transaction)
}

/** Returns the job handler that sends the undelivered events of a time range, in batches: pending ones now, finished ones again. A repeated run does nothing. */
export function recoveryHandler(settings: Settings, emission: Pick<Emission, 'inTransaction'>): Handler {
  return async ({ payload, signal }) => {
    const { endedBefore, ...range } = payload as RecoveryJob

    /** Sends one batch and returns its deliveries, or an empty array if the subscription was disabled or removed meanwhile. */
    async function batchOf(send: typeof promote, selection: DeliverySelection) {
      signal.throwIfAborted()
      const subscription = await settings.store.subscription(range.subscriptionId)
      if (subscription?.status !== 'enabled') return []
      return emission.inTransaction(async (transaction) => send(settings, subscription, selection, transaction))
    }

    for (let pendingAfter: string | undefined = lowestId; pendingAfter !== undefined; ) {
      pendingAfter = (await batchOf(promote, { ...range, pendingAfter, limit: batch })).at(-1)?.id
    }
    for (let found = 1; found > 0; ) found = (await batchOf(reopen, { ...range, endedBefore, limit: batch })).length
    return { done: true }
  }
}
