import type { FastifyReply } from 'fastify'
import type { SqlClient } from '../postgres.ts'

/** Runs as a part of the transaction, with the answer as it will be sent. When it rejects, nothing is committed and the request fails. */
export type BeforeCommit = (reply: FastifyReply, payload: unknown) => Promise<void>

/**
 * The transaction of one request: begun by the first statement, committed when the answer is ready, and ended exactly once. Used after its
 * end it throws `TRANSACTION_ENDED`. Statements run one after another; a failure of the connection is `TRANSACTION_UNAVAILABLE`, all
 * others are as the driver made them.
 */
export interface Transaction extends SqlClient {
  /** Has work done as a part of the transaction when the answer is ready. It is dropped with the domain writes. */
  beforeCommit(work: BeforeCommit): void
  /** Is told once the transaction has been committed, before the answer leaves; not when it was rolled back. Nothing waits for it. */
  afterCommit(told: () => void): void
}

/**
 * The same transaction for what encloses the handler, as a gate that keeps answers: its work is done after all of the handler's, and also
 * when a status of 400 to 499 has returned the domain writes.
 */
export interface EnclosingTransaction {
  beforeCommit(work: BeforeCommit): void
}
