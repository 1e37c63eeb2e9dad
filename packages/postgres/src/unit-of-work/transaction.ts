import type { FastifyReply } from 'fastify'
import type { SqlClient } from '../postgres.ts'

/**
 * A callback that runs in the transaction before the commit, with the response as it will be sent. If it rejects, nothing is committed and the
 * request fails.
 */
export type BeforeCommit = (reply: FastifyReply, payload: unknown) => Promise<void>

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
  /** Runs work in the transaction when the response is ready. It is dropped if the domain writes are rolled back. */
  beforeCommit(work: BeforeCommit): void
  /** Calls the function after the commit and before the response is sent, and not after a rollback. The response does not wait for it. */
  afterCommit(callback: () => void): void
}

/**
 * The transaction of one request for code around the handler, such as a gate that stores responses. Its work runs after all work of the handler, and
 * also when a status code of 400 to 499 has rolled back the domain writes.
 */
export interface EnclosingTransaction {
  beforeCommit(work: BeforeCommit): void
  /** Whether nothing of the transaction was committed. `false` also if the connection was lost during COMMIT, because its outcome is unknown then. */
  readonly isRolledBack: boolean
}

/** Creates the transaction for code around the handler from its parts. */
export function enclosingOf(beforeCommit: EnclosingTransaction['beforeCommit'], isRolledBack: () => boolean): EnclosingTransaction {
  return {
    beforeCommit,
    get isRolledBack() {
      return isRolledBack()
    }
  }
}
