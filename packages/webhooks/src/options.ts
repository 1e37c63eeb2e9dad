import { checkAtStart } from '@concordat/plugin-kit/findings'
import { measureCalls, type Observer } from '@concordat/plugin-kit/observer'
import {
  callback,
  describeOptions,
  flag,
  instance,
  integer,
  type OptionsOf,
  required,
  type SettingsOf,
  value
} from '@concordat/plugin-kit/options'
import { contractLater, contractOf } from '@concordat/plugin-kit/wiring'
import { memoryWorkQueue, observedQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance } from 'fastify'
import { type EventCatalogue, eventNames, requireEvents } from './events/event-catalogue.ts'
import { type DataWriter, dataWriter } from './events/event-data.ts'
import { defaultSchedule, requireSchedule } from './send/retry-delay.ts'
import { senderOptions } from './send/sender.ts'
import { memoryWebhookStore } from './store/memory-store.ts'
import type { WebhookStore } from './store/store.ts'
import type { DisabledReason, Subscription } from './store/subscription.ts'

/** An emitted event, as passed to `mayReceive`. */
export interface EmittedEvent {
  readonly type: string
  /** The tenant of the event, if it has one; that of the subscriptions. */
  readonly tenant: string | undefined
  /**
   * The data with the members that its schema declares: as emitted and, before an attempt, in the form of the API version of the subscription.
   * Decide by members that both have, such as ids.
   */
  readonly data: unknown
  /** The transaction of the event, which queries must use; undefined before an attempt. */
  readonly transaction: Transaction | undefined
}

/** The description of {@link WebhooksOptions}. @readme */
export const webhooksOptions = describeOptions('webhooks', {
  /** The types of events. */
  events: required(value<EventCatalogue>({ names: { '*': eventNames } })),
  /**
   * Returns the subscriptions whose owners may see an event, or `'everyone'`. Called with all at the event, and with one before each attempt.
   *
   * @example
   * mayReceive: (subscriptions, { data }) => subscriptions.filter(({ owner }) => owner === data.customerId)
   */
  mayReceive: required(
    value<
      | 'everyone'
      | ((subscriptions: readonly Subscription[], event: EmittedEvent) => readonly Subscription[] | Promise<readonly Subscription[]>)
    >()
  ),
  /** Returns the owners of a revoked `sub`. Set it with your own `owner`. */
  ownersOf: callback<(subject: string) => readonly string[]>('returns the owners of a user'),
  /** The store, by default in memory. */
  store: instance<WebhookStore>(['addMessage'], 'WebhookStore, for example memoryWebhookStore()'),
  /** The work queue, in the database of `store`. */
  queue: instance<WorkQueue>(['enqueue'], 'WorkQueue, for example memoryWorkQueue()'),
  /** Whether this process delivers. Operators turn it off while deliveries harm the receivers. */
  worker: flag({ default: true }),
  /** The delay before each attempt, up to a fifth longer. Operators lengthen it while receivers are overloaded. */
  scheduleSeconds: value<readonly number[]>({ default: defaultSchedule }),
  /** Concurrent attempts of this process. */
  concurrency: integer({ default: 200, min: 1, max: 10_000 }),
  /**
   * Concurrent attempts for one owner, in all processes; fewer while other owners use theirs. One receiver gets two thirds. Operators raise it while the
   * deliveries of an owner fall behind.
   */
  concurrencyPerOwner: integer({ default: 20, min: 1, max: 10_000 }),
  /** Subscriptions of an owner. Operators raise it for an owner that gets 409. */
  maxSubscriptions: integer({ default: 20, min: 1, max: 100_000 }),
  /** How long a stopping process waits for attempts. */
  stopGraceSeconds: integer({ default: 5, max: 60 }),
  /** How long finished deliveries are retained. */
  retentionDays: integer({ default: 30, min: 1, max: 3650 }),
  /** Called when the service disables a subscription, perhaps twice. By default it is logged. */
  onDisabled: callback<(subscription: Subscription, reason: DisabledReason) => void>('notifies the owner'),
  ...senderOptions.members
})

/** Options of `@concordat/webhooks`. */
export interface WebhooksOptions extends OptionsOf<typeof webhooksOptions> {}

type Described = SettingsOf<(typeof webhooksOptions)['members']>
/** Resolved options. */
export interface Settings extends Omit<Described, 'mayReceive' | 'scheduleSeconds'> {
  readonly writeData: DataWriter
  readonly store: WebhookStore
  readonly queue: WorkQueue
  /** Returns the time of the queue, which tests can move. */
  readonly now: () => number
  readonly observer: Observer | undefined
  /** Whether each event is of a tenant, or of none explicitly. */
  readonly hasTenants: () => boolean
  /** Returns the transaction of the calling handler, which all methods of `app.webhooks` join. */
  readonly currentTransaction: () => Transaction | undefined
  /** Returns those of the subscriptions that may receive the event. */
  readonly mayReceive: (subscriptions: readonly Subscription[], event: EmittedEvent) => Promise<Subscription[]>
  readonly schedule: readonly number[]
}

/** Returns the options with defaults applied. Throws a `TypeError` of one line for invalid options. */
export function resolveOptions(options: WebhooksOptions, app: FastifyInstance): Settings {
  const { mayReceive, scheduleSeconds, ...settings } = webhooksOptions.readPlugin(options)
  const { events, store = memoryWebhookStore(), queue = memoryWorkQueue() } = settings
  const observer = contractOf(app, 'observer')
  if ((settings.store === undefined) !== (settings.queue === undefined)) {
    throw new TypeError('webhooks: options.store and options.queue must be set together, in the same database. Set both, or neither.')
  }
  if (mayReceive !== 'everyone' && typeof mayReceive !== 'function') {
    throw new TypeError(
      'webhooks: options.mayReceive must be "everyone" or a function that returns those of the subscriptions that may receive an event.'
    )
  }
  requireEvents(events)
  const transactions = contractLater(app, 'transactions')
  const clients = contractLater(app, 'clients')
  return {
    ...settings,
    writeData: dataWriter(events, Object.values(app.getSchemas()) as object[], reportAtStart),
    store: measureCalls(contractOf(app, 'observer'), 'webhooks', store),
    queue: observedQueue(queue, observer),
    now: () => queue.clock?.now() ?? Date.now(),
    observer,
    hasTenants: () => clients()?.tenantOf !== undefined,
    mayReceive: selectionBy(mayReceive),
    // A rollback of the transaction cannot remove jobs from a queue in memory.
    currentTransaction: () =>
      queue.capabilities.transactional ? (transactions()?.currentTransaction() as Transaction | undefined) : undefined,
    schedule: requireSchedule(scheduleSeconds)
  }

  function reportAtStart(error: Error) {
    checkAtStart(app, () => {
      throw error
    })
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
