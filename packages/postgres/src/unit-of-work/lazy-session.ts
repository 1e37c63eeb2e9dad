import { transactionEnded } from '../connections/errors.ts'
import { isConflict, isRefusal } from '../connections/failure.ts'
import type { MessageStatement } from '../connections/message.ts'
import type { SqlClient } from '../connections/postgres.ts'
import { openWithin } from '../connections/savepoint-session.ts'
import { IgnoredFailure, type Opened, type Session } from '../connections/session.ts'
import { beginAccepted, decide, type FirstStatements, prepareFirst, reasonOf, undoDomain, withSavepoint } from './first-statements.ts'
import type { UnitSettings } from './options.ts'
import { openIn, type Surroundings } from './surroundings.ts'
import { Turns } from './turns.ts'

// The timeout of Fastify expires first if it works: it does not work after the client has disconnected.
const graceMs = 1000

/** The statements of a unit: it opens at its first use, runs one operation after another, and can be restarted. */
export class LazySession {
  readonly #surroundings: Surroundings<LazySession>
  readonly #settings: UnitSettings
  #session: Session | undefined
  #held: MessageStatement[] = []
  #isOpening = false
  #isOver = false
  // Whether nothing was run since the transaction began.
  #isFresh = false
  #first: FirstStatements | undefined
  readonly #turns = new Turns()
  #fault: unknown
  #mayBeCommitted = false
  #deadline: NodeJS.Timeout | undefined
  #handlerRuns = false
  #wasUsedBefore = false
  #domainIsOver = false
  #partRetries = Number.POSITIVE_INFINITY
  #hasConflict = false

  constructor(surroundings: Surroundings<LazySession>, settings: UnitSettings) {
    this.#surroundings = surroundings
    this.#settings = settings
    const { outer } = surroundings
    if (outer !== undefined) outer.#partRetries = Math.min(outer.#partRetries, settings.maxRetries)
  }

  get isOpen(): boolean {
    return this.#isOpening || this.#session !== undefined
  }

  /** Whether an operation was begun, in it or in the transaction that it shares. */
  get wasUsed(): boolean {
    return !this.#turns.isIdle || this.isOpen || this.isPart || this.#first !== undefined
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

  /** Runs a statement of the handler, which the connection prepares if it is the first of the transaction: then nothing is lost when that must begin again. */
  readonly prepareInDomain: SqlClient['query'] = ((text, values = []) =>
    this.#inDomain((session, isFirst) =>
      isFirst ? prepareFirst(session, text, values, () => this.#begin()) : session.query(text, values)
    )) as SqlClient['query']

  readonly executeInDomain: Session['execute'] = (statement) => this.#inDomain((session) => session.execute(statement))

  /** Runs a statement of code around the handler, after all earlier operations. It is made after the transaction has opened. */
  async query(make: () => readonly [text: string, values: readonly unknown[]]): Promise<readonly unknown[]> {
    return (await this.#run((session) => session.query(...make()))).rows
  }

  /**
   * Holds a statement of code around the handler back, to be sent with COMMIT in one message, or before the next operation. It is made after the
   * transaction has opened. When it fails, nothing is committed.
   */
  hold(make: () => MessageStatement): Promise<void> | undefined {
    if (this.#session === undefined || !this.#turns.isIdle || this.#isOver)
      return this.#run(async () => void this.#held.push(make()), false)
    this.#held.push(make())
    return undefined
  }

  /**
   * Begins the transaction with these statements and a savepoint for `undoDomain` in one message, and does the same again after a `restart`. Returns
   * false when they were not accepted, and nothing is open then.
   */
  beginWith(first: FirstStatements): Promise<boolean> {
    return this.#inTurn(() => {
      if (this.#session !== undefined) {
        throw new Error('postgres: request.transaction was used before the idempotency key was claimed. Use it only in the handler.')
      }
      this.#first = first
      const forget = () => void (this.#first = undefined)
      return beginAccepted(() => this.#begin(), forget)
    })
  }

  /** Rolls the writes of the handler back, but not those of the statements with which the transaction began. */
  undoDomain(): Promise<void> {
    if (this.#first === undefined) return this.restart()
    return this.#runIfOpen((session) => {
      this.#held = []
      return session.send([undoDomain])
    })
  }

  /** Rolls the transaction back. The next use begins a new transaction. */
  async restart(): Promise<void> {
    await this.#runIfOpen((session) => session.rollback())
    this.#session = undefined
    this.#held = []
    this.#fault = undefined
  }

  commit(): Promise<void> {
    return this.#runIfOpen((session) => {
      this.#mayBeCommitted = true
      return session.commit(this.#held.splice(0)).then(
        () => {
          this.#session = undefined
          return undefined
        },
        (error: unknown) => {
          this.#mayBeCommitted = !(error instanceof IgnoredFailure || isRefusal(error))
          throw error
        }
      )
    })
  }

