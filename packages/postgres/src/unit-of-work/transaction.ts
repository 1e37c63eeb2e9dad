import type { FastifyReply } from 'fastify'
import type { SqlClient } from '../postgres.ts'

/** A callback that runs in the transaction before the commit. */
export type BeforeCommit = (reply: FastifyReply, payload: unknown) => Promise<void>

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
  beforeCommit(work: BeforeCommit): void
  /** Calls the function after the commit and before the response is sent, and not after a rollback. The response does not wait for it. */
  afterCommit(callback: () => void): void
}
