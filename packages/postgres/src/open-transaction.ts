import { AsyncLocalStorage } from 'node:async_hooks'
import { transactionRequired } from './errors.ts'
import type { Postgres } from './postgres.ts'

/** The transaction that a handler runs in, as far as its database is concerned. */
export interface HandlerTransaction {
  readonly database: Postgres
  /** Whether it holds a connection at this moment. */
  readonly isOpen: boolean
}

/** What a handler, and all that it calls, runs in. Hooks run outside: Fastify loses the context on the way to some of them. */
export const handlerTransactions: AsyncLocalStorage<HandlerTransaction | undefined> = new AsyncLocalStorage()

/** Refuses to ask a database beside the open transaction of the handler that asks. */
export function requireOutside(database: Postgres): void {
  const current = handlerTransactions.getStore()
  if (current?.isOpen && current.database === database) throw transactionRequired()
}
