import type { OriginOptions } from '@concordat/links'
import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { memoryWorkQueue, type Transaction, type WorkQueue } from '@concordat/work-queue'
import type { FastifyRequest } from 'fastify'
import { memoryJobStore } from './memory-store.ts'
import type { JobStore } from './store.ts'

/** Options of `@concordat/jobs`. `publicUrl` and `allowedHosts` set the base URL of links, as in `@concordat/links`. */
export interface JobsOptions extends OriginOptions {
  /** Queue of the jobs. Close it yourself, after the service. @default memoryWorkQueue(), which is lost when the process exits */
  readonly queue?: WorkQueue | undefined
  /** Store of the records, in the same database as the queue. @default in memory, only with an in-memory queue */
  readonly store?: JobStore | undefined
  /**
   * Returns the id of the client that makes the request; only the client that started a job can read or cancel it, and other clients get 404. Use
   * a unique string for each client, for example issuer and subject together. A request that starts a job and for which it returns no client gets 400
   * `CLIENT_NOT_IDENTIFIED`.
   */
  readonly owner: (request: FastifyRequest) => string | undefined
  /** The header by which `owner` identifies a client. The 400 response to a request without a client names it. @default 'Authorization' */
  readonly clientHeader?: string | undefined
  /** Returns the transaction of the current request; a job is accepted only if this transaction commits. @default none */
  readonly currentTransaction?: (() => Transaction | undefined) | undefined
  /** How long a job that has ended, and its result, can be read. @default 604800 */
  readonly resultSeconds?: number | undefined
  /** How long the URLs of a job respond with 410 after the job has expired. @default 86400 */
  readonly goneSeconds?: number | undefined
  /** Maximum time that a client can wait with `Prefer: wait`. @default 30 */
  readonly maxWaitSeconds?: number | undefined
  /** Maximum size of a result as JSON. @default 262144 */
  readonly maxResultBytes?: number | undefined
  /** How long a stopping service waits for its jobs before it hands them back to the queue. @default 10 */
  readonly stopGraceSeconds?: number | undefined
  /** Whether this process runs jobs; with `false` it only accepts them. @default true */
  readonly worker?: boolean | undefined
  /** Returns the current time in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

type Own = Omit<JobsOptions, keyof OriginOptions>
/** Resolved options. */
export type Settings = { readonly [Name in keyof Own]-?: NonNullable<Own[Name]> } & { readonly origin: OriginOptions }

const { headerName, integer } = optionChecks('jobs')

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: JobsOptions): Settings {
  requirePluginNames('jobs', options, {
    publicUrl: true,
    allowedHosts: true,
    queue: true,
    store: true,
    owner: true,
    clientHeader: true,
    currentTransaction: true,
    resultSeconds: true,
    goneSeconds: true,
    maxWaitSeconds: true,
    maxResultBytes: true,
    stopGraceSeconds: true,
    worker: true,
    now: true
  })
  const {
    queue = memoryWorkQueue(),
    store,
    owner,
    currentTransaction = () => undefined,
    worker = true,
    now = () => Date.now(),
    publicUrl,
    allowedHosts
  } = options
  if (typeof queue?.enqueue !== 'function') throw new TypeError('jobs: options.queue must be a WorkQueue, for example memoryWorkQueue().')
  if (typeof owner !== 'function')
    throw new TypeError('jobs: options.owner must be a function that returns the id of the client that makes the request.')
  if (store === undefined && queue.capabilities.durable) {
    throw new TypeError('jobs: options.store is missing, but options.queue outlives this process. Set a store in the same database.')
  }
  if (store !== undefined && options.queue === undefined) {
    throw new TypeError('jobs: options.queue is missing, but options.store may outlive this process. Set a queue in the same database.')
  }
  return {
    origin: { publicUrl, allowedHosts },
    queue,
    store: store ?? memoryJobStore(),
    owner,
    clientHeader: headerName('options.clientHeader', options.clientHeader ?? 'Authorization'),
    currentTransaction,
    worker,
    now,
    resultSeconds: integer('options.resultSeconds', options.resultSeconds ?? 604_800, 1),
    goneSeconds: integer('options.goneSeconds', options.goneSeconds ?? 86_400, 0),
    maxWaitSeconds: integer('options.maxWaitSeconds', options.maxWaitSeconds ?? 30, 0),
    maxResultBytes: integer('options.maxResultBytes', options.maxResultBytes ?? 262_144, 1),
    stopGraceSeconds: integer('options.stopGraceSeconds', options.stopGraceSeconds ?? 10, 0)
  }
}
