import type { Transaction } from '@concordat/work-queue'
import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import type { Subscription } from './subscription.ts'

/** A part of a list, by id: the newest first, since ids are made one after the other. */
export interface PageWish {
  readonly limit: number
  /** An id: those behind it are meant, in the order that is asked for; there need be none of that id. */
  readonly after?: string | undefined
  /** @default false */
  readonly oldestFirst?: boolean | undefined
}

/** All that an attempt needs. */
export interface DeliveryToSend {
  readonly delivery: Delivery
  readonly subscription: Subscription
  /** The bytes for the version of the subscription. */
  readonly body: string
}

/**
 * Which deliveries that have ended are tried anew: one, or those that were created from `since` on and before `until`, were not delivered, and
 * ended before a time. Times in milliseconds since 1970.
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

/** Where subscriptions, messages, deliveries and attempts are kept. Where a transaction is given, all is done in it, or it is refused. */
export interface WebhookStore {
  /** Does the work in a transaction of its own, or without one where the store has none. */
  transaction<Result>(work: (transaction: Transaction | undefined) => Promise<Result>): Promise<Result>

  /** Keeps a new subscription. */
  addSubscription(subscription: Subscription, transaction?: Transaction): Promise<void>
  subscription(id: string, transaction?: Transaction): Promise<Subscription | undefined>
  /** Those of an owner. */
  subscriptionsOf(owner: string, page: PageWish, transaction?: Transaction): Promise<Subscription[]>
  /** The enabled ones that want a type of event. */
  subscribersOf(eventType: string, transaction?: Transaction): Promise<Subscription[]>
  /**
   * Replaces a subscription by what `change` makes of it, and nobody else changes it meanwhile; nothing is written when that is the same object.
   * Answers what there is then; undefined when there is none. What `change` throws leaves all as it was.
   */
  changeSubscription(
    id: string,
    change: (current: Subscription) => Subscription,
    transaction?: Transaction
  ): Promise<Subscription | undefined>
  /**
   * Removes a subscription, and from then on its deliveries and their attempts are not there any more; the rows may be left for
   * `removeEndedBefore`. Answers false when there is none.
   */
  removeSubscription(id: string, transaction?: Transaction): Promise<boolean>

  /**
   * Keeps a message and its deliveries, less those to subscriptions that were removed meanwhile; or nothing when its id is known or no
   * delivery is left: then it answers false.
   */
  addMessage(message: WebhookMessage, deliveries: readonly Delivery[], transaction?: Transaction): Promise<boolean>
  delivery(id: string, transaction?: Transaction): Promise<Delivery | undefined>
  deliveryToSend(id: string): Promise<DeliveryToSend | undefined>
  /** Those of a subscription; of one status, when it is given. */
  deliveriesOf(
    subscriptionId: string,
    page: PageWish & { readonly status?: DeliveryStatus | undefined },
    transaction?: Transaction
  ): Promise<Delivery[]>
  /** Keeps what became of a delivery, with the attempt that made it so, if one did; nothing when it was removed meanwhile. Not twice at once for one. */
  saveDelivery(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
  /** Replaces deliveries that have ended by what `reopen` makes of them, the oldest first. Answers these. */
  reopenDeliveries(selection: DeliverySelection, reopen: (delivery: Delivery) => Delivery, transaction?: Transaction): Promise<Delivery[]>
  /** Those of a delivery. */
  attemptsOf(deliveryId: string, page: PageWish, transaction?: Transaction): Promise<Attempt[]>
  /**
   * Removes at most `limit` deliveries that ended before a time, in milliseconds since 1970, or are left of a removed subscription, with their
   * attempts and the messages that have no other. Answers how many; fewer than `limit` when there are no more, or another process is at it.
   */
  removeEndedBefore(time: number, limit: number): Promise<number>
}
