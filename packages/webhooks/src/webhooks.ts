import { v4 as randomId } from 'uuid'
import type { AddressGuard } from './address-guard.ts'
import type { Attempt, Delivery, DeliveryStatus } from './delivery.ts'
import type { Emission, EmitOptions, Emitted } from './emission.ts'
import {
  deliveryNotFound,
  deliveryPending,
  eventTypesUnknown,
  rangeInvalid,
  subscriptionDisabled,
  subscriptionLimit,
  subscriptionNotFound,
  urlRefused
} from './errors.ts'
import { describeWebhooks, disabledEventType } from './event-catalogue.ts'
import type { Settings } from './options.ts'
import { type RecoveryJob, recoveryQueue } from './queues.ts'
import { reopen } from './recovery.ts'
import type { PageWish } from './store.ts'
import {
  changedSubscription,
  type NewSubscription,
  newSubscription,
  rotatedSubscription,
  type Subscription,
  type SubscriptionChange,
  versionOf
} from './subscription.ts'
import { timeOrderedId } from './time-ordered-id.ts'

/** Refuses a change by throwing, after a look at what is there now. */
export type Check = (current: Subscription) => void

/**
 * What a service does with its webhooks. Whoever owns a subscription is named as the option `owner` of the routes names them; what belongs
 * to somebody else is not found.
 */
export interface Webhooks {
  /**
   * Emits an event: in the transaction of the caller it exists from its commit on, or never (rule W2). An id that is known emits nothing.
   * Throws a `TypeError` for a type that is not in the catalogue.
   */
  emit(type: string, data: unknown, options?: EmitOptions): Promise<Emitted>
  /** What can be subscribed to. */
  readonly eventTypes: readonly string[]
  /** The `webhooks` of an OpenAPI 3.1 document. */
  describe(version?: number): Record<string, object>
  /** Begins a subscription. Throws 422 `WEBHOOK_URL_REFUSED` or `WEBHOOK_EVENT_TYPE_UNKNOWN`, 409 `WEBHOOK_SUBSCRIPTION_LIMIT`. */
  subscribe(owner: string, wish: NewSubscription, version?: number): Promise<Subscription>
  /** Those of an owner. */
  subscriptions(owner: string, page: PageWish): Promise<Subscription[]>
  /** The version of a subscription, for an entity tag: another one for each change that its owner can see; undefined when it is not theirs. */
  versionOf(owner: string, id: string): Promise<string | undefined>
  /** Throws 404 `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, as all that follow do. */
  subscription(owner: string, id: string): Promise<Subscription>
  /** Changes a subscription by the rules of `subscribe`. */
  change(owner: string, id: string, change: SubscriptionChange, check?: Check): Promise<Subscription>
  /** Puts a new key in front; the old one signs for the time of grace. */
  rotateKey(owner: string, id: string): Promise<Subscription>
  /** Ends a subscription; its deliveries go with it. */
  unsubscribe(owner: string, id: string, check?: Check): Promise<void>
  /** Sends a `webhook.ping`. Throws 409 `WEBHOOK_SUBSCRIPTION_DISABLED`, as the two that follow do. */
  ping(owner: string, id: string): Promise<Emitted>
  /** Tries a delivery that has ended anew, under the same `webhook-id`. Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`, 409 `WEBHOOK_DELIVERY_PENDING`. */
  redeliver(owner: string, id: string, deliveryId: string): Promise<Delivery>
  /** Tries anew what was created in a time range, in milliseconds since 1970, and not delivered. Throws 422 `WEBHOOK_RANGE_INVALID`. */
  recover(owner: string, id: string, since: number, until?: number): Promise<void>
  /** Those of a subscription; of one status, when it is given. */
  deliveries(owner: string, id: string, page: PageWish & { readonly status?: DeliveryStatus | undefined }): Promise<Delivery[]>
  /** Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`. */
  delivery(owner: string, id: string, deliveryId: string): Promise<Delivery>
  /** Those of a delivery. Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`. */
  attempts(owner: string, id: string, deliveryId: string, page: PageWish): Promise<Attempt[]>
  /** Removes what was kept for its time. The plugin does so every hour. Answers how many deliveries. */
  removeOld(): Promise<number>
  /** The clock of the plugin. */
  now(): number
}

