import type { Handler, Transaction } from '@concordat/work-queue'
import { v4 as randomId } from 'uuid'
import { type Delivery, reopenedDelivery } from './delivery.ts'
import type { Emission } from './emission.ts'
import type { Settings } from './options.ts'
import { enqueueDeliveries, type RecoveryJob } from './queues.ts'
import type { DeliverySelection } from './store.ts'
import type { Subscription } from './subscription.ts'

const batch = 200

/** Reopens and enqueues the selected finished deliveries of a subscription, in a transaction. Returns the reopened deliveries. */
export async function reopen(
  { store, queue, now }: Settings,
  subscription: Subscription,
  selection: DeliverySelection,
  transaction: Transaction | undefined
): Promise<readonly Delivery[]> {
  const reopened = await store.reopenDeliveries(selection, (delivery) => reopenedDelivery(delivery, now()), transaction)
  // New job ids: the queue may still know the id of the first job.
  const jobs = reopened.map(({ id }) => ({ deliveryId: id, jobId: randomId(), subscription, delaySeconds: 0 }))
  await enqueueDeliveries(queue, jobs, transaction)
  return reopened
}

/**
 * Returns the job handler that sends the undelivered events of a time range again, in batches, as long as the subscription is enabled. A repeated
 * run does nothing.
 */
export function recoveryHandler(settings: Settings, emission: Pick<Emission, 'inTransaction'>): Handler {
  return async ({ payload, signal }) => {
    const job = payload as RecoveryJob
    const selection = { ...job, limit: batch }
    for (let found = 1; found > 0; ) {
      const subscription = await settings.store.subscription(job.subscriptionId)
      if (subscription?.status !== 'enabled') break
      signal.throwIfAborted()
      found = await emission.inTransaction(async (transaction) => (await reopen(settings, subscription, selection, transaction)).length)
    }
    return { done: true }
  }
}
