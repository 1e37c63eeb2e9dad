import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore, RequestTransaction } from '@concordat/idempotency'
import type { JobStore, JobTransaction } from '@concordat/jobs'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { WebhookStore } from '@concordat/webhooks'
import type { WorkQueue } from '@concordat/work-queue'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The stores that all processes of a service share. Each member implements the contract of one plugin. */
export interface Stores {
  /** Counts requests. */
  readonly rateLimits?: RateLimitStore | undefined
  /** Stores the responses to requests with a key. */
  readonly idempotency?: IdempotencyStore | undefined
  /** Runs work that outlives the request. You must close it yourself, after the service. */
  readonly queue?: WorkQueue | undefined
  /** Stores the records of jobs, in the database of the queue. */
  readonly jobs?: JobStore | undefined
  /** Stores webhook subscriptions and deliveries, in the database of the queue. */
  readonly webhooks?: WebhookStore | undefined
  /** Runs each request to a route with `config.transaction` in one transaction. */
  readonly unitOfWork?: UnitOfWork | undefined
}

/** Runs requests in transactions, for example `@concordat/postgres/unit-of-work`. */
export interface UnitOfWork {
  /** Registers the unit of work. `handlerTimeoutSeconds` is how long a handler may take; `undefined` if the preset does not limit it. */
  readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
  /** Returns the transaction of a request, or `undefined` on a route without a transaction. */
  readonly transactionOf: (request: FastifyRequest) => RequestTransaction | undefined
  /** Returns the transaction of the handler that calls it, or `undefined` elsewhere. */
  readonly currentTransaction: () => JobTransaction | undefined
  /**
   * Runs `work` in one transaction that includes the requests that `work` injects: committed when `work` resolves, otherwise rolled
   * back. Without it, no batch is atomic.
   */
  readonly runAsOne?: ((request: FastifyRequest, work: () => Promise<void>) => Promise<void>) | undefined
  /** The errors that it raises, for the catalogue. */
  readonly errors: ErrorList
}
