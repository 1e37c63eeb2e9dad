import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore, RequestTransaction } from '@concordat/idempotency'
import type { JobStore, JobTransaction } from '@concordat/jobs'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { WebhookStore } from '@concordat/webhooks'
import type { WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What all processes of a service share, each member for the plugin that it is the contract of. */
export interface Stores {
  /** Counts requests. */
  readonly rateLimits?: RateLimitStore | undefined
  /** Keeps the answers to requests with a key. */
  readonly idempotency?: IdempotencyStore | undefined
  /** Has work done that outlives the request. It stays yours to close, after the service. */
  readonly queue?: WorkQueue | undefined
  /** Keeps the records of jobs, in the database of the queue. */
  readonly jobs?: JobStore | undefined
  /** Keeps webhook subscriptions and deliveries, in the database of the queue. */
  readonly webhooks?: WebhookStore | undefined
  /** Runs the routes with `config.transaction` in one transaction each. */
  readonly unitOfWork?: UnitOfWork | undefined
}

/** What makes transactions of requests, as `@concordat/postgres/unit-of-work` does. */
export interface UnitOfWork {
  /** Registers it. `handlerTimeoutSeconds` is how long a handler may take; `undefined` where that is not limited here. */
  readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
  /** The transaction of a request, `undefined` on a route without one. */
  readonly transactionOf: (request: FastifyRequest) => RequestTransaction | undefined
  /** The transaction of the handler that this is called in; `undefined` elsewhere. */
  readonly currentTransaction: () => JobTransaction | undefined
  /**
   * Runs `work` in one transaction, of which the requests that it injects are parts: committed when it resolves, else rolled back.
   * Without it, no batch is atomic.
   */
  readonly runAsOne?: ((request: FastifyRequest, work: () => Promise<void>) => Promise<void>) | undefined
  /** What it raises, for the catalogue. */
  readonly errors: ErrorList
}
