import type { RequestTransaction } from '@concordat/plugin-wiring'
import type { FastifyReply } from 'fastify'
import { transactionConflict, transactionEnded, transactionRolledBack } from '../errors.ts'
import { isConflict } from '../failure.ts'
import { type HandlerContext, handlerContexts } from '../handler-context.ts'
import type { Postgres } from '../postgres.ts'
import { IgnoredFailure, type Opened, type Session } from '../session.ts'
import { setExecutor } from './executors.ts'
import { type FirstStatements, LazySession } from './lazy-session.ts'
import type { UnitSettings } from './options.ts'
import { requireWhole } from './reply.ts'
import { type BeforeCommit, enclosingOf, runAll, type Transaction } from './transaction.ts'

// The timeout of Fastify expires first if it works: it does not work after the client has disconnected.
const graceMs = 1000
const idleGraceMs = 5000
const savepoint = 'concordat_work'

const units = new WeakMap<object, Unit>()

/** Returns the unit of an enclosing transaction. Throws a `TypeError` for any other object. */
export function unitBehind(transaction: object): Unit {
  const unit = units.get(transaction)
  if (unit === undefined)
    throw new TypeError('postgres: the transaction does not belong to the unit of work. Pass the result of enclosingTransaction(request).')
  return unit
}

/** The database, the outer unit, the route and the error callback of a unit. */
export interface Surroundings {
  readonly database: Postgres
  /** The unit of the handler that injected this request. Both share a transaction. */
  readonly outer: Unit | undefined
  readonly route: object | undefined
  /** Called with errors that would otherwise be lost. */
  readonly onFault: (error: unknown) => void
}

