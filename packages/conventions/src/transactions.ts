import type { ErrorList } from '@concordat/api-error'
import type { RequestTransaction } from '@concordat/idempotency'
import type { JobTransaction } from '@concordat/jobs'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * The implementation of transactions, for example `postgresTransactions(database)`: it runs each request to a route with
 * `config.transaction` in one transaction.
 */
export interface Transactions {
  /**
   * Registers the plugin that runs the transactions. `handlerTimeoutSeconds` is the time limit of handlers; `undefined` if the preset
   * does not limit them.
   */
  readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
  /** Returns the transaction of a request, or `undefined` on a route without a transaction. */
  readonly transactionOf: (request: FastifyRequest) => RequestTransaction | undefined
  /** Returns the transaction of the calling handler, or `undefined` outside a transaction. */
  readonly currentTransaction: () => JobTransaction | undefined
  /**
   * Runs `work` in one transaction that includes the requests that `work` injects; the transaction is committed when `work` resolves,
   * otherwise rolled back. Without it, no batch is atomic.
   */
  readonly runAsOne?: (<Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>) | undefined
  /** The errors with which a route with a transaction can respond, for the API description. */
  readonly errors: ErrorList
}
