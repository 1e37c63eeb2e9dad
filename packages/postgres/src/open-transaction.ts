import { AsyncLocalStorage } from 'node:async_hooks'
import { transactionRequired } from './errors.ts'
import type { Postgres } from './postgres.ts'

/** The database and the state of a handler's transaction. */
export interface HandlerTransaction {
  readonly database: Postgres
  /** Whether it holds a connection at this moment. */
  readonly isOpen: boolean
}

/** The async context that contains the transaction of the running handler. Hooks run outside it: Fastify loses the context before some of them. */
export const handlerTransactions: AsyncLocalStorage<HandlerTransaction | undefined> = new AsyncLocalStorage()

/** Throws `TRANSACTION_REQUIRED` when a handler queries the database outside its own open transaction. */
export function requireOutside(database: Postgres): void {
  const current = handlerTransactions.getStore()
  if (current?.isOpen && current.database === database) throw transactionRequired()
}
