import type { Transactions } from '@concordat/plugin-wiring'
import { postgresErrors } from '../errors.ts'
import type { Postgres } from '../postgres.ts'
import unitOfWork from './plugin.ts'
import { currentTransaction, enclosingTransaction } from './request-unit.ts'
import { runAsOne } from './run-as-one.ts'
import type { Transaction } from './transaction.ts'

const defaultTimeoutSeconds = 30

/** Creates the value for the option `transactions` of the preset, on the same database as `postgresStores`. */
export function postgresTransactions(database: Postgres): Transactions<Transaction> {
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
