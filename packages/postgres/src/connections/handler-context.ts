import { AsyncLocalStorage } from 'node:async_hooks'
import { transactionRequired } from './errors.ts'
import type { Postgres } from './postgres.ts'

export interface HandlerContext {
  readonly database: Postgres
  /** Whether its transaction holds a connection at this moment. */
  readonly isOpen: boolean
  /** An object that stands for the route, to which its connections are counted. */
  readonly route: object | undefined
  /** The tenant of the request. */
  readonly tenant?: string | undefined
}

/** The async context of the running handler. Hooks run outside it: Fastify loses the context before some of them. */
export const handlerContexts: AsyncLocalStorage<HandlerContext | undefined> = new AsyncLocalStorage()

/**
 * Throws `TRANSACTION_REQUIRED` when a handler queries the database outside its own open transaction: the query could wait forever for the transaction
 * of the handler that runs it.
 */
export function requireOutside(database: Postgres): void {
  const current = handlerContexts.getStore()
  if (current?.isOpen && current.database === database)
    throw transactionRequired(
      'This handler queried the database outside its open transaction. Use request.transaction, or query the database before the transaction opens.'
    )
}
