import type { ErrorList } from '@concordat/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { postgresErrors } from '../errors.ts'
import type { Postgres } from '../postgres.ts'
import unitOfWork from './plugin.ts'
import { currentTransaction, enclosingTransaction } from './request-unit.ts'
import { runAsOne } from './run-as-one.ts'
import type { EnclosingTransaction, Transaction } from './transaction.ts'

// Used when the preset sets no handler timeout.
const defaultTimeoutSeconds = 30

/** The value for the `transactions` option of the preset: the unit of work, and its functions for the other plugins. */
export interface PostgresTransactions {
  readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
  readonly transactionOf: (request: FastifyRequest) => EnclosingTransaction | undefined
  readonly currentTransaction: () => Transaction | undefined
  readonly runAsOne: <Result>(request: FastifyRequest, work: () => Promise<Result>) => Promise<Result>
  readonly errors: ErrorList
}

/** Creates the value for the `transactions` option of the preset, for the same database as `postgresStores`. */
export function postgresTransactions(database: Postgres): PostgresTransactions {
  let timeoutSeconds = defaultTimeoutSeconds
  return {
    register(app, settings) {
      timeoutSeconds = settings.handlerTimeoutSeconds || defaultTimeoutSeconds
      return app.register(unitOfWork, { database, ...settings })
    },
    transactionOf: enclosingTransaction,
    currentTransaction,
    runAsOne: (request, work) => runAsOne({ database, timeoutSeconds, onFault: (error) => request.log.error(error) }, work),
    errors: postgresErrors
  }
}
