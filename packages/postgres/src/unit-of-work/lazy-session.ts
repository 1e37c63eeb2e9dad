import { transactionConflict, transactionEnded } from '../connections/errors.ts'
import { isConflict, isRefusal, withoutOutage } from '../connections/failure.ts'
import { handlerContexts } from '../connections/handler-context.ts'
import { type HoldingSession, holding } from '../connections/holding-session.ts'
import type { Postgres, SqlClient } from '../connections/postgres.ts'
import { openSavepoint } from '../connections/savepoint-session.ts'
import { IgnoredFailure, type Opened, type Session } from '../connections/session.ts'
import type { UnitSettings } from './options.ts'

// The timeout of Fastify expires first if it works: it does not work after the client has disconnected.
const graceMs = 1000
const idleGraceMs = 5000
const openingAttempts = 3
const savepoint = 'concordat_work'
const notAccepted = Symbol('not accepted')

type Rows = readonly unknown[]

/** The statements that are sent with BEGIN each time a transaction begins. */
export interface FirstStatements {
  readonly statements: readonly string[]
  /** Returns whether the results of the statements allow the transaction to continue. */
  readonly accept: (results: readonly Rows[]) => boolean
}

interface Surroundings {
  readonly database: Postgres
  readonly route: object | undefined
  /** The session of the handler that injected this request. Both share a transaction. */
  readonly outer: LazySession | undefined
  /** Called when the transaction has been open for too long. */
  readonly onTimeout: () => void
}

/** The statements of a unit: it opens at its first use, runs one operation after another, and can be restarted. */
export class LazySession {
  readonly #surroundings: Surroundings
  readonly #settings: UnitSettings
  #session: HoldingSession | undefined
  #isOpening = false
  #isOver = false
  #first: FirstStatements | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #fault: unknown
  #mayBeCommitted = false
  #deadline: NodeJS.Timeout | undefined
  #handlerRuns = false
  #wasUsedBefore = false
  #domainIsOver = false
  #partRetries = Number.POSITIVE_INFINITY
  #hasConflict = false

  constructor(surroundings: Surroundings, settings: UnitSettings) {
    this.#surroundings = surroundings
    this.#settings = settings
    const { outer } = surroundings
    if (outer !== undefined) outer.#partRetries = Math.min(outer.#partRetries, settings.maxRetries)
  }

  get isOpen(): boolean {
    return this.#isOpening || this.#session !== undefined
  }