  /** Rolls back the open transaction without waiting for its turn, and refuses all later operations. */
  end(): Promise<void> | undefined {
    const { outer } = this.#surroundings
    this.#isOver = true
    clearTimeout(this.#deadline)
    if (outer !== undefined) outer.#hasConflict ||= isConflict(this.#fault)
    const ending = this.#session?.rollback()
    this.#session = undefined
    return ending
  }

  #inDomain<Result>(work: (session: Session, isFirst: boolean) => Promise<Result>): Promise<Result> {
    if (this.#domainIsOver || this.#isOver) return Promise.reject(transactionEnded())
    this.#wasUsedBefore ||= !this.#handlerRuns
    return this.#run((session, isFirst) => {
      this.requireDomain()
      return work(session, isFirst)
    })
  }

  /** Runs an operation on the open transaction, after the statements that are held back, if `afterHeld`. */
  #run<Result>(work: (session: Session, isFirst: boolean) => Promise<Result>, afterHeld = true): Promise<Result> {
    const run = (session: Session) => {
      const [isFirst, held] = [this.#isFresh, afterHeld ? this.#held.splice(0) : []]
      this.#isFresh = false
      return held.length > 0 ? session.send(held).then(() => work(session, false)) : work(session, isFirst)
    }
    return this.#inTurn(() => (this.#session === undefined ? this.#begin().then(run) : run(this.#session)))
  }

  #runIfOpen(work: (session: Session) => Promise<unknown>): Promise<void> {
    // Operations that were begun earlier may open it.
    if (this.#session === undefined && this.#turns.isIdle && !this.#isOver) return Promise.resolve()
    return this.#inTurn(() => (this.#session === undefined ? Promise.resolve() : (work(this.#session) as Promise<void>)))
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const run = () => {
      this.#requireLife()
      return work()
    }
    return this.#turns.run(run, (error) => this.#reasonFor(error))
  }

  #requireLife() {
    if (this.#isOver) throw transactionEnded()
  }

  #reasonFor(error: unknown) {
    // The stack leads to the caller, and not to the socket.
    if (error instanceof Error && 'severity' in error) Error.captureStackTrace(error)
    const reason = reasonOf(error)
    if (reason !== error || isConflict(error)) this.#fault = reason
    return reason
  }

  #begin(): Promise<Session> {
    this.#isOpening = true
    const first = this.#first
    const failed = (error: unknown) => {
      this.#isOpening = false
      throw error
    }
    return this.#open(withSavepoint(first)).then(({ session, results }) => {
      const verdict = first?.accept(results) ?? true
      if (verdict === true && !this.#isOver) return this.#opened(session)
      return decide(session, verdict, () => this.#requireLife()).then(() => this.#opened(session), failed)
    }, failed)
  }

  #opened(session: Session) {
    this.#isOpening = false
    this.#session = session
    this.#isFresh = !this.isPart
    this.#deadline ??= setTimeout(this.#surroundings.onTimeout, this.#settings.timeoutMs + graceMs).unref()
    return session
  }

  #open(statements: readonly MessageStatement[]): Promise<Opened> {
    const { outer } = this.#surroundings
    if (outer !== undefined) return openWithin((work) => outer.#run(work), statements)
    return openIn(this.#surroundings, this.#settings, statements)
  }
}
