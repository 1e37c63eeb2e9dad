import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore, RequestTransaction } from '@concordat/idempotency'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** What all processes of a service share, each member for the plugin that it is the contract of. */
export interface Stores {
  /** Counts requests. */
  readonly rateLimits?: RateLimitStore | undefined
  /** Keeps the answers to requests with a key. */
  readonly idempotency?: IdempotencyStore | undefined
  /** Runs the routes with `config.transaction` in one transaction each. */
  readonly unitOfWork?: UnitOfWork | undefined
}

/** What makes transactions of requests, as `@concordat/postgres/unit-of-work` does. */
export interface UnitOfWork {
  /** Registers it. `handlerTimeoutSeconds` is how long a handler may take; `undefined` where that is not limited here. */
  readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
  /** The transaction of a request, `undefined` on a route without one. */
  readonly transactionOf: (request: FastifyRequest) => RequestTransaction | undefined
  /**
   * Runs `work` in one transaction, of which the requests that it injects are parts: committed when it resolves, else rolled back.
   * Without it, no batch is atomic.
   */
  readonly runAsOne?: ((request: FastifyRequest, work: () => Promise<void>) => Promise<void>) | undefined
  /** What it raises, for the catalogue. */
  readonly errors: ErrorList
}
