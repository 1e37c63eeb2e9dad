import { transactionConflict, transactionEnded } from '../errors.ts'
import { isConflict, isRefusal, withoutOutage } from '../failure.ts'
import { openSavepoint } from '../savepoint-session.ts'
import { IgnoredFailure, type Opened, type Session } from '../session.ts'

type Rows = readonly unknown[]

/** The statements that are sent with BEGIN each time a transaction begins. */
export interface FirstStatements {
  readonly statements: readonly string[]
  /** Returns whether the results of the statements allow the transaction to continue. */
  readonly accept: (results: readonly Rows[]) => boolean
}

const openingAttempts = 3
const notAccepted = Symbol('not accepted')

/** A session that opens at its first use, runs one operation after another, and can be restarted. */
export class LazySession {
  readonly #open: (statements: readonly string[]) => Promise<Opened>
  readonly #onOpen: () => void
  #session: Session | undefined
  #isOpening = false
  #isOver = false
  #first: FirstStatements | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #fault: unknown
  #mayBeCommitted = false

  constructor(open: (statements: readonly string[]) => Promise<Opened>, onOpen: () => void) {
    this.#open = open
    this.#onOpen = onOpen
  }

  /** The last error that ended the use of this transaction: a conflict with other transactions, or a connection that failed. */
  get fault(): unknown {
    return this.#fault
  }

  /** Whether it was committed, or the connection was lost during COMMIT, so that its outcome is unknown. */
  get mayBeCommitted(): boolean {
    return this.#mayBeCommitted
  }

  get isOpen(): boolean {
    return this.#isOpening || this.#session !== undefined
  }

  /** Runs the work in the transaction, after all earlier operations. */
  run<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => work(await this.#begin()))
  }

  /**
   * Begins the transaction, sends these statements in the same message as BEGIN, and does the same again after a `restart`. Returns false
   * when they were not accepted, and nothing is open then.
   */
  beginWith(first: FirstStatements): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#session !== undefined) {
        throw new Error('postgres: request.transaction was used before the idempotency key was claimed. Use it only in the handler.')
      }
      this.#first = first
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.#begin()
          return true
        } catch (error) {
          // Above READ COMMITTED, PostgreSQL reports a row that was committed after the snapshot as a conflict.
          if (isConflict(error) && attempt < openingAttempts) continue
          this.#first = undefined
          if (error === notAccepted) return false
          throw isConflict(error) ? transactionConflict(error) : error
        }
      }
    })
  }

  /** Opens a transaction within this one. It must end before any other operation runs here. */
  openInner(statements: readonly string[]): Promise<Opened> {
    const released = Promise.withResolvers<void>()
    return new Promise((resolve, reject) => {
      this.run(async (session) => {
        resolve(await openSavepoint(session, statements, released.resolve))
        await released.promise
      }).catch(reject)
    })
  }

  /** Runs the work after all earlier operations, if the transaction is open then. */
  async runIfOpen(work: (session: Session) => Promise<unknown>): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#session !== undefined) await work(this.#session)
    })
  }

  /** Rolls the transaction back. The next use begins a new transaction. */
  async restart(): Promise<void> {
    await this.runIfOpen((session) => session.rollback())
    this.#session = undefined
    this.#fault = undefined
  }

  async commit(): Promise<void> {
    await this.runIfOpen(async (session) => {
      this.#mayBeCommitted = true
      await session.commit().catch((error: unknown) => {
        this.#mayBeCommitted = !(error instanceof IgnoredFailure || isRefusal(error))
        throw error
      })
    })
    this.#session = undefined
  }

  /** Rolls back the open transaction without waiting for its turn, and refuses all later operations. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#session?.rollback()
    this.#session = undefined
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#queue.then(async () => {
      if (this.#isOver) throw transactionEnded()
      try {
        return await work()
      } catch (error) {
        if (error === notAccepted) throw transactionConflict(new Error('The idempotency claim of this transaction was lost.'))
        const reason = withoutOutage(error)
        if (reason !== error || isConflict(error)) this.#fault = reason
        throw reason
      }
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  async #begin(): Promise<Session> {
    if (this.#session !== undefined) return this.#session
    this.#isOpening = true
    try {
      const { session, results } = await this.#open(this.#first?.statements ?? [])
      const isAccepted = this.#first?.accept(results) ?? true
      if (this.#isOver || !isAccepted) {
        await session.rollback()
        throw this.#isOver ? transactionEnded() : notAccepted
      }
      this.#session = session
      this.#onOpen()
      return session
    } finally {
      this.#isOpening = false
    }
  }
}
