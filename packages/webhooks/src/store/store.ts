import type { Transaction } from '@concordat/work-queue'
import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import type { Outage, Receiver } from './outage.ts'
import type { Subscription } from './subscription.ts'

/** Selects a page of a list that is sorted by id, by default newest first, because ids increase with time. */
export interface PageSelection {
  readonly limit: number
  /** The id after which the page starts, in the requested order. An item with that id does not have to exist. */
  readonly after?: string | undefined
  /** Whether the oldest items come first. @default false */
  readonly oldestFirst?: boolean | undefined
}

const pageLimit = 1000

/** Reads a whole list, oldest first, page by page. */
export async function* pagesOf<Item extends { readonly id: string }>(
  read: (page: PageSelection) => Promise<readonly Item[]>
): AsyncGenerator<readonly Item[]> {
  let after: string | undefined
  for (let count = pageLimit; count === pageLimit; ) {
    const page = await read({ limit: pageLimit, after, oldestFirst: true })
    yield page
    after = page.at(-1)?.id
    count = page.length
  }
}

/** Selects the subscriptions to an event type: all, those of an owner, or those of some audiences. */
export interface SubscriberSelection {
  readonly eventType: string
  readonly owner?: string | undefined
  readonly audiences?: readonly string[] | undefined
}

/** Selects the items to count: the subscriptions of an owner, or of all owners if `owner` is undefined, the deliveries of a subscription, or the attempts of a delivery. */
export type CountSelection =
  | { readonly owner: string | undefined }
  | { readonly subscriptionId: string; readonly status?: DeliveryStatus | undefined }
  | { readonly deliveryId: string }

/** A change by an owner, which is counted. Times are in milliseconds since the Unix epoch. */
export interface CountedChange {
  readonly owner: string
  readonly now: number
  /** Earlier changes no longer count. */
  readonly since: number
  /** The maximum number of changes of the owner after `since`, including this one. */
  readonly limit: number
}

/** A delivery with its subscription, the outage of its receiver, if there is one, and the body to send. */
export interface DeliveryToSend {
  readonly delivery: Delivery
  readonly subscription: Subscription
  readonly outage?: Outage | undefined
  /** The request body for the API version of the subscription. */
  readonly body: string
}

/**
 * Selects deliveries of a subscription: the finished delivery `id`; the deliveries that failed or were cancelled before `endedBefore`; or the pending
 * deliveries whose id follows `pendingAfter`. The last two select those that were created at or after `since` and before `until`. Times are in
 * milliseconds since the Unix epoch.
 */
export type DeliverySelection = { readonly subscriptionId: string } & (
  | { readonly id: string }
  | (CreationRange & { readonly endedBefore: number })
  | (CreationRange & { readonly pendingAfter: string })
)

/** A time range, and the maximum number of deliveries. */
interface CreationRange {
  readonly since: number
  readonly until: number
  readonly limit: number
}

/** Stores subscriptions, messages, deliveries and attempts. A method runs in the given transaction, or rejects if it cannot. */
export interface WebhookStore {
  /** Runs `work` in a new transaction, or without a transaction if the store does not support transactions. */
  transaction<Result>(work: (transaction: Transaction | undefined) => Promise<Result>): Promise<Result>

  /**
   * Stores a new subscription, and returns true. Stores nothing and returns false when its owner already has `maxOfOwner` subscriptions, also
   * when several are added at the same time.
   */
  addSubscription(subscription: Subscription, maxOfOwner: number, transaction?: Transaction): Promise<boolean>
  subscription(id: string, transaction?: Transaction): Promise<Subscription | undefined>
  /** Returns the subscriptions of an owner, or of all owners if `owner` is undefined. */
  subscriptionsOf(owner: string | undefined, page: PageSelection, transaction?: Transaction): Promise<Subscription[]>
  /** Returns the enabled subscriptions to an event type, in time that does not depend on the number of the others. */
  subscribersOf(selection: SubscriberSelection, transaction?: Transaction): Promise<Subscription[]>
  /**
   * Replaces a subscription atomically with the result of `change`. Nothing is written when the result is the same
   * object. Returns the stored subscription, or undefined when there is none. If `change` throws, nothing changes.
   */
  changeSubscription(
    id: string,
    change: (current: Subscription) => Subscription,
    transaction?: Transaction
  ): Promise<Subscription | undefined>
  /** Returns the outage of a receiver. Until the transaction ends, changes of it wait, also when there is none. */
  outage(receiver: Receiver, transaction?: Transaction): Promise<Outage | undefined>
  /**
   * Replaces the outage of a receiver atomically with the result of `change`; undefined means that there is none. Nothing is written when the result is the
   * same object. Until the transaction ends, other changes of this outage wait, also when there was none. Returns the stored outage.
   */
  changeOutage(
    receiver: Receiver,
    change: (current: Outage | undefined) => Outage | undefined,
    transaction?: Transaction
  ): Promise<Outage | undefined>
  /**
   * Removes a subscription. From then on its deliveries and their attempts no longer exist; the rows may be left for `removeEndedBefore`.
   * Returns false when there is no such subscription.
   */
  removeSubscription(id: string, transaction?: Transaction): Promise<boolean>

  /**
   * Counts a change by an owner, whatever becomes of the owner's subscriptions. When the limit is reached, also by concurrent changes, counts nothing and
   * returns the time of the oldest change that counts. Stores no more than `limit` times of an owner, and in the long run none that no longer count.
   */
  countChange(change: CountedChange, transaction?: Transaction): Promise<number | undefined>

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
   * called concurrently for the same delivery, except for `changeDeliveries`: the last of both wins.
   */
  saveDelivery(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
  /**
   * Replaces the selected deliveries atomically with the results of `change`, oldest first. Returns the results. A result that is the same object need
   * not be written.
   */
  changeDeliveries(selection: DeliverySelection, change: (delivery: Delivery) => Delivery, transaction?: Transaction): Promise<Delivery[]>
  /** Returns the attempts of a delivery. */
  attemptsOf(deliveryId: string, page: PageSelection, transaction?: Transaction): Promise<Attempt[]>
  /** Returns the number of selected items, or `limit` if there are more. */
  count(selection: CountSelection, limit: number, transaction?: Transaction): Promise<number>
  /**
   * Removes at most `limit` deliveries that ended before `time`, in milliseconds since the Unix epoch, or whose subscription has been removed, with their
   * attempts and with the messages that no other delivery uses. Returns the number of removed deliveries; it is less than `limit` when there are
   * no more, or when another process is removing them.
   */
  removeEndedBefore(time: number, limit: number): Promise<number>
}
