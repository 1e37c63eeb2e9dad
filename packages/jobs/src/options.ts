import type { OriginOptions } from '@concordat/plugin-kit/links'
import { measureCalls, type Observer } from '@concordat/plugin-kit/observer'
import {
  callback,
  describeOptions,
  flag,
  headerName,
  instance,
  integer,
  type OptionsOf,
  type SettingsOf,
  value
} from '@concordat/plugin-kit/options'
import { contractLater, contractOf } from '@concordat/plugin-kit/wiring'
import { memoryWorkQueue, observedQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { memoryJobStore } from './stores/memory-store.ts'
import type { JobStore } from './stores/store.ts'

/** How long a job that has ended can be read. After that, its URLs respond with 410 for a day. */
export const resultMs = 604_800_000
/** How long the URLs of an expired job respond with 410. */
export const goneMs = 86_400_000

/** The description of {@link JobsOptions}. @readme */
export const jobsOptions = describeOptions('jobs', {
  /** The public URL of the service, for links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The queue of the jobs. Close it after the service. By default in memory: jobs are lost when the process exits. */
  queue: instance<WorkQueue>(['enqueue'], 'WorkQueue, for example memoryWorkQueue()'),
  /** The store of the records, in the database of the queue: `postgresJobStore(database)`. */
  store: instance<JobStore>([], 'JobStore'),
  /** Returns an id of the client, such as issuer and subject together; by default as authentication knows the user. Others get 404 for its jobs. */
  owner: callback<(request: FastifyRequest) => string | undefined>('returns the id of the client that makes the request'),
  /** The header by which `owner` identifies a client, for the error without one. */
  clientHeader: headerName({ default: 'Authorization' }),
  /** How long a stopping service waits for its jobs before the queue gets them back. */
  stopGraceSeconds: integer({ default: 10 }),
  /** Whether this process runs jobs; with `false` it only accepts them. Operators turn it off while jobs harm the service. */
  worker: flag({ default: true })
})

/** Options of `@concordat/jobs`. */
export interface JobsOptions extends OptionsOf<typeof jobsOptions> {}

type Described = SettingsOf<(typeof jobsOptions)['members']>
/** Resolved options. */
export type Settings = Omit<Described, 'publicUrl' | 'allowedHosts' | 'owner'> & {
  /** Returns the owner of the jobs that a request starts: by the option, otherwise by authentication; without the tenant. */
  readonly owner: (request: FastifyRequest) => string | undefined
  readonly knowsOwners: () => boolean
  /** Whether each job is of a tenant, or of none explicitly. */
  readonly hasTenants: () => boolean
  readonly tenantOf: (request: FastifyRequest) => string | undefined
  /** Returns the transaction of the calling handler: a job is accepted only if it commits. */
  readonly currentTransaction: () => Transaction | undefined
  readonly origin: OriginOptions
  readonly queue: WorkQueue
  readonly store: JobStore
  /** Returns the time of the queue, which tests can move. */
  readonly now: () => number
  readonly observer: Observer | undefined
  /** The requests of each owner that wait for a job (`Prefer: wait`). */
  readonly waits: Record<string, number>
}

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: JobsOptions, app: FastifyInstance): Settings {
  const { publicUrl, allowedHosts, owner, ...settings } = jobsOptions.readPlugin(options)
  const clients = contractLater(app, 'clients')
  const transactions = contractLater(app, 'transactions')
  const { queue = memoryWorkQueue(), store } = settings
  if (store === undefined && queue.capabilities.durable) {
    throw new TypeError('jobs: options.store is missing, but options.queue outlives this process. Set a store in the same database.')
  }
  if (store !== undefined && options.queue === undefined) {
    throw new TypeError('jobs: options.queue is missing, but options.store may outlive this process. Set a queue in the same database.')
  }
  const observer = contractOf(app, 'observer')
  return {
    ...settings,
    observer,
    owner: owner ?? ((request) => clients()?.ownerOf(request)),
    knowsOwners: () => (owner ?? clients()) !== undefined,
    hasTenants: () => clients()?.tenantOf !== undefined,
    tenantOf: (request) => clients()?.tenantOf?.(request),
    currentTransaction: () => transactions()?.currentTransaction() as Transaction | undefined,
    origin: { publicUrl, allowedHosts },
    waits: Object.create(null) as Record<string, number>,
    queue: observedQueue(queue, observer),
    now: () => queue.clock?.now() ?? Date.now(),
    store: store ? measureCalls(contractOf(app, 'observer'), 'jobs', store) : memoryJobStore()
  }
}