/** The transaction of one request, from its first statement until it is committed or rolled back. */
export class Unit implements HandlerContext {
  readonly database: Postgres
  readonly route: object | undefined
  readonly #outer: Unit | undefined
  readonly #onFault: (error: unknown) => void
  readonly #settings: UnitSettings
  readonly #session: LazySession = new LazySession(
    (statements) => this.#open(statements),
    () => this.#limit()
  )
  #phase: 'running' | 'ending' | 'ended' | 'aborted' = 'running'
  #isOvertaken = false
  #deadline: NodeJS.Timeout | undefined
  #handlerRuns = false
  #wasUsedBefore = false
  #domainIsOver = false
  #domainWork: BeforeCommit[] = []
  #afterCommit: (() => void)[] = []
  readonly #enclosingWork: BeforeCommit[] = []
  readonly #afterEnd: (() => void)[] = []
  #partRetries = Number.POSITIVE_INFINITY
  #hasConflict = false

  constructor({ database, outer, route, onFault }: Surroundings, settings: UnitSettings) {
    this.database = database
    this.route = route
    this.#outer = outer
    this.#onFault = onFault
    this.#settings = settings
    if (outer !== undefined) outer.#partRetries = Math.min(outer.#partRetries, settings.maxRetries)
    units.set(this.enclosing, this)
    setExecutor(this.domain, (statement) => this.#inDomain((session) => session.execute(statement)))
  }

  /** The transaction for the handler. */
  readonly domain: Transaction = {
    query: ((text, values = []) => this.#inDomain((session) => session.query(text, values))) as Transaction['query'],
    beforeCommit: (work) => void this.#requireDomain().#domainWork.push(work),
    afterCommit: (callback) => void this.#requireDomain().#afterCommit.push(callback)
  }

  /** The transaction for code around the handler. */
  readonly enclosing: RequestTransaction = enclosingOf(
    (work) => void this.#requireLife().#enclosingWork.push(work),
    () => this.#isRolledBack
  )

  get phase(): 'running' | 'ending' | 'ended' | 'aborted' {
    return this.#phase
  }

  /** Whether another response was sent instead of the response that belongs to this transaction. */
  get isOvertaken(): boolean {
    return this.#isOvertaken
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  /** Whether it shares the transaction of another unit. */
  get isPart(): boolean {
    return this.#outer !== undefined
  }

  /** Whether running the handler again would repeat everything that was done so far. */
  get canRestart(): boolean {
    return this.#phase === 'running' && !this.#wasUsedBefore && !this.isPart
  }

  /** How many times the work of this transaction can run again because a part of it conflicted with other transactions. */
  get retriesAfterConflict(): number {
    return this.#hasConflict ? this.#partRetries : 0
  }

  /**
   * Returns the conflict or the failed connection behind an error of the handler. A data layer may have replaced it by an error of its own, which
   * has no status code.
   */
  reasonOf(error: unknown): unknown {
    const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown }
    return statusCode === undefined ? (this.#session.fault ?? error) : error
  }

  /** Marks the start of the handler: all later statements belong to it. */
  enterHandler(): void {
    this.#handlerRuns = true
  }

  /** Calls the function once when the unit has ended, whether committed or rolled back. */
  afterEnd(callback: () => void): void {
    this.#requireLife().#afterEnd.push(callback)
  }

  /** Runs a statement of code around the handler. Its values are computed after the transaction has opened. */
  async query(text: string, values: () => readonly unknown[]): Promise<readonly unknown[]> {
    return (await this.#session.run((session) => session.query(text, values()))).rows
  }

  /** Begins like {@link LazySession.beginWith}, and sets a savepoint, to which a status code of 400 to 499 rolls back. */
  beginWith({ statements, accept }: FirstStatements): Promise<boolean> {
    return this.#session.beginWith({ statements: [...statements, `SAVEPOINT ${savepoint}`], accept })
  }

  /** Rolls back everything, so that the handler can run again. */
  async restart(): Promise<void> {
    this.#domainWork = []
    this.#afterCommit = []
    await this.#session.restart()
  }

  /** Ends the transaction according to the response. Rejects when it cannot be committed, and nothing of it remains then. */
  settle(reply: FastifyReply, payload: unknown): Promise<void> {
    return this.#endBy(async () => {
      if (reply.statusCode >= 500) return
      requireWhole(reply, payload)
      if (reply.statusCode >= 400) await this.#returnDomain()
      await runAll(this.#domainWork, reply, payload)
      this.#domainIsOver = true
      await runAll(this.#enclosingWork, reply, payload)
      await this.#commit()
    })
  }

  /**
   * Commits the writes of all requests that are part of this transaction, without a response. Rejects when they cannot be committed, and nothing
   * of them remains then.
   */
  async commit(): Promise<void> {
    this.#requireLife()
    await this.#endBy(() => this.#commit())
  }

  /** Ends the transaction without a response, and rolls back everything that is not yet committed. */
  abort(): Promise<void> {
    return this.#end('aborted')
  }

  /** Ends the transaction because another response is sent. */
  overtake(): Promise<void> {
    this.#isOvertaken = true
    return this.abort()
  }

  async #endBy(work: () => Promise<void>) {
    this.#phase = 'ending'
    try {
      await work()
    } catch (error) {
      throw error instanceof IgnoredFailure ? transactionRolledBack(error) : isConflict(error) ? transactionConflict(error) : error
    } finally {
      await this.#end('ended')
    }
  }

  async #commit() {
    await this.#session.commit()
    this.#notifyCommit()
  }

  // A part is committed with the transaction that it belongs to.
  get #isRolledBack(): boolean {
    return !this.#session.mayBeCommitted || (this.#outer !== undefined && this.#outer.#isRolledBack)
  }

  async #end(phase: 'ended' | 'aborted') {
    if (this.#phase === 'ended' || this.#phase === 'aborted') return
    this.#phase = phase
    clearTimeout(this.#deadline)
    if (this.#outer !== undefined) this.#outer.#hasConflict ||= isConflict(this.#session.fault)
    await this.#session.end()
    for (const callback of this.#afterEnd) callback()
  }

  #open(statements: readonly string[]): Promise<Opened> {
    const { isolation, readOnly, timeoutMs } = this.#settings
    if (this.#outer !== undefined) return this.#outer.#session.openInner(statements)
    // Runs outside the context of the handler, in which no other query is allowed while this transaction is open.
    return handlerContexts.run(undefined, () =>
      this.database.open({ isolation, readOnly, idleMs: timeoutMs + idleGraceMs, statements, route: this.route })
    )
  }

  #limit() {
    this.#deadline ??= setTimeout(() => void this.abort(), this.#settings.timeoutMs + graceMs).unref()
  }

  async #returnDomain() {
    this.#domainIsOver = true
    this.#domainWork = []
    this.#afterCommit = []
    if (this.#enclosingWork.length === 0) return this.#session.restart()
    await this.#session.runIfOpen((session) => session.send([`ROLLBACK TO SAVEPOINT ${savepoint}`]))
  }

  #notifyCommit() {
    for (const callback of this.#afterCommit) {
      try {
        // A part of another transaction is committed with that transaction.
        if (this.#outer === undefined) callback()
        else this.#outer.#afterCommit.push(callback)
      } catch (error) {
        this.#onFault(error)
      }
    }
  }

  async #inDomain<Result>(work: (session: Session) => Promise<Result>) {
    this.#requireDomain()
    this.#wasUsedBefore ||= !this.#handlerRuns
    return this.#session.run((session) => {
      this.#requireDomain()
      return work(session)
    })
  }

  #requireDomain(): this {
    if (this.#domainIsOver) throw transactionEnded()
    return this.#requireLife()
  }

  #requireLife(): this {
    if (this.#phase === 'ended' || this.#phase === 'aborted') throw transactionEnded()
    return this
  }
}
