import type { FastifyReply } from 'fastify'
import type { SqlClient } from '../connections/postgres.ts'

/** A callback that runs in the transaction before the commit. */
export type BeforeCommit = (reply: FastifyReply, payload: unknown) => Promise<void>

/**
 * The transaction of one request. It begins with the first statement, and ends with the response; after that it throws `TRANSACTION_ENDED`. Statements
 * run one after another. A failed connection is thrown as `TRANSACTION_UNAVAILABLE`; other errors are those of the driver.
 */
export interface Transaction extends SqlClient {
  /** Runs work in the transaction when the response is ready. If it rejects, the request fails. Dropped if the writes of the handler are rolled back. */
  beforeCommit(work: BeforeCommit): void
  /** Calls the function after the commit, before the response is sent. The response does not wait for it. */
  afterCommit(callback: () => void): void
}
