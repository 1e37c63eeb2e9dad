// What clients know: the writes with a final response, and the events that must follow from them.
export interface PlacedOrder {
  readonly id: string
  /** The beginning of its note, and its idempotency key unless it was placed in a batch. */
  readonly key: string
  readonly customerId: string
  isCancelled: boolean
  /** The texts that clients have added to its note. */
  readonly changes: string[]
  /** Whether a client changes it at the moment. */
  isBusy: boolean
}

export interface ExpectedEvent {
  readonly key: string
  /** Whose order it is, or undefined when every subscriber may see it. */
  readonly customerId?: string | undefined
  /** When the request was first sent, in seconds of the recorder. */
  readonly sentAt: number
}

export interface Subscription {
  readonly name: string
  readonly id: string
  readonly owner: string
  readonly isOfStaff: boolean
  readonly isOrdered: boolean
  readonly types: readonly string[]
  /** From when on its creation was acknowledged. */
  readonly since: number
  /** Whether the traffic removes it again. */
  readonly isTemporary: boolean
  isRemoved: boolean
}

export class Ledger {
  readonly orders = new Map<string, PlacedOrder>()
  /** The keys of orders that the service finally refused. */
  readonly refused = new Set<string>()
  /** The keys of orders that were sent and have no final response yet. */
  readonly open = new Set<string>()
  readonly events: ExpectedEvent[] = []
  readonly subscriptions: Subscription[] = []
  readonly exports = new Map<string, string>()
  /** Jobs that must fail. */
  readonly poison = new Set<string>()
  /** The texts added to the descriptions of products, by product. */
  readonly additions = new Map<string, string[]>()
  readonly responses: {
    readonly path: string
    readonly body: object
    readonly key: string
    readonly text: string
    readonly userId: string
  }[] = []
}