  /** Whether statements were sent that can write, in it or in the transaction that it shares. */
  get mayHaveWritten(): boolean {
    return this.isPart || (this.#session !== undefined && !this.#settings.readOnly)
  }

  /** Whether it shares the transaction of another session. */
  get isPart(): boolean {
    return this.#surroundings.outer !== undefined
  }

  /** Whether nothing of it was or will be committed. `false` also if the connection was lost during COMMIT. */
  get isRolledBack(): boolean {
    return !this.#mayBeCommitted || this.#surroundings.outer?.isRolledBack === true
  }

  /** Whether running the handler again would repeat everything that was done so far. */
  get canRestart(): boolean {
    return !(this.#isOver || this.#wasUsedBefore || this.isPart)
  }

  /** How many times the work of this transaction can run again because a part of it conflicted with other transactions. */
  get retriesAfterConflict(): number {
    return this.#hasConflict ? this.#partRetries : 0
  }

  /** Returns the conflict or the failed connection behind an error of the handler, which a data layer may have replaced by one without a status code. */
  reasonOf(error: unknown): unknown {
    const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown }
    return statusCode === undefined ? (this.#fault ?? error) : error
  }

  enterHandler(): void {
    this.#handlerRuns = true
  }

  requireDomain(): void {
    if (this.#domainIsOver || this.#isOver) throw transactionEnded()
  }

  endDomain(): void {
    this.#domainIsOver = true
  }

  /** Runs a statement of the handler, after all earlier operations. */
  readonly queryInDomain: SqlClient['query'] = ((text, values = []) =>
    this.#inDomain((session) => session.query(text, values))) as SqlClient['query']

  readonly executeInDomain: Session['execute'] = (statement) => this.#inDomain((session) => session.execute(statement))

  /** Runs a statement of code around the handler, after all earlier operations. It is made after the transaction has opened. */
  async query(make: () => readonly [text: string, values: readonly unknown[]]): Promise<readonly unknown[]> {
    return (await this.#run((session) => session.query(...make()))).rows
  }

  /** Holds a statement of code around the handler back, to be sent with COMMIT. It is made after the transaction has opened. */
  hold(make: () => string): Promise<void> {
    return this.#run(async (session) => session.hold(make()))
  }

  /**
   * Begins the transaction with these statements and a savepoint for `undoDomain` in one message, and does the same again after a `restart`. Returns
   * false when they were not accepted, and nothing is open then.
   */
  beginWith({ statements, accept }: FirstStatements): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#session !== undefined) {
        throw new Error('postgres: request.transaction was used before the idempotency key was claimed. Use it only in the handler.')
      }
      this.#first = { statements: [...statements, `SAVEPOINT ${savepoint}`], accept }
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

  /** Rolls the writes of the handler back, but not those of the statements with which the transaction began. */
  undoDomain(): Promise<void> {
    if (this.#first === undefined) return this.restart()
    return this.#runIfOpen((session) => session.send([`ROLLBACK TO SAVEPOINT ${savepoint}`]))
  }

  /** Rolls the transaction back. The next use begins a new transaction. */
  async restart(): Promise<void> {
    await this.#runIfOpen((session) => session.rollback())
    this.#session = undefined
    this.#fault = undefined
  }

  async commit(): Promise<void> {
    await this.#runIfOpen(async (session) => {
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
    const { outer } = this.#surroundings
    this.#isOver = true
    clearTimeout(this.#deadline)
    if (outer !== undefined) outer.#hasConflict ||= isConflict(this.#fault)
    await this.#session?.rollback()
    this.#session = undefined
  }

  async #inDomain<Result>(work: (session: Session) => Promise<Result>) {
    this.requireDomain()
    this.#wasUsedBefore ||= !this.#handlerRuns
    return this.#run((session) => {
      this.requireDomain()
      return work(session)
    })
  }

  #run<Result>(work: (session: HoldingSession) => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => work(await this.#begin()))
  }

  async #runIfOpen(work: (session: Session) => Promise<unknown>) {
    await this.#inTurn(async () => {
      if (this.#session !== undefined) await work(this.#session)
    })
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

  async #begin(): Promise<HoldingSession> {
    if (this.#session !== undefined) return this.#session
    const { onTimeout } = this.#surroundings
    this.#isOpening = true
    try {
      const { session, results } = await this.#open(this.#first?.statements ?? [])
      const isAccepted = this.#first?.accept(results) ?? true
      if (this.#isOver || !isAccepted) {
        await session.rollback()
        throw this.#isOver ? transactionEnded() : notAccepted
      }
      this.#session = holding(session)
      this.#deadline ??= setTimeout(onTimeout, this.#settings.timeoutMs + graceMs).unref()
      return this.#session
    } finally {
      this.#isOpening = false
    }
  }

  #open(statements: readonly string[]): Promise<Opened> {
    const { database, outer, route } = this.#surroundings
    const { isolation, readOnly, timeoutMs } = this.#settings
    if (outer !== undefined) return outer.#openInner(statements)
    // Runs outside the context of the handler, in which no other query is allowed while this transaction is open.
    return handlerContexts.run(undefined, () => database.open({ isolation, readOnly, idleMs: timeoutMs + idleGraceMs, statements, route }))
  }

  /** Opens a transaction within this one. It must end before any other operation runs here. */
  #openInner(statements: readonly string[]): Promise<Opened> {
    const released = Promise.withResolvers<void>()
    return new Promise((resolve, reject) => {
      this.#run(async (session) => {
        resolve(await openSavepoint(session, statements, released.resolve))
        await released.promise
      }).catch(reject)
    })
  }
}
