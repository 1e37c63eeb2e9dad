import { transactionConflict, transactionEnded } from '../errors.ts'
import { isConflict, withoutOutage } from '../failure.ts'
import { openSavepoint } from '../savepoint-session.ts'
import type { Opened, Session } from '../session.ts'

type Rows = readonly unknown[]

/** With what a transaction begins, each time it does. */
export interface First {
  readonly statements: readonly string[]
  /** Whether their answers allow to go on. */
  readonly accept: (answers: readonly Rows[]) => boolean
}

const openingAttempts = 3
const notAccepted = Symbol('not accepted')

/** A session that is opened by its first use, does one thing after another, and can be begun anew. */
export class LazySession {
  readonly #open: (statements: readonly string[]) => Promise<Opened>
  readonly #onOpen: () => void
  #session: Session | undefined
  #isOpening = false
  #isOver = false
  #first: First | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(open: (statements: readonly string[]) => Promise<Opened>, onOpen: () => void) {
    this.#open = open
    this.#onOpen = onOpen
  }

  get isOpen(): boolean {
    return this.#isOpening || this.#session !== undefined
  }

  /** Does the work in its turn, in the transaction. */
  run<Result>(work: (session: Session) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => work(await this.#begin()))
  }

  /**
   * Begins with these statements, in one message with BEGIN, and will begin with them again after a `restart`. `false`: they were not
   * accepted, and nothing is open.
   */
  beginWith(first: First): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#session !== undefined) {
        throw new Error('postgres: request.transaction was used before the key was claimed. On such a route, use it in the handler only.')
      }
      this.#first = first
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.#begin()
          return true
        } catch (error) {
          // Above READ COMMITTED, a row that was committed since the snapshot is told in this way.
          if (isConflict(error) && attempt < openingAttempts) continue
          this.#first = undefined
          if (error === notAccepted) return false
          throw isConflict(error) ? transactionConflict(error) : error
        }
      }
    })
  }

  /** A transaction within this one, that has to end before anything else is done here. */
  openInner(statements: readonly string[]): Promise<Opened> {
    const released = Promise.withResolvers<void>()
    return new Promise((resolve, reject) => {
      this.run(async (session) => {
        resolve(await openSavepoint(session, statements, released.resolve))
        await released.promise
      }).catch(reject)
    })
  }

  /** Does the work in its turn, unless nothing is open. */
  async runIfOpen(work: (session: Session) => Promise<unknown>): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#session !== undefined) await work(this.#session)
    })
  }

  /** Rolls back; the next use begins a new transaction. */
  async restart(): Promise<void> {
    await this.runIfOpen((session) => session.rollback())
    this.#session = undefined
  }

  async commit(): Promise<void> {
    await this.runIfOpen((session) => session.commit())
    this.#session = undefined
  }

  /** Rolls back what is open, without waiting for its turn, and refuses everything from now on. */
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
        throw error === notAccepted
          ? transactionConflict(new Error('The claim that this transaction began with is lost.'))
          : withoutOutage(error)
      }
    })
    this.#queue = turn.catch(() => {})
    return turn
  }

  async #begin(): Promise<Session> {
    if (this.#session !== undefined) return this.#session
    this.#isOpening = true
    try {
      const { session, answers } = await this.#open(this.#first?.statements ?? [])
      const isAccepted = this.#first?.accept(answers) ?? true
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
