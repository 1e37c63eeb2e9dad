import { memoryQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { Delivery } from './delivery.ts'
import { type EventCatalogue, requireCatalogue } from './event-catalogue.ts'
import { memoryStore } from './memory-store.ts'
import { requireSchedule, standardSchedule } from './retry-delay.ts'
import type { SenderOptions } from './sender.ts'
import type { WebhookStore } from './store.ts'
import type { DisabledReason, Subscription } from './subscription.ts'
import { defaultHealthLimits, type HealthLimits } from './subscription-health.ts'

/** An event, as it is decided who may receive it. */
export interface EmittedEvent {
  readonly type: string
  /** As it was emitted, before it is put into the form of a version. */
  readonly data: unknown
  /** The transaction that it is emitted in: whoever has to ask the database asks through it. */
  readonly transaction: Transaction | undefined
}

/** A transaction that others have begun; the queue is told when it has been committed, if it says so. */
export type CallerTransaction = Transaction & { afterCommit?(told: () => void): void }

/** What `@concordat/webhooks` can be told. */
export interface WebhooksOptions extends SenderOptions {
  /** The events that can be subscribed to. */
  readonly events: EventCatalogue
  /**
   * Whether the owner of a subscription may see an event: asked for each subscription that wants it, when it is emitted; `'everyone'` where
   * there is nothing to hide from anyone who may subscribe.
   */
  readonly mayReceive: 'everyone' | ((subscription: Subscription, event: EmittedEvent) => boolean | Promise<boolean>)
  /**
   * Where subscriptions and deliveries are kept. Give it together with `queue`.
   * @default memoryStore(), with a warning: what is not delivered is lost with the process
   */
  readonly store?: WebhookStore | undefined
  /**
   * What runs deliveries: an engine on the database of `store`.
   * @default memoryQueue()
   */
  readonly queue?: WorkQueue | undefined
  /**
   * The transaction that everything asked of `app.webhooks` joins, as that of the request.
   * @default () => undefined – each event commits by itself
   */
  readonly currentTransaction?: (() => CallerTransaction | undefined) | undefined
  /**
   * Whether this process delivers; others that share the queue may.
   * @default true
   */
  readonly delivers?: boolean | undefined
  /**
   * The seconds before each attempt: the first counts from the event, the others from the attempt before.
   * @default that of Standard Webhooks 1.0, ten attempts in 75 hours and 35 minutes
   */
  readonly scheduleSeconds?: readonly number[] | undefined
  /**
   * How many attempts this process makes at once. Receivers that hang hold some of these until they are left alone, so give more than the
   * deliveries that come in one go.
   * @default 200
   */
  readonly concurrency?: number | undefined
  /**
   * How many attempts to one subscription are made at once, in all processes together and about.
   * @default 10
   */
  readonly concurrencyPerSubscription?: number | undefined
  /** When a receiver is left alone, and given up. @default { breakerFailures: 10, breakerSeconds: 60, disableAfterSeconds: 432000 } */
  readonly health?: Partial<HealthLimits> | undefined
  /**
   * How long an old key goes on signing after a rotation.
   * @default 86400
   */
  readonly rotationGraceSeconds?: number | undefined
  /**
   * How many subscriptions an owner may have.
   * @default 20
   */
  readonly maximumSubscriptions?: number | undefined
  /**
   * How long a process that ends waits for attempts under way; what takes longer is attempted again by another, or after the next start.
   * @default 5
   */
  readonly stopGraceSeconds?: number | undefined
  /**
   * How long deliveries and attempts are kept after they have ended.
   * @default 30
   */
  readonly retentionDays?: number | undefined
  /**
   * Is told when the service disables a subscription, so that its owner can be told by another way than webhooks. May be told twice.
   * @default the log
   */
  readonly onDisabled?: ((subscription: Subscription, reason: DisabledReason) => void) | undefined
  /** Is told when a delivery has failed for good. May be told twice. @default the log */
  readonly onFailed?: ((delivery: Delivery) => void) | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly events: EventCatalogue
  readonly store: WebhookStore
  readonly queue: WorkQueue
  readonly mayReceive: (subscription: Subscription, event: EmittedEvent) => boolean | Promise<boolean>
  readonly currentTransaction: () => CallerTransaction | undefined
  readonly delivers: boolean
  readonly schedule: readonly number[]
  readonly concurrency: number
  readonly concurrencyPerSubscription: number
  readonly health: HealthLimits
  readonly rotationGraceSeconds: number
  readonly maximumSubscriptions: number
  readonly stopGraceSeconds: number
  readonly retentionDays: number
  readonly now: () => number
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: WebhooksOptions): Settings {
  const { mayReceive, currentTransaction = () => undefined, delivers = true, now = Date.now } = options
  if ((options.store === undefined) !== (options.queue === undefined)) {
    throw new TypeError('webhooks: store and queue belong together. Give both, of one database, or neither.')
  }
  const { store = memoryStore(), queue = memoryQueue() } = options
  if (typeof store.addMessage !== 'function') throw new TypeError('webhooks: store is no store. Give one, as memoryStore().')
  if (typeof queue.enqueue !== 'function') throw new TypeError('webhooks: queue is no work queue. Give one, as memoryQueue().')
  if (mayReceive !== 'everyone' && typeof mayReceive !== 'function') {
    throw new TypeError('webhooks: mayReceive is missing. Give a function that says which subscription may see an event, or "everyone".')
  }
  const health = { ...defaultHealthLimits, ...options.health }
  return {
    events: requireCatalogue(options.events),
    store,
    queue,
    mayReceive: mayReceive === 'everyone' ? () => true : mayReceive,
    // What a queue in memory enqueues could not be taken back with it.
    currentTransaction: () => (queue.capabilities.transactional ? currentTransaction() : undefined),
    delivers,
    schedule: requireSchedule(options.scheduleSeconds ?? standardSchedule),
    concurrency: requireWhole('concurrency', options.concurrency ?? 200, 1, 10_000),
    concurrencyPerSubscription: requireWhole('concurrencyPerSubscription', options.concurrencyPerSubscription ?? 10, 1, 10_000),
    health: {
      breakerFailures: requireWhole('health.breakerFailures', health.breakerFailures, 1, 1_000_000),
      breakerSeconds: requireWhole('health.breakerSeconds', health.breakerSeconds, 1, 3600),
      disableAfterSeconds: requireWhole('health.disableAfterSeconds', health.disableAfterSeconds, 60, 31_536_000)
    },
    rotationGraceSeconds: requireWhole('rotationGraceSeconds', options.rotationGraceSeconds ?? 86_400, 0, 31_536_000),
    maximumSubscriptions: requireWhole('maximumSubscriptions', options.maximumSubscriptions ?? 20, 1, 100_000),
    stopGraceSeconds: requireWhole('stopGraceSeconds', options.stopGraceSeconds ?? 5, 0, 60),
    retentionDays: requireWhole('retentionDays', options.retentionDays ?? 30, 1, 3650),
    now
  }
}

function requireWhole(name: string, value: number, least: number, most: number) {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError(`webhooks: ${name} is ${value}. Give a whole number from ${least} to ${most}.`)
}
