import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { inTenant, requireTenant } from '@concordat/plugin-kit/wiring'
import type { Transaction } from '@concordat/work-queue'
import { bodyOf, disabledEventType, messageId, pingEventType } from '../events/event-catalogue.ts'
import type { WrittenData } from '../events/event-data.ts'
import type { Settings } from '../options.ts'
import type { Delivery } from '../store/delivery.ts'
import { ownerKey, type Subscription } from '../store/subscription.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import { enqueueDeliveries, kickQueues } from './queues.ts'

/** The description of {@link EmitOptions}. */
const emitOptions = describeOptions('webhooks', {
  /** The `webhook-id`, of letters, digits, `_` and `-`, by default a new UUID v7. An id that already exists emits nothing. */
  id: value<string>(),
  /** The time of the event, by default now. */
  timestamp: value<Date>(),
  /** The tenant whose subscriptions get the event; `null` for those of none. Required in a service with tenants. */
  tenant: value<string | null>(),
  /** The transaction to join, by default that of the option `currentTransaction`, otherwise a new one. */
  transaction: value<Transaction>()
})

/** Options of `emit`. */
export interface EmitOptions extends OptionsOf<typeof emitOptions> {}

const messageIdForm = new RegExp(messageId.pattern)

/** The id of the event, and the number of subscriptions that it is sent to; 0 if the id already existed. */
export interface Emitted {
  readonly id: string
  readonly deliveries: number
}

interface Publication {
  readonly id: string
  readonly type: string
  readonly timestamp: number
  readonly data: WrittenData
  readonly tenant: string | undefined
}

/** Stores events, with a delivery to each subscription that may receive them. */
export type Emission = ReturnType<typeof makeEmission>

/** Creates the functions that store events. */
export function makeEmission({ events, writeData, store, queue, ...settings }: Settings) {
  const { mayReceive, currentTransaction, hasTenants, schedule, now } = settings

  /** Runs `work` in the caller's transaction or in a new transaction, and wakes the workers after the commit. */
  async function inTransaction<Result>(
    work: (transaction: Transaction | undefined) => Promise<Result>,
    given: Transaction | undefined = currentTransaction()
  ) {
    const result = given === undefined ? await store.transaction(work) : await work(given)
    if (given?.afterCommit === undefined) kickQueues(queue)
    else given.afterCommit(() => kickQueues(queue))
    return result
  }

  async function audienceOf({ type, tenant, data: { emitted } }: Publication, data: unknown, transaction: Transaction | undefined) {
    const audiences = events[type]?.audiences?.(data as never)
    const subscribers = await store.subscribersOf({ eventType: type, tenant, audiences }, transaction)
    return mayReceive(subscribers, { type, tenant, data: JSON.parse(emitted) as unknown, transaction })
  }

  /** Returns the deliveries; none when the id already exists. */
  async function publish(
    { id: name, type, timestamp, data, tenant }: Publication,
    audience: readonly Subscription[],
    transaction: Transaction | undefined
  ) {
    if (audience.length === 0) return []
    // Two tenants may have events with the same id.
    const id = inTenant(name, tenant)
    const versions = new Set(audience.map(({ version }) => version))
    const bodies = Object.fromEntries(
      [...versions].map((version) => [version, bodyOf(type, timestamp, data.versions[version] ?? data.emitted)])
    )
    const [delaySeconds = 0] = schedule
    const times = { createdAt: now(), nextAttemptAt: now() + delaySeconds * 1000 }
    const deliveries = audience.map(({ id: subscriptionId }): Delivery => {
      const about = { id: timeOrderedId(), subscriptionId, messageId: id, eventType: type }
      return { ...about, status: 'pending', attempts: 0, roundStart: 0, ...times }
    })
    if (!(await store.addMessage({ id, type, timestamp, bodies }, deliveries, transaction))) return []
    const queued = deliveries.map((delivery, index) => ({ delivery, subscription: audience[index] as Subscription, delaySeconds }))
    await enqueueDeliveries(queue, queued, transaction)
    return deliveries
  }

  // The events of this package have one form.
  function ownEvent(type: string, data: object, { tenant }: Subscription): Publication {
    return { id: timeOrderedId(), type, tenant, timestamp: now(), data: { emitted: JSON.stringify(data), versions: {} } }
  }

  return {
    inTransaction,
    emit: async (type: string, data: unknown, options: EmitOptions = {}): Promise<Emitted> => {
      const { id = timeOrderedId(), timestamp = new Date(now()), tenant, transaction: given } = emitOptions.read(options)
      if (!Object.hasOwn(events, type)) throw new TypeError(`webhooks: the event type "${type}" is unknown. Add it to options.events.`)
      if (!messageIdForm.test(id)) {
        throw new TypeError('webhooks: the id of an event is invalid. Use 1 to 64 characters: letters, digits, "_" and "-".')
      }
      requireTenant('webhooks', 'emit()', 'the subscriptions', tenant, hasTenants())
      // Also without subscriptions, so that an error in the data is found before there is one.
      const written = writeData(type, data)
      const publication = { id, type, timestamp: timestamp.getTime(), data: written, tenant: tenant ?? undefined }
      return inTransaction(async (transaction) => {
        const deliveries = await publish(publication, await audienceOf(publication, data, transaction), transaction)
        return { id, deliveries: deliveries.length }
      }, given)
    },
    /** Emits a `webhook.ping` to one subscription. Returns its delivery, or undefined if the subscription has just been removed. */
    async ping(subscription: Subscription, transaction: Transaction | undefined): Promise<Delivery | undefined> {
      const [delivery] = await publish(
        ownEvent(pingEventType, { subscriptionId: subscription.id }, subscription),
        [subscription],
        transaction
      )
      return delivery
    },
    /** Emits `webhook.subscription.disabled` to the other subscriptions of the owner. */
    async reportDisabled(subscription: Subscription, transaction: Transaction | undefined) {
      const { id: subscriptionId, tenant, disabledReason: reason } = subscription
      const own = { eventType: disabledEventType, tenant, owner: ownerKey(subscription) }
      const subscribers = await store.subscribersOf(own, transaction)
      const audience = subscribers.filter(({ id }) => id !== subscriptionId)
      await publish(ownEvent(disabledEventType, { subscriptionId, reason }, subscription), audience, transaction)
    }
  }
}
