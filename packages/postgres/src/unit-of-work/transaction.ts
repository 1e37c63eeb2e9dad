import type { RequestTransaction } from '@concordat/plugin-wiring'
import type { FastifyReply } from 'fastify'
import type { SqlClient } from '../postgres.ts'

/** A callback that runs in the transaction before the commit. */
export type BeforeCommit = Parameters<RequestTransaction['beforeCommit']>[0]

/** Runs the callbacks one after another, also those that are added meanwhile. */
export async function runAll(all: readonly BeforeCommit[], reply: FastifyReply, payload: unknown): Promise<void> {
  for (let index = 0; index < all.length; index += 1) await all[index]?.(reply, payload)
}

/**
 * The transaction of one request. It begins with the first statement, is committed when the response is ready, and ends exactly once. After
 * its end it throws `TRANSACTION_ENDED`. Statements run one after another. A failure of the connection is thrown as
 * `TRANSACTION_UNAVAILABLE`, and all other errors are those of the driver.
 */
export interface Transaction extends SqlClient {
  /**
   * Runs work in the transaction when the response is ready, with the response as it will be sent. If it rejects, nothing is committed and the request
   * fails. It is dropped if the domain writes are rolled back.
   */
  beforeCommit(work: (reply: FastifyReply, payload: unknown) => Promise<void>): void
  /** Calls the function after the commit and before the response is sent, and not after a rollback. The response does not wait for it. */
  afterCommit(callback: () => void): void
}

/** Creates the transaction for code around the handler. Its work runs after all work of the handler, also when the domain writes are rolled back. */
export function enclosingOf(beforeCommit: RequestTransaction['beforeCommit'], isRolledBack: () => boolean): RequestTransaction {
  return {
    beforeCommit,
    get isRolledBack() {
      return isRolledBack()
    }
  }
}
