import { reopen, requestRecovery } from '../deliver/recovery.ts'
import type { Emission, EmitOptions, Emitted } from '../emit/emission.ts'
import { errorList } from '../errors.ts'
import { describeWebhooks, disabledEventType } from '../events/event-catalogue.ts'
import type { AddressGuard } from '../guard-addresses/address-guard.ts'
import type { Settings } from '../options.ts'
import type { Attempt, Delivery, DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import { type NewSubscription, type Subscription, type SubscriptionChange, versionOf } from '../store/subscription.ts'
import { disableSubscriptionsOf, isOf, type OwnerSelection, ownerOrAll } from './owner.ts'
import { type Check, existing, requireEnabled, subscriptionChanges } from './subscription-changes.ts'

/** Which list of an owner to count: the subscriptions, or those of a subscription, with a status, or of a delivery. */
interface CountedList {
  readonly subscriptionId?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly deliveryId?: string | undefined
}

/**
 * Methods that emit events, manage subscriptions and send deliveries again. `owner` is the value that the option `owner` of the routes returns, in a service
 * with tenants followed by a line feed and the tenant, except for `subscribe` and, for all tenants, `disableOwner`; what
 * belongs to others is not found: 404 `WEBHOOK_SUBSCRIPTION_NOT_FOUND` or `WEBHOOK_DELIVERY_NOT_FOUND`. With `everyOwner`, administrators find all of it.
 */
export interface Webhooks {
  /**
   * Emits an event. In the caller's transaction, the event exists once the transaction commits, or never (rule W2). Throws a `TypeError` that names the
   * type and the field, before anything is stored, for data that does not match the schema, and for an unknown type.
   */
  emit(type: string, data: unknown, options?: EmitOptions): Promise<Emitted>
  /** The event types that clients can subscribe to. */
  readonly eventTypes: readonly string[]
  /** Returns the `webhooks` object of an OpenAPI 3.1 document. */
  describe(version?: number): Record<string, object>
  /** Creates a subscription. Throws 422 `WEBHOOK_URL_REFUSED` or `WEBHOOK_EVENT_TYPE_UNKNOWN`, 409 `WEBHOOK_SUBSCRIPTION_LIMIT`, 429 `WEBHOOK_CHANGE_LIMIT`. */
  subscribe(owner: string, input: NewSubscription, version?: number, audience?: string, tenant?: string): Promise<Subscription>
  subscriptions(owner: OwnerSelection, page: PageSelection): Promise<Subscription[]>
  /** Returns the version of a subscription, for an entity tag, and the time of its last change, in milliseconds since the Unix epoch. */
  stateOf(owner: OwnerSelection, id: string): Promise<{ readonly version: string; readonly updatedAt: number } | undefined>
  subscription(owner: OwnerSelection, id: string): Promise<Subscription>
  /** Changes a subscription. The rules of `subscribe` apply. What an administrator disabled cannot be enabled: 409 `WEBHOOK_DISABLED_BY_ADMINISTRATOR`. */
  change(owner: OwnerSelection, id: string, change: SubscriptionChange, check?: Check): Promise<Subscription>
  /** Adds a new signing key. The old key continues to sign for a day. */
  rotateKey(owner: string, id: string): Promise<Subscription>
  /** Removes a subscription and its deliveries. */
  unsubscribe(owner: OwnerSelection, id: string, check?: Check): Promise<void>
  /**
   * Disables all subscriptions of an owner, with the reason `accessRevoked`, and cancels what has not been sent. Call it when a user is removed or loses a
   * role. Returns the number of subscriptions that were enabled.
   */
  disableOwner(owner: string): Promise<number>
  /** Sends a `webhook.ping`, and retries a pending verification. Throws 409 `WEBHOOK_SUBSCRIPTION_DISABLED`, 429 `WEBHOOK_CHANGE_LIMIT`. */
  ping(owner: string, id: string): Promise<Delivery>
  /** Sends a finished delivery again, with the same `webhook-id`. Throws 409 `WEBHOOK_DELIVERY_PENDING` or `WEBHOOK_SUBSCRIPTION_DISABLED`. */
  redeliver(owner: string, id: string, deliveryId: string): Promise<Delivery>
  /**
   * Sends the undelivered events between `since` and `until`, in milliseconds since the Unix epoch, and ends a pause of the receiver. Throws 422
   * `WEBHOOK_RANGE_INVALID`, 409 `WEBHOOK_SUBSCRIPTION_DISABLED`.
   */
  recover(owner: string, id: string, since: number, until?: number): Promise<void>
  deliveries(owner: string, id: string, page: PageSelection & { readonly status?: DeliveryStatus | undefined }): Promise<Delivery[]>
  delivery(owner: string, id: string, deliveryId: string): Promise<Delivery>
  attempts(owner: string, id: string, deliveryId: string, page: PageSelection): Promise<Attempt[]>
  /** Returns the length of a list, at most `limit`. */
  count(owner: OwnerSelection, list: CountedList, limit: number): Promise<number>
  /** Removes deliveries that are older than the retention period, as the plugin does every minute. Returns their number. */
  removeOld(): Promise<number>
  /** Returns the current time of the plugin's clock, in milliseconds since the Unix epoch. */
  now(): number
}

/** Creates the `app.webhooks` object. */
export function makeWebhooks(settings: Settings, { emission, guard }: { emission: Emission; guard: AddressGuard }): Webhooks {
  const { events, store, currentTransaction, now } = settings
  const known = [...Object.keys(events), disabledEventType]

  async function subscription(owner: OwnerSelection, id: string) {
    return existing(owner, await store.subscription(id, currentTransaction()))
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
    emit: emission.emit,
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
      if (deliveryId === undefined) await subscription(owner, subscriptionId)
      else await delivery(owner, subscriptionId, deliveryId)
      return store.count(deliveryId === undefined ? { subscriptionId, status } : { deliveryId }, limit, currentTransaction())
    },
    ...subscriptionChanges(settings, { known, emission, guard }),
    disableOwner: async (owner) => disableSubscriptionsOf(settings, owner),
    async redeliver(owner, id, deliveryId) {
      const found = await delivery(owner, id, deliveryId)
      const parent = await subscription(owner, id)
      requireEnabled(parent)
      const selection = { subscriptionId: id, id: found.id }
      const [reopened] = await emission.inTransaction(async (transaction) => reopen(settings, parent, selection, transaction))
      if (reopened === undefined) throw errorList.create('WEBHOOK_DELIVERY_PENDING')
      return reopened
    },
    async recover(owner, id, since, until = now()) {
      if (!(since < until)) throw errorList.create('WEBHOOK_RANGE_INVALID', { errors: [{ field: 'body.until', key: 'untilBeforeSince' }] })
      const found = await subscription(owner, id)
      requireEnabled(found)
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
