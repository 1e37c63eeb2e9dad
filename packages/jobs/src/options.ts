import type { OriginOptions } from '@concordat/links'
import { memoryQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { FastifyRequest } from 'fastify'
import { memoryJobStore } from './memory-store.ts'
import type { JobStore } from './store.ts'

/** The transaction of a request. */
export interface JobTransaction extends Transaction {
  /** Is told once it has been committed; without it, a job is found at the queue's next look. */
  afterCommit?(told: () => void): void
}

/** What `@concordat/jobs` can be told. `publicUrl` and `allowedHosts` say where its links lead, as in `@concordat/links`. */
export interface JobsOptions extends OriginOptions {
  /** Where jobs wait. It stays yours to close, after the service. @default memoryQueue(), which is lost with the process */
  readonly queue?: WorkQueue | undefined
  /** Where records are kept: in the same database as the queue. @default in memory, beside a queue in memory alone */
  readonly store?: JobStore | undefined
  /** Who starts a job, and may read and cancel it: all others find nothing. One text for each client, as issuer and subject together. */
  readonly owner: (request: FastifyRequest) => string | undefined
  /** The transaction that is open in this request: a job is accepted with it, or not at all. @default none */
  readonly currentTransaction?: (() => JobTransaction | undefined) | undefined
  /** For how long a job that is over can be read, and its result. @default 604800 */
  readonly resultSeconds?: number | undefined
  /** For how long after that it is answered by 410. @default 86400 */
  readonly goneSeconds?: number | undefined
  /** How long a client can have itself kept waiting by `Prefer: wait`. @default 30 */
  readonly maximumWaitSeconds?: number | undefined
  /** How much a result may be as JSON. @default 262144 */
  readonly maximumResultBytes?: number | undefined
  /** How long a stopping service waits for its jobs before it hands them back. @default 10 */
  readonly graceSeconds?: number | undefined
  /** `false`: this process accepts jobs and does none. @default true */
  readonly work?: boolean | undefined
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

type Own = Omit<JobsOptions, keyof OriginOptions>
/** The options as the plugin works with them. */
export type Settings = { readonly [Name in keyof Own]-?: NonNullable<Own[Name]> } & { readonly origin: OriginOptions }

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: JobsOptions): Settings {
  const {
    queue = memoryQueue(),
    store,
    owner,
    currentTransaction = () => undefined,
    work = true,
    now = Date.now,
    publicUrl,
    allowedHosts
  } = options
  if (typeof queue?.enqueue !== 'function') throw new TypeError('jobs: queue is no queue. Give one, as memoryQueue().')
  if (typeof owner !== 'function') throw new TypeError('jobs: owner is missing. Give a function from the request to who makes it.')
  if (store === undefined && queue.capabilities.durable) {
    throw new TypeError('jobs: store is missing, and the queue outlives this process. Give a store in the same database.')
  }
  if (store !== undefined && options.queue === undefined) {
    throw new TypeError('jobs: queue is missing, and the store may outlive this process. Give a queue in the same database.')
  }
  return {
    origin: { publicUrl, allowedHosts },
    queue,
    store: store ?? memoryJobStore(),
    owner,
    currentTransaction,
    work,
    now,
    resultSeconds: requireWhole('resultSeconds', options.resultSeconds ?? 604_800, 1),
    goneSeconds: requireWhole('goneSeconds', options.goneSeconds ?? 86_400, 0),
    maximumWaitSeconds: requireWhole('maximumWaitSeconds', options.maximumWaitSeconds ?? 30, 0),
    maximumResultBytes: requireWhole('maximumResultBytes', options.maximumResultBytes ?? 262_144, 1),
    graceSeconds: requireWhole('graceSeconds', options.graceSeconds ?? 10, 0)
  }
}

function requireWhole(name: string, value: number, least: number) {
  if (Number.isInteger(value) && value >= least) return value
  throw new TypeError(`jobs: ${name} is ${value}. Give a whole number of at least ${least}.`)
}
