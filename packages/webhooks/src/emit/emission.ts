import { describeOptions, type OptionsOf, value } from '@concordat/plugin-options'
import type { Transaction } from '@concordat/work-queue'
import { bodyOf, disabledEventType, pingEventType } from '../events/event-catalogue.ts'
import type { WrittenData } from '../events/event-data.ts'
import type { Settings } from '../options.ts'
import type { Delivery } from '../store/delivery.ts'
import type { Subscription } from '../store/subscription.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import { enqueueDeliveries, kickQueues } from './queues.ts'

/** The description of {@link EmitOptions}. */
export const emitOptions = describeOptions('webhooks', {
  /** The `webhook-id`, of letters, digits, `_` and `-`, by default a new UUID v7. An id that already exists emits nothing. */
  id: value<string>(),
  /** The time of the event, by default now. */
  timestamp: value<Date>(),
  /** The transaction to join, by default that of the option `currentTransaction`, otherwise a new one. */
  transaction: value<Transaction>()
})

/** Options of `emit`. */
export interface EmitOptions extends OptionsOf<typeof emitOptions> {}

/** The result of `emit`. */
export interface Emitted {
  readonly id: string
  /** The number of subscriptions that the event is sent to; 0 if its id already existed. */
  readonly deliveries: number
}

interface Publication {
  readonly id?: string | undefined
  readonly type: string
  readonly timestamp: number
  readonly data: WrittenData
}

/** Stores events, with a delivery to each subscription that may receive them. */
export interface Emission {
  emit(type: string, data: unknown, options?: EmitOptions): Promise<Emitted>
  /** Emits a `webhook.ping` to one subscription, within a transaction. Returns its delivery, or undefined if the subscription has just been removed. */
  ping(subscription: Subscription, transaction: Transaction | undefined): Promise<Delivery | undefined>
  /** Emits `webhook.subscription.disabled` to the other subscriptions of the owner, within a transaction. */
  reportDisabled(subscription: Subscription, transaction: Transaction | undefined): Promise<void>
  /** Runs `work` in the caller's transaction or in a new transaction, and wakes the workers after the commit. */
  inTransaction<Result>(work: (transaction: Transaction | undefined) => Promise<Result>, given?: Transaction): Promise<Result>
}

export function makeEmission({ events, writeData, store, queue, ...settings }: Settings): Emission {
  const { mayReceive, currentTransaction, schedule, now } = settings

  async function inTransaction<Result>(
    work: (transaction: Transaction | undefined) => Promise<Result>,
    given: Transaction | undefined = currentTransaction()
  ) {
    const result = given === undefined ? await store.transaction(work) : await work(given)
    if (given?.afterCommit === undefined) kickQueues(queue)
    else given.afterCommit(() => kickQueues(queue))
    return result
  }

  async function audienceOf(type: string, data: unknown, { emitted }: WrittenData, transaction: Transaction | undefined) {
    const audiences = events[type]?.audiences?.(data as never)
    const subscribers = await store.subscribersOf({ eventType: type, audiences }, transaction)
    return mayReceive(subscribers, { type, data: JSON.parse(emitted) as unknown, transaction })
  }

  async function publish(
    { id = timeOrderedId(), type, timestamp, data }: Publication,
    audience: readonly Subscription[],
    transaction: Transaction | undefined
  ): Promise<{ readonly id: string; readonly deliveries: readonly Delivery[] }> {
    if (audience.length === 0) return { id, deliveries: [] }
    const versions = new Set(audience.map(({ version }) => version))
    const bodies = Object.fromEntries(
      [...versions].map((version) => [version, bodyOf(type, timestamp, data.versions[version] ?? data.emitted)])
    )
    const [delaySeconds = 0] = schedule
    const queued = audience.map((subscription) => ({
      subscription,
      delaySeconds,
      delivery: newDelivery(subscription, { messageId: id, eventType: type, createdAt: now(), nextAttemptAt: now() + delaySeconds * 1000 })
    }))
    const deliveries = queued.map(({ delivery }) => delivery)
    if (!(await store.addMessage({ id, type, timestamp, bodies }, deliveries, transaction))) return { id, deliveries: [] }
    const jobs = queued.map(({ delivery, ...job }) => ({ ...job, deliveryId: delivery.id, jobId: delivery.id }))
    await enqueueDeliveries(queue, jobs, transaction)
    return { id, deliveries }
  }

  return {
    inTransaction,
    async emit(type, data, options = {}) {
      const { id, timestamp = new Date(now()), transaction: given } = emitOptions.read(options)
      if (!Object.hasOwn(events, type)) throw new TypeError(`webhooks: the event type "${type}" is unknown. Add it to options.events.`)
      if (id !== undefined && !/^[\w-]{1,64}$/.test(id)) {
        throw new TypeError('webhooks: the id of an event is invalid. Use 1 to 64 characters: letters, digits, "_" and "-".')
      }
      // Also without subscriptions, so that an error in the data is found before there is one.
      const written = writeData(type, data)
      const publication = { id, type, timestamp: timestamp.getTime(), data: written }
      return inTransaction(async (transaction) => {
        const published = await publish(publication, await audienceOf(type, data, written, transaction), transaction)
        return { id: published.id, deliveries: published.deliveries.length }
      }, given)
    },
    async ping(subscription, transaction) {
      const publication = { type: pingEventType, timestamp: now(), data: ownData({ subscriptionId: subscription.id }) }
      const { deliveries } = await publish(publication, [subscription], transaction)
      return deliveries[0]
    },
    async reportDisabled({ id: subscriptionId, owner, disabledReason }, transaction) {
      const subscribers = await store.subscribersOf({ eventType: disabledEventType, owner }, transaction)
      const audience = subscribers.filter(({ id }) => id !== subscriptionId)
      const publication = { type: disabledEventType, timestamp: now(), data: ownData({ subscriptionId, reason: disabledReason }) }
      await publish(publication, audience, transaction)
    }
  }
}

// The events of this package have one form.
function ownData(data: object): WrittenData {
  return { emitted: JSON.stringify(data), versions: {} }
}

function newDelivery(
  { id: subscriptionId }: Subscription,
  about: Pick<Delivery, 'messageId' | 'eventType' | 'createdAt' | 'nextAttemptAt'>
): Delivery {
  return { id: timeOrderedId(), subscriptionId, status: 'pending', attempts: 0, roundStart: 0, ...about }
}
