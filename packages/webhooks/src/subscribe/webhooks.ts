import type { Transaction } from '@concordat/work-queue'
import { reopen, requestRecovery } from '../deliver/recovery.ts'
import type { Emission, EmitOptions, Emitted } from '../emit/emission.ts'
import { enqueueVerification } from '../emit/queues.ts'
import { errorList } from '../errors.ts'
import { describeWebhooks, disabledEventType } from '../events/event-catalogue.ts'
import type { AddressGuard } from '../guard-addresses/address-guard.ts'
import type { Settings } from '../options.ts'
import type { Attempt, Delivery, DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import {
  changedSubscription,
  type NewSubscription,
  newSubscription,
  rotatedSubscription,
  type Subscription,
  type SubscriptionChange,
  startsVerification,
  versionOf
} from '../store/subscription.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import { countChange, requireInput } from './change-checks.ts'
import { disableSubscriptionsOf, everyOwner, isOf, type OwnerSelection, ownerOrAll } from './owner.ts'

/** Which list of an owner to count: the subscriptions, or those of a subscription or delivery. */
export interface CountedList {
  readonly subscriptionId?: string | undefined
  /** Counts only the deliveries with this status. */
  readonly status?: DeliveryStatus | undefined
  readonly deliveryId?: string | undefined
}

/** Checks the current subscription before a change. It throws to refuse the change. */
type Check = (current: Subscription) => void

/**
 * Methods that emit events, manage subscriptions and send deliveries again. `owner` is the value that the option `owner` of the routes returns;
 * subscriptions of other owners are not found. Where it may be `everyOwner`, administrators find all of them.
 */
export interface Webhooks {
  /**
   * Emits an event. In the caller's transaction, the event exists once the transaction commits, or never (rule W2). An id that already
   * exists emits nothing. The data is written by the schema of the type, as a response is: members that it does not declare are left out. Throws a `TypeError`
   * that names the type and the field, before anything is stored, for data that does not match the schema, and for a type that is not in the option `events`.
   */
  emit(type: string, data: unknown, options?: EmitOptions): Promise<Emitted>
  /** The event types that clients can subscribe to. */
  readonly eventTypes: readonly string[]
  /** Returns the `webhooks` object of an OpenAPI 3.1 document. */
  describe(version?: number): Record<string, object>
  /** Creates a subscription, by default with the owner as its audience. Throws 422 `WEBHOOK_URL_REFUSED` or `WEBHOOK_EVENT_TYPE_UNKNOWN`, 409 `WEBHOOK_SUBSCRIPTION_LIMIT`, 429 `WEBHOOK_CHANGE_LIMIT`. */
  subscribe(owner: string, input: NewSubscription, version?: number, audience?: string): Promise<Subscription>
  /** Returns the subscriptions of an owner. */
  subscriptions(owner: OwnerSelection, page: PageSelection): Promise<Subscription[]>
  /**
   * Returns the version of a subscription, for an entity tag, and the time of its last change, in milliseconds since the Unix epoch. Both are about
   * what the owner can see. Returns undefined when the owner has no such subscription.
   */
  stateOf(owner: OwnerSelection, id: string): Promise<{ readonly version: string; readonly updatedAt: number } | undefined>
  /** Returns a subscription. Throws 404 `WEBHOOK_SUBSCRIPTION_NOT_FOUND`, like all methods below that take the id of a subscription. */
  subscription(owner: OwnerSelection, id: string): Promise<Subscription>
  /**
   * Changes a subscription. The rules of `subscribe` apply. What is disabled for `everyOwner` cannot be enabled by its owner: 409
   * `WEBHOOK_DISABLED_BY_ADMINISTRATOR`.
   */
  change(owner: OwnerSelection, id: string, change: SubscriptionChange, check?: Check): Promise<Subscription>
  /** Adds a new signing key. The old key continues to sign for a day. */
  rotateKey(owner: string, id: string): Promise<Subscription>
  /** Removes a subscription and its deliveries. */
  unsubscribe(owner: OwnerSelection, id: string, check?: Check): Promise<void>
  /**
   * Disables all subscriptions of an owner, with the reason `accessRevoked`, and cancels what has not been sent. Call it when a user is removed or loses a
   * role. It is called when all tokens of a user are revoked, if authentication has a `revocationFeed`, and never at a logout. The owner can still read and
   * remove them. Returns the number of subscriptions that were enabled.
   */
  disableOwner(owner: string): Promise<number>
  /**
   * Sends a `webhook.ping`, and returns its delivery. If the URL waits for its verification, that is tried once more, now. Throws 409
   * `WEBHOOK_SUBSCRIPTION_DISABLED`, like `redeliver` and `recover`, and 429 `WEBHOOK_CHANGE_LIMIT`.
   */
  ping(owner: string, id: string): Promise<Delivery>
  /** Sends a finished delivery again, with the same `webhook-id`. Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`, 409 `WEBHOOK_DELIVERY_PENDING`. */
  redeliver(owner: string, id: string, deliveryId: string): Promise<Delivery>
  /**
   * Sends the undelivered events between `since` and `until`, both in milliseconds since the Unix epoch: pending ones now, and failed ones again. It ends
   * a pause of the receiver. Throws 422 `WEBHOOK_RANGE_INVALID`.
   */
  recover(owner: string, id: string, since: number, until?: number): Promise<void>
  /** Returns the deliveries of a subscription, optionally filtered by status. */
  deliveries(owner: string, id: string, page: PageSelection & { readonly status?: DeliveryStatus | undefined }): Promise<Delivery[]>
  /** Returns a delivery. Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`. */
  delivery(owner: string, id: string, deliveryId: string): Promise<Delivery>
  /** Returns the attempts of a delivery. Throws 404 `WEBHOOK_DELIVERY_NOT_FOUND`. */
  attempts(owner: string, id: string, deliveryId: string, page: PageSelection): Promise<Attempt[]>
  /** Returns the number of subscriptions of an owner, of deliveries of a subscription, or of attempts of a delivery; `limit` if there are more. */
  count(owner: OwnerSelection, list: CountedList, limit: number): Promise<number>
  /**
   * Removes deliveries that are older than the retention period. The plugin does so every hour. Returns the number of removed deliveries.
   */
  removeOld(): Promise<number>
  /** Returns the current time of the plugin's clock, in milliseconds since the Unix epoch. */
  now(): number
}

/** Creates the `app.webhooks` object. */
export function makeWebhooks(settings: Settings, { emission, guard }: { emission: Emission; guard: AddressGuard }): Webhooks {
  const { events, store, queue, currentTransaction, now } = settings
  const known = [...Object.keys(events), disabledEventType]

  async function subscription(owner: OwnerSelection, id: string) {
    const found = await store.subscription(id, currentTransaction())
    if (found === undefined || !isOf(owner, found)) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
    return found
  }

  async function enabledSubscription(owner: string, id: string) {
    const found = await subscription(owner, id)
    requireEnabled(found)
    return found
  }

  /**
   * Locks a subscription for the rest of the transaction. What may refuse a change comes before the count of changes, and that before the change itself, which
   * a store in memory would not take back.
   */
  async function lockedSubscription(owner: OwnerSelection, id: string, check: Check, transaction: Transaction | undefined) {
    const unchanged = (current: Subscription) => {
      if (!isOf(owner, current)) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
      check(current)
      return current
    }
    const found = await store.changeSubscription(id, unchanged, transaction)
    if (found === undefined) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
    return found
  }

  async function delivery(owner: OwnerSelection, id: string, deliveryId: string) {
    await subscription(owner, id)
    const found = await store.delivery(deliveryId, currentTransaction())
    if (found?.subscriptionId !== id) throw errorList.create('WEBHOOK_DELIVERY_NOT_FOUND')
    return found
  }

  return {
    now,
    eventTypes: known,
    emit: async (type, data, options) => emission.emit(type, data, options),
    describe: (version) => describeWebhooks(events, version),
    subscription,
    delivery,
    subscriptions: async (owner, page) => store.subscriptionsOf(ownerOrAll(owner), page, currentTransaction()),
    async stateOf(owner, id) {
      const found = await store.subscription(id, currentTransaction())
      return found !== undefined && isOf(owner, found) ? { version: versionOf(found), updatedAt: found.updatedAt } : undefined
    },
    async deliveries(owner, id, page) {
      await subscription(owner, id)
      return store.deliveriesOf(id, page, currentTransaction())
    },
    async attempts(owner, id, deliveryId, page) {
      await delivery(owner, id, deliveryId)
      return store.attemptsOf(deliveryId, page, currentTransaction())
    },
    async count(owner, { subscriptionId, status, deliveryId }, limit) {
      if (subscriptionId === undefined) return store.count({ owner: ownerOrAll(owner) }, limit, currentTransaction())
      if (deliveryId === undefined) {
        await subscription(owner, subscriptionId)
        return store.count({ subscriptionId, status }, limit, currentTransaction())
      }
      await delivery(owner, subscriptionId, deliveryId)
      return store.count({ deliveryId }, limit, currentTransaction())
    },
    async subscribe(owner, input, version = 1, audience = owner) {
      requireInput(input, known, guard)
      const { maxSubscriptions } = settings
      const added = newSubscription(input, { id: timeOrderedId(), owner, audience, version, now: now() })
      await emission.inTransaction(async (transaction) => {
        await countChange(settings, owner, transaction)
        if (!(await store.addSubscription(added, maxSubscriptions, transaction)))
          throw errorList.create('WEBHOOK_SUBSCRIPTION_LIMIT', { params: { limit: maxSubscriptions } })
        await enqueueVerification(queue, added, transaction)
      })
      return added
    },
    async change(owner, id, input, check = () => {}) {
      requireInput(input, known, guard)
      return emission.inTransaction(async (transaction) => {
        const before = await lockedSubscription(owner, id, check, transaction)
        if (owner !== everyOwner) {
          if (input.status === 'enabled' && before.disabledReason === 'byAdministrator')
            throw errorList.create('WEBHOOK_DISABLED_BY_ADMINISTRATOR')
          if (startsVerification(before, input)) await countChange(settings, owner, transaction)
        }
        const change = (current: Subscription) => {
          const after = changedSubscription(current, input, now())
          return owner === everyOwner && after.status === 'disabled' ? { ...after, disabledReason: 'byAdministrator' as const } : after
        }
        const changed = await store.changeSubscription(id, change, transaction)
        if (changed === undefined) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
        if (changed.verificationJobId !== before.verificationJobId) await enqueueVerification(queue, changed, transaction)
        return changed
      })
    },
    async rotateKey(owner, id) {
      await subscription(owner, id)
      const changed = await store.changeSubscription(id, (current) => rotatedSubscription(current, now()), currentTransaction())
      if (changed === undefined) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
      return changed
    },
    async unsubscribe(owner, id, check = () => {}) {
      await emission.inTransaction(async (transaction) => {
        await lockedSubscription(owner, id, check, transaction)
        await store.removeSubscription(id, transaction)
      })
    },
    disableOwner: async (owner) => disableSubscriptionsOf(settings, owner),
    async ping(owner, id) {
      return emission.inTransaction(async (transaction) => {
        const pinged = await lockedSubscription(owner, id, requireEnabled, transaction)
        await countChange(settings, owner, transaction)
        // Just after the change that started it, the verification itself is as fast.
        const isSlow = pinged.verificationJobId !== undefined && now() - pinged.updatedAt >= 5000
        if (isSlow) await enqueueVerification(queue, pinged, transaction, true)
        const delivery = await emission.ping(pinged, transaction)
        if (delivery === undefined) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
        return delivery
      })
    },
    async redeliver(owner, id, deliveryId) {
      const found = await delivery(owner, id, deliveryId)
      const enabled = await enabledSubscription(owner, id)
      const [reopened] = await emission.inTransaction(async (transaction) =>
        reopen(settings, enabled, { subscriptionId: id, id: found.id }, transaction)
      )
      if (reopened === undefined) throw errorList.create('WEBHOOK_DELIVERY_PENDING')
      return reopened
    },
    async recover(owner, id, since, until = now()) {
      if (!(since < until)) throw errorList.create('WEBHOOK_RANGE_INVALID', { errors: [{ field: 'body.until', key: 'untilBeforeSince' }] })
      const found = await enabledSubscription(owner, id)
      await emission.inTransaction(async (transaction) => requestRecovery(settings, found, { since, until }, transaction))
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

function requireEnabled({ status }: Subscription) {
  if (status === 'disabled') throw errorList.create('WEBHOOK_SUBSCRIPTION_DISABLED')
}
