import type { Transaction } from '@concordat/work-queue'
import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import type { Outage, Receiver } from './outage.ts'
import type { Subscription } from './subscription.ts'

/** Selects a page of a list that is sorted by id: newest first, because ids increase with time, or oldest first. */
export interface PageSelection {
  readonly limit: number
  /** The id after which the page starts, in the requested order. An item with that id does not have to exist. */
  readonly after?: string | undefined
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

/** Returns the page of a list in memory. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, after, oldestFirst = false }: PageSelection
): Item[] {
  return items
    .filter(({ id }) => after === undefined || (oldestFirst ? id > after : id < after))
    .toSorted((a, b) => (a.id > b.id === oldestFirst ? 1 : -1))
    .slice(0, limit)
}

/**
 * Selects subscriptions: those of an owner in a tenant, as `ownerKey` writes both; those of an owner without a tenant and in all; those of a tenant; all for
 * undefined.
 */
export type OwnerFilter = string | { readonly ownerInAnyTenant: string } | { readonly tenant: string } | undefined

/** Selects the subscriptions to an event type: all, those of an owner, or those of some audiences. */
export interface SubscriberSelection {
  readonly eventType: string
  /** The tenant of the event. Subscriptions of others are not among them, nor those of none if the event has one. */
  readonly tenant?: string | undefined
  readonly owner?: string | undefined
  readonly audiences?: readonly string[] | undefined
}

/** Selects the items to count: the subscriptions of an owner or of all owners, the deliveries of a subscription, or the attempts of a delivery. */
export type CountSelection =
  | { readonly owner: OwnerFilter }
  | { readonly subscriptionId: string; readonly status?: DeliveryStatus | undefined }
  | { readonly deliveryId: string }

/** A change by an owner, of which at most `limit` count after `since`. Times are in milliseconds since the Unix epoch. */
interface CountedChange {
  readonly owner: string
  readonly now: number
  readonly since: number
  readonly limit: number
}

/** A delivery with its subscription, the outage of its receiver, and the body for the API version of the subscription. */
export interface DeliveryToSend {
  readonly delivery: Delivery
  readonly subscription: Subscription
  readonly outage?: Outage | undefined
  readonly body: string
}

/**
 * Selects deliveries of a subscription: the finished delivery `id`; those that failed or were cancelled before `endedBefore`; or the pending ones whose
 * id follows `pendingAfter`. The last two are created at or after `since` and before `until`. Times are in milliseconds since the Unix epoch.
 */
export type DeliverySelection = { readonly subscriptionId: string } & (
  | { readonly id: string }
  | (CreationRange & ({ readonly endedBefore: number } | { readonly pendingAfter: string }))
)

interface CreationRange {
  readonly since: number
  readonly until: number
  readonly limit: number
}

/** Stores subscriptions, messages, deliveries and attempts. A method runs in the given transaction, or rejects if it cannot. */
export interface WebhookStore {
  /** Runs `work` in a new transaction, or without a transaction if the store does not support transactions. */
  transaction<Result>(work: (transaction: Transaction | undefined) => Promise<Result>): Promise<Result>

  /** Stores a new subscription. Returns false when its owner already has `maxOfOwner`, also when several are added at the same time. */
  addSubscription(subscription: Subscription, maxOfOwner: number, transaction?: Transaction): Promise<boolean>
  subscription(id: string, transaction?: Transaction): Promise<Subscription | undefined>
  subscriptionsOf(owner: OwnerFilter, page: PageSelection, transaction?: Transaction): Promise<Subscription[]>
  /** Returns the enabled subscriptions to an event type, in time that does not depend on the number of the others. */
  subscribersOf(selection: SubscriberSelection, transaction?: Transaction): Promise<Subscription[]>
  /**
   * Replaces a subscription atomically with the result of `change`, and returns it; undefined when there is none. Nothing is written when the result is
   * the same object, or if `change` throws.
   */
  changeSubscription(
    id: string,
    change: (current: Subscription) => Subscription,
    transaction?: Transaction
  ): Promise<Subscription | undefined>
  /** Returns the outage of a receiver. Until the transaction ends, changes of it wait, also when there is none. */
  outage(receiver: Receiver, transaction?: Transaction): Promise<Outage | undefined>
  /**
   * Replaces the outage of a receiver atomically with the result of `change`, and returns it; undefined means that there is none. Nothing is written when
   * the result is the same object. Until the transaction ends, other changes of this outage wait, also when there was none.
   */
  changeOutage(
    receiver: Receiver,
    change: (current: Outage | undefined) => Outage | undefined,
    transaction?: Transaction
  ): Promise<Outage | undefined>
  /** Returns the number of receivers whose deliveries wait, or `limit` if there are more. Without it, operators do not see them. */
  readonly pausedReceivers?: ((limit: number) => Promise<number>) | undefined
  /** Removes a subscription. Its deliveries and attempts no longer exist; the rows may be left for `removeEndedBefore`. Returns false if there is none. */
  removeSubscription(id: string, transaction?: Transaction): Promise<boolean>

  /**
   * Counts a change by an owner. When the limit is reached, also by concurrent changes, counts nothing and returns the time of the oldest change that
   * counts. Stores no more than `limit` times of an owner, and in the long run none that no longer count.
   */
  countChange(change: CountedChange, transaction?: Transaction): Promise<number | undefined>

  /** Stores a message and its deliveries to subscriptions that still exist. Returns false when the id already exists or no delivery is left. */
  addMessage(message: WebhookMessage, deliveries: readonly Delivery[], transaction?: Transaction): Promise<boolean>
  delivery(id: string, transaction?: Transaction): Promise<Delivery | undefined>
  deliveryToSend(id: string): Promise<DeliveryToSend | undefined>
  deliveriesOf(
    subscriptionId: string,
    page: PageSelection & { readonly status?: DeliveryStatus | undefined },
    transaction?: Transaction
  ): Promise<Delivery[]>
  /**
   * Stores the new state of a delivery that still exists, with the attempt that caused it, if any. Not called concurrently for the same delivery, except
   * for `changeDeliveries`: the last of both wins.
   */
  saveDelivery(delivery: Delivery, attempt: Attempt | undefined, transaction?: Transaction): Promise<void>
  /** Replaces the selected deliveries atomically with the results of `change`, oldest first, and returns these. */
  changeDeliveries(selection: DeliverySelection, change: (delivery: Delivery) => Delivery, transaction?: Transaction): Promise<Delivery[]>
  attemptsOf(deliveryId: string, page: PageSelection, transaction?: Transaction): Promise<Attempt[]>
  /** Returns the number of selected items, or `limit` if there are more. */
  count(selection: CountSelection, limit: number, transaction?: Transaction): Promise<number>
  /**
   * Removes at most `limit` deliveries that ended before `time`, or whose subscription has been removed, with their attempts and with the messages that no
   * other delivery uses. Returns their number; less than `limit` when there is nothing more to remove, or when another process is removing it.
   */
  removeEndedBefore(time: number, limit: number): Promise<number>
}
