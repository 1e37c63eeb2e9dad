import type { Transaction } from '@concordat/work-queue'
import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import type { Subscription } from './subscription.ts'

/** A page of a list in the order of the ids: newest first, since ids increase with time. */
export interface PageSelection {
  readonly limit: number
  /** An id: the page starts after it, in the requested order. An item with that id does not have to exist. */
  readonly after?: string | undefined
  /** Whether the oldest items come first. @default false */
  readonly oldestFirst?: boolean | undefined
}

/** Everything that an attempt needs. */
export interface DeliveryToSend {
  readonly delivery: Delivery
  readonly subscription: Subscription
  /** The bytes for the version of the subscription. */
  readonly body: string
}

/**
 * Selects the ended deliveries to try again: one delivery, or those that were created from `since` on and before `until`, were not
 * delivered, and ended before `endedBefore`. Times are in milliseconds since 1970.
 */
export type DeliverySelection =
  | { readonly subscriptionId: string; readonly id: string }
  | {
      readonly subscriptionId: string
      readonly since: number
      readonly until: number
      readonly endedBefore: number
      readonly limit: number
    }

/** Stores subscriptions, messages, deliveries and attempts. A method runs in the given transaction, or rejects if it cannot. */
export interface WebhookStore {
  /** Runs the work in a new transaction, or without a transaction if the store does not support them. */
  transaction<Result>(work: (transaction: Transaction | undefined) => Promise<Result>): Promise<Result>

  /** Stores a new subscription. */
  addSubscription(subscription: Subscription, transaction?: Transaction): Promise<void>
  subscription(id: string, transaction?: Transaction): Promise<Subscription | undefined>
  /** Returns the subscriptions of an owner. */
  subscriptionsOf(owner: string, page: PageSelection, transaction?: Transaction): Promise<Subscription[]>
  /** Returns the enabled subscriptions to an event type. */
  subscribersOf(eventType: string, transaction?: Transaction): Promise<Subscription[]>
  /**
   * Replaces a subscription with the result of `change`, without concurrent changes to it. Nothing is written when the result is the same
   * object. Returns the stored subscription, or undefined when there is none. If `change` throws, nothing changes.
   */
  changeSubscription(
    id: string,
    change: (current: Subscription) => Subscription,
    transaction?: Transaction
  ): Promise<Subscription | undefined>
  /**
   * Removes a subscription. From then on its deliveries and their attempts no longer exist; the rows may be left for `removeEndedBefore`.
   * Returns false when there is no such subscription.
   */
  removeSubscription(id: string, transaction?: Transaction): Promise<boolean>

  /**
   * Stores a message and its deliveries, except deliveries to subscriptions that have been removed. Stores nothing and returns false when
   * the id already exists or no delivery is left.
   */
  addMessage(message: WebhookMessage, deliveries: readonly Delivery[], transaction?: Transaction): Promise<boolean>
  delivery(id: string, transaction?: Transaction): Promise<Delivery | undefined>
  deliveryToSend(id: string): Promise<DeliveryToSend | undefined>
  /** Returns the deliveries of a subscription, optionally filtered by status. */
  deliveriesOf(
    subscriptionId: string,
    page: PageSelection & { readonly status?: DeliveryStatus | undefined },
    transaction?: Transaction
  ): Promise<Delivery[]>
  /**
   * Stores the new state of a delivery, with the attempt that caused it, if any. Does nothing when the delivery has been removed. Not
   * called concurrently for the same delivery.
   */
  saveDelivery(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
  /** Replaces the selected ended deliveries with the results of `reopen`, oldest first. Returns the new deliveries. */
  reopenDeliveries(selection: DeliverySelection, reopen: (delivery: Delivery) => Delivery, transaction?: Transaction): Promise<Delivery[]>
  /** Returns the attempts of a delivery. */
  attemptsOf(deliveryId: string, page: PageSelection, transaction?: Transaction): Promise<Attempt[]>
  /**
   * Removes at most `limit` deliveries that ended before a time, in milliseconds since 1970, or that are left of a removed subscription,
   * with their attempts and the messages without other deliveries. Returns the number of removed deliveries; it is less than `limit` when
   * there are no more, or when another process is removing them.
   */
  removeEndedBefore(time: number, limit: number): Promise<number>
}