/** Makes what `app.webhooks` is. */
export function makeWebhooks(settings: Settings, { emission, guard }: { emission: Emission; guard: AddressGuard }): Webhooks {
  const { events, store, queue, currentTransaction, now } = settings
  const known = [...Object.keys(events), disabledEventType]

  function requireGood({
    url,
    eventTypes = []
  }: {
    readonly url?: string | undefined
    readonly eventTypes?: readonly string[] | undefined
  }) {
    const rule = url === undefined ? undefined : guard.refusalOf(url)
    if (rule !== undefined) throw urlRefused(rule)
    const unknown = [...eventTypes.keys()].filter((position) => !known.includes(eventTypes[position] ?? ''))
    if (unknown.length > 0) throw eventTypesUnknown(unknown)
  }

  async function subscription(owner: string, id: string) {
    const found = await store.subscription(id, currentTransaction())
    if (found?.owner !== owner) throw subscriptionNotFound()
    return found
  }

  async function enabledSubscription(owner: string, id: string) {
    const found = await subscription(owner, id)
    if (found.status === 'disabled') throw subscriptionDisabled()
    return found
  }

  async function replace(owner: string, id: string, change: (current: Subscription) => Subscription) {
    await subscription(owner, id)
    const changed = await store.changeSubscription(id, change, currentTransaction())
    if (changed === undefined) throw subscriptionNotFound()
    return changed
  }

  async function delivery(owner: string, id: string, deliveryId: string) {
    await subscription(owner, id)
    const found = await store.delivery(deliveryId, currentTransaction())
    if (found?.subscriptionId !== id) throw deliveryNotFound()
    return found
  }

  return {
    now,
    eventTypes: known,
    emit: async (type, data, options) => emission.emit(type, data, options),
    describe: (version) => describeWebhooks(events, version),
    subscription,
    delivery,
    subscriptions: async (owner, page) => store.subscriptionsOf(owner, page, currentTransaction()),
    async versionOf(owner, id) {
      const found = await store.subscription(id, currentTransaction())
      return found?.owner === owner ? versionOf(found) : undefined
    },
    async deliveries(owner, id, page) {
      await subscription(owner, id)
      return store.deliveriesOf(id, page, currentTransaction())
    },
    async attempts(owner, id, deliveryId, page) {
      await delivery(owner, id, deliveryId)
      return store.attemptsOf(deliveryId, page, currentTransaction())
    },
    async subscribe(owner, wish, version = 1) {
      requireGood(wish)
      const others = await store.subscriptionsOf(owner, { limit: settings.maximumSubscriptions }, currentTransaction())
      if (others.length === settings.maximumSubscriptions) throw subscriptionLimit(settings.maximumSubscriptions)
      const added = newSubscription(wish, { id: timeOrderedId(), owner, version, now: now() })
      await store.addSubscription(added, currentTransaction())
      return added
    },
    async change(owner, id, change, check = () => {}) {
      requireGood(change)
      return replace(owner, id, (current) => {
        check(current)
        return changedSubscription(current, change, now())
      })
    },
    rotateKey: async (owner, id) => replace(owner, id, (current) => rotatedSubscription(current, settings.rotationGraceSeconds, now())),
    async unsubscribe(owner, id, check = () => {}) {
      await subscription(owner, id)
      await emission.inTransaction(async (transaction) => {
        // Changes nothing, but nobody else changes it until it is gone.
        await store.changeSubscription(id, (current) => checked(current, check), transaction)
        await store.removeSubscription(id, transaction)
      })
    },
    ping: async (owner, id) => emission.ping(await enabledSubscription(owner, id)),
    async redeliver(owner, id, deliveryId) {
      const found = await delivery(owner, id, deliveryId)
      const enabled = await enabledSubscription(owner, id)
      const [reopened] = await emission.inTransaction(async (transaction) =>
        reopen(settings, enabled, { subscriptionId: id, id: found.id }, transaction)
      )
      if (reopened === undefined) throw deliveryPending()
      return reopened
    },
    async recover(owner, id, since, until = now()) {
      if (!(since < until)) throw rangeInvalid()
      await enabledSubscription(owner, id)
      const job: RecoveryJob = { subscriptionId: id, since, until, endedBefore: now() }
      await emission.inTransaction(async (transaction) => queue.enqueue(recoveryQueue, [{ id: randomId(), payload: job }], transaction))
    },
    async removeOld() {
      const before = now() - settings.retentionDays * 86_400_000
      let removed = 0
      for (let count = batch; count === batch; removed += count) count = await store.removeEndedBefore(before, batch)
      return removed
    }
  }
}

const batch = 1000

function checked(current: Subscription, check: Check) {
  check(current)
  return current
}
