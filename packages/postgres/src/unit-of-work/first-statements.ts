import { transactionConflict } from '../connections/errors.ts'
import { isConflict, withoutOutage } from '../connections/failure.ts'
import type { MessageStatement, Rows } from '../connections/message.ts'
import { isStale } from '../connections/pg-client.ts'
import type { QueryResult, Session } from '../connections/session.ts'

/** The statements that are sent with BEGIN each time a transaction begins. */
export interface FirstStatements {
  readonly statements: readonly MessageStatement[]
  /** Returns whether the results of the statements allow the transaction to continue, or the statements that decide about it. */
  readonly accept: (results: readonly Rows[]) => boolean | FirstStatements
}

const beginDomain = { text: 'SAVEPOINT concordat_work' }

/** Rolls the writes of the handler back, but not those of the first statements. */
export const undoDomain: MessageStatement = { text: 'ROLLBACK TO SAVEPOINT concordat_work' }

/** What a transaction fails with whose first statements were not accepted. */
const notAccepted: unique symbol = Symbol('not accepted')

const openingAttempts = 3

/** Returns the first statements of a message, with the savepoint for what follows them. */
export function withSavepoint(first: FirstStatements | undefined): readonly MessageStatement[] {
  return first === undefined ? [] : [...first.statements, beginDomain]
}

/** Begins a transaction with first statements. Returns false when they were not accepted. On failure, calls `drop` and rejects. */
export function beginAccepted(begin: () => Promise<unknown>, drop: () => void, attempt = 1): Promise<boolean> {
  return begin().then(
    () => true,
    (error) => {
      // Above READ COMMITTED, PostgreSQL reports a row that was committed after the snapshot as a conflict.
      if (isConflict(error) && attempt < openingAttempts) return beginAccepted(begin, drop, attempt + 1)
      drop()
      if (error === notAccepted) return false
      throw isConflict(error) ? transactionConflict(error) : error
    }
  )
}

/** Sends what decides about a transaction, until it is accepted. Otherwise rolls it back, and rejects. */
export async function decide(session: Session, verdict: boolean | FirstStatements, requireLife: () => void): Promise<void> {
  try {
    requireLife()
    if (verdict === false) throw notAccepted
    if (verdict !== true) return await decide(session, verdict.accept(await session.send(withSavepoint(verdict))), requireLife)
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** Returns the error of a request whose transaction failed with an error. */
export function reasonOf(error: unknown): unknown {
  // The transaction began again, and another owns the key now.
  const isLost = error === notAccepted
  return isLost ? transactionConflict(new Error('The idempotency claim of this transaction was lost.')) : withoutOutage(error)
}

/** Runs the first statement of a handler, which the connection prepares. If PostgreSQL refuses what is prepared, it runs in a transaction that begins again. */
export async function prepareFirst(
  session: Session,
  text: string,
  values: readonly unknown[],
  begin: () => Promise<Session>
): Promise<QueryResult> {
  try {
    return await session.query(text, values, true)
  } catch (error) {
    if (!isStale(error)) throw error
    await session.rollback()
    return (await begin()).query(text, values)
  }
}
