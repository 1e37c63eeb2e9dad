import { type OptionNames, optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { contractLater } from '@concordat/plugin-wiring'
import { memoryWorkQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'
import { type EventCatalogue, requireCatalogue } from './events/event-catalogue.ts'
import { type DataWriter, dataWriter } from './events/event-data.ts'
import { defaultSchedule, requireSchedule } from './send/retry-delay.ts'
import { type SenderOptions, senderOptionNames } from './send/sender.ts'
import type { Delivery } from './store/delivery.ts'
import { memoryWebhookStore } from './store/memory-store.ts'
import type { WebhookStore } from './store/store.ts'
import type { DisabledReason, Subscription } from './store/subscription.ts'

/** An emitted event, as passed to `mayReceive`. */
export interface EmittedEvent {
  readonly type: string
  /**
   * The data as JSON, with the members that its schema declares: in the form in which it was emitted and, before an attempt, in the form of the API version
   * of the subscription. Decide by members that both have, such as ids.
   */
  readonly data: unknown
  /** The transaction in which the event is emitted, which queries of `mayReceive` must use; undefined before an attempt. */
  readonly transaction: Transaction | undefined
}

/** Options of `@concordat/webhooks`. */
export interface WebhooksOptions extends SenderOptions {
  /** The events that clients can subscribe to. */
  readonly events: EventCatalogue
  /**
   * Returns those of the subscriptions whose owners may see an event, by the owners' current rights. It is called once when the event is emitted, with all
   * subscriptions that may get it, so that one query can decide; and again before each attempt, with one subscription: a delivery that its owner may no
   * longer receive is cancelled. Use `'everyone'` when every client that may subscribe may see all events.
   *
   * @example
   * mayReceive: (subscriptions, { data }) => subscriptions.filter(({ owner }) => owner === data.customerId)
   */
  readonly mayReceive:
    | 'everyone'
    | ((subscriptions: readonly Subscription[], event: EmittedEvent) => readonly Subscription[] | Promise<readonly Subscription[]>)
  /**
   * Returns the owners, as the option `owner` of the routes returns them, whose subscriptions are disabled when all tokens of a user are revoked, by the `sub`
   * of the tokens. Set it together with `owner`.
   * @default the owners of `ownerOf` of @concordat/authentication, if that plugin is registered
   */
  readonly ownersOf?: ((subject: string) => readonly string[]) | undefined
  /**
   * The store of subscriptions and deliveries. Set it together with `queue`.
   * @default memoryWebhookStore(), with a warning: undelivered events are lost when the process ends
   */
  readonly store?: WebhookStore | undefined
  /**
   * The work queue that runs the deliveries, in the database of `store`.
   * @default memoryWorkQueue()
   */
  readonly queue?: WorkQueue | undefined
  /**
   * Whether this process delivers events. When it is `false`, other processes that share the queue can deliver.
   * @default true
   */
  readonly worker?: boolean | undefined
  /**
   * The seconds before each attempt, counted from the event for the first attempt and from the previous attempt for the others.
   * @default twelve attempts in 75 hours and 43 minutes, five of them in the first 13 minutes
   */
  readonly scheduleSeconds?: readonly number[] | undefined
  /**
   * The maximum number of concurrent attempts of this process. Receivers that hang occupy some of them until they are paused, so set it
   * higher than the number of deliveries that arrive together.
   * @default 200
   */
  readonly concurrency?: number | undefined
  /**
   * The approximate maximum number of concurrent attempts for the subscriptions of one owner, in all processes together, so that no owner delays the
   * deliveries of the others. One receiver gets at most about two thirds of them.
   * @default 20
   */
  readonly concurrencyPerOwner?: number | undefined
  /** The time after which a subscription is disabled if every attempt has failed, in seconds. @default 432000, five days */
  readonly disableAfterSeconds?: number | undefined
  /**
   * How long an old key continues to sign after a rotation, in seconds.
   * @default 86400
   */
  readonly rotationGraceSeconds?: number | undefined
  /**
   * The maximum number of subscriptions of an owner.
   * @default 20
   */
  readonly maxSubscriptions?: number | undefined
  /**
   * How long a stopping process waits for attempts in progress, in seconds. Attempts that take longer are made again by another process,
   * or after the next start.
   * @default 5
   */
  readonly stopGraceSeconds?: number | undefined
  /**
   * How long finished deliveries and their attempts are retained, in days.
   * @default 30
   */
  readonly retentionDays?: number | undefined
  /**
   * Called when the service disables a subscription, to notify its owner by other means than webhooks. It may be called twice.
   * @default writes to the log
   */
  readonly onDisabled?: ((subscription: Subscription, reason: DisabledReason) => void) | undefined
  /** Called when a delivery has failed permanently. It may be called twice. @default writes to the log */
  readonly onFailed?: ((delivery: Delivery) => void) | undefined
}

/** The options with their defaults. */
export interface Settings {
  readonly events: EventCatalogue
  readonly writeData: DataWriter
  readonly store: WebhookStore
  readonly queue: WorkQueue
  /** Returns those of the subscriptions that may receive the event. */
  readonly mayReceive: (subscriptions: readonly Subscription[], event: EmittedEvent) => Promise<Subscription[]>
  readonly ownersOf: ((subject: string) => readonly string[]) | undefined
  /** Returns the transaction of the calling handler, which all methods of `app.webhooks` join. */
  readonly currentTransaction: () => Transaction | undefined
  readonly worker: boolean
  readonly schedule: readonly number[]
  readonly concurrency: number
  readonly concurrencyPerOwner: number
  readonly disableAfterSeconds: number
  readonly rotationGraceSeconds: number
  readonly maxSubscriptions: number
  readonly stopGraceSeconds: number
  readonly retentionDays: number
  readonly now: () => number
}

const { integer } = optionChecks('webhooks')

const ownNames: OptionNames<Omit<WebhooksOptions, keyof SenderOptions>> = {
  events: {
    '*': {
      description: true,
      audiences: true,
      schema: true,
      example: true,
      versions: { '*': { schema: true, example: true, represent: true } }
    }
  },
  mayReceive: true,
  ownersOf: true,
  store: true,
  queue: true,
  worker: true,
  scheduleSeconds: true,
  concurrency: true,
  concurrencyPerOwner: true,
  disableAfterSeconds: true,
  rotationGraceSeconds: true,
  maxSubscriptions: true,
  stopGraceSeconds: true,
  retentionDays: true,
  onDisabled: true,
  onFailed: true
}

/** Returns the options with their defaults. Throws a `TypeError` with a one-line message for invalid options. */
export function resolveOptions(options: WebhooksOptions, app: FastifyInstance): Settings {
  requirePluginNames('webhooks', options, { ...senderOptionNames, ...ownNames })
  const { mayReceive, worker = true, now = () => Date.now() } = options
  if ((options.store === undefined) !== (options.queue === undefined)) {
    throw new TypeError('webhooks: options.store and options.queue must be set together, in the same database. Set both, or neither.')
  }
  const { store = memoryWebhookStore(), queue = memoryWorkQueue() } = options
  if (typeof store.addMessage !== 'function')
    throw new TypeError('webhooks: options.store must implement WebhookStore, for example memoryWebhookStore().')
  if (typeof queue.enqueue !== 'function')
    throw new TypeError('webhooks: options.queue must implement WorkQueue, for example memoryWorkQueue().')
  if (mayReceive !== 'everyone' && typeof mayReceive !== 'function') {
    throw new TypeError(
      'webhooks: options.mayReceive must be "everyone" or a function that returns those of the subscriptions that may receive an event.'
    )
  }
  const events = requireCatalogue(options.events)
  const transactions = contractLater(app, 'transactions')
  return {
    events,
    writeData: dataWriter(events),
    store,
    queue,
    mayReceive: selectionBy(mayReceive),
    ownersOf: options.ownersOf,
    // A rollback of the transaction cannot remove jobs from a queue in memory.
    currentTransaction: () =>
      queue.capabilities.transactional ? (transactions()?.currentTransaction() as Transaction | undefined) : undefined,
    worker,
    schedule: requireSchedule(options.scheduleSeconds ?? defaultSchedule),
    concurrency: integer('options.concurrency', options.concurrency ?? 200, 1, 10_000),
    concurrencyPerOwner: integer('options.concurrencyPerOwner', options.concurrencyPerOwner ?? 20, 1, 10_000),
    disableAfterSeconds: integer('options.disableAfterSeconds', options.disableAfterSeconds ?? 432_000, 60, 31_536_000),
    rotationGraceSeconds: integer('options.rotationGraceSeconds', options.rotationGraceSeconds ?? 86_400, 0, 31_536_000),
    maxSubscriptions: integer('options.maxSubscriptions', options.maxSubscriptions ?? 20, 1, 100_000),
    stopGraceSeconds: integer('options.stopGraceSeconds', options.stopGraceSeconds ?? 5, 0, 60),
    retentionDays: integer('options.retentionDays', options.retentionDays ?? 30, 1, 3650),
    now
  }
}

function selectionBy(mayReceive: WebhooksOptions['mayReceive']): Settings['mayReceive'] {
  if (mayReceive === 'everyone') return async (subscriptions) => [...subscriptions]
  return async (subscriptions, event) => {
    if (subscriptions.length === 0) return []
    const selected: unknown = await mayReceive(subscriptions, event)
    if (!Array.isArray(selected))
      throw new TypeError('webhooks: options.mayReceive must return an array with those of the subscriptions that may receive the event.')
    const allowed = new Set<unknown>(selected)
    return subscriptions.filter((subscription) => allowed.has(subscription))
  }
}
