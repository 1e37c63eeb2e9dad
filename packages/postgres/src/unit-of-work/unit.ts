import type { FastifyReply } from 'fastify'
import { transactionConflict, transactionEnded, transactionRolledBack } from '../errors.ts'
import { isConflict } from '../failure.ts'
import { type HandlerTransaction, handlerTransactions } from '../open-transaction.ts'
import type { Postgres } from '../postgres.ts'
import { IgnoredFailure, type Opened } from '../session.ts'
import { requireWhole } from './answer.ts'
import { type First, LazySession } from './lazy-session.ts'
import type { UnitSettings } from './options.ts'
import type { BeforeCommit, EnclosingTransaction, Transaction } from './transaction.ts'

// Fastify's own limit comes first where it still works: it doesn't once the client is gone.
const graceMilliseconds = 1000
const idleGraceMilliseconds = 5000
const savepoint = 'concordat_work'

const units = new WeakMap<object, Unit>()

/** The unit that an enclosing transaction is the face of. */
export function unitBehind(transaction: object): Unit {
  const unit = units.get(transaction)
  if (unit === undefined)
    throw new TypeError('postgres: the transaction is none of the unit of work. Give what enclosingTransaction(request) returns.')
  return unit
}

/** What a unit is part of. */
export interface Surroundings {
  readonly database: Postgres
  /** The unit of the handler that has injected this request: both share a transaction. */
  readonly outer: Unit | undefined
  /** Is told of what nobody else would hear. */
  readonly onFault: (error: unknown) => void
}

/** One request's transaction, from its first statement to its one end. */
export class Unit implements HandlerTransaction {
  readonly database: Postgres
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

  constructor({ database, outer, onFault }: Surroundings, settings: UnitSettings) {
    this.database = database
    this.#outer = outer
    this.#onFault = onFault
    this.#settings = settings
    units.set(this.enclosing, this)
  }

  /** What the handler is given. */
  readonly domain: Transaction = {
    query: ((text, values = []) => this.#queryDomain(text, values)) as Transaction['query'],
    beforeCommit: (work) => void this.#requireDomain().#domainWork.push(work),
    afterCommit: (told) => void this.#requireDomain().#afterCommit.push(told)
  }

  /** What stands around the handler is given. */
  readonly enclosing: EnclosingTransaction = {
    beforeCommit: (work) => void this.#requireLife().#enclosingWork.push(work)
  }

  get phase(): 'running' | 'ending' | 'ended' | 'aborted' {
    return this.#phase
  }

  /** Whether another answer has left than the one that it was to be committed with. */
  get isOvertaken(): boolean {
    return this.#isOvertaken
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  /** Whether it shares the transaction of another. */
  get isPart(): boolean {
    return this.#outer !== undefined
  }

  /** Whether the handler, run again, does again all that was done so far. */
  get canRestart(): boolean {
    return this.#phase === 'running' && !this.#wasUsedBefore && !this.isPart
  }

  /** From here on, what is done is done by the handler. */
  enterHandler(): void {
    this.#handlerRuns = true
  }

  /** Called once when the unit is over, however it went. */
  afterEnd(told: () => void): void {
    this.#requireLife().#afterEnd.push(told)
  }

  /** A statement of what stands around the handler. Its values are asked for once the transaction is open. */
  async query(text: string, values: () => readonly unknown[]): Promise<readonly unknown[]> {
    return (await this.#session.run((session) => session.query(text, values()))).rows
  }

  /** Begins as {@link LazySession.beginWith} does, and puts a savepoint behind it, to which a status of 400 to 499 returns. */
  beginWith({ statements, accept }: First): Promise<boolean> {
    return this.#session.beginWith({ statements: [...statements, `SAVEPOINT ${savepoint}`], accept })
  }

  /** Rolls back all that was done, so that it can be done again. */
  async restart(): Promise<void> {
    this.#domainWork = []
    this.#afterCommit = []
    await this.#session.restart()
  }

  /** Ends it as the answer says. Rejects when it can't be committed; nothing remains of it then. */
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

  /** Ends it without an answer, in favour of what its parts did. Rejects when it can't be committed; nothing remains of it then. */
  async commit(): Promise<void> {
    this.#requireLife()
    await this.#endBy(() => this.#commit())
  }

  /** Ends it without regard to any answer: everything is rolled back that is not committed yet. */
  abort(): Promise<void> {
    return this.#end('aborted')
  }

  /** Ends it in favour of another answer. */
  overtake(): Promise<void> {
    this.#isOvertaken = true
    return this.abort()
  }

  async #endBy(work: () => Promise<void>) {
    this.#phase = 'ending'
    try {
      await work()
    } catch (error) {
      if (error instanceof IgnoredFailure) throw transactionRolledBack(error)
      throw isConflict(error) ? transactionConflict(error) : error
    } finally {
      await this.#end('ended')
    }
  }

  async #commit() {
    await this.#session.commit()
    this.#tellCommit()
  }

  async #end(phase: 'ended' | 'aborted') {
    if (this.#phase === 'ended' || this.#phase === 'aborted') return
    this.#phase = phase
    clearTimeout(this.#deadline)
    await this.#session.end()
    for (const told of this.#afterEnd) told()
  }

  #open(statements: readonly string[]): Promise<Opened> {
    const { isolation, readOnly, timeoutMilliseconds } = this.#settings
    if (this.#outer !== undefined) return this.#outer.#session.openInner(statements)
    // Outside of the handler's context, in which the database may not be asked while this transaction is open.
    return handlerTransactions.run(undefined, () =>
      this.database.open({ isolation, readOnly, idleMilliseconds: timeoutMilliseconds + idleGraceMilliseconds, statements })
    )
  }

  #limit() {
    this.#deadline ??= setTimeout(() => void this.abort(), this.#settings.timeoutMilliseconds + graceMilliseconds).unref()
  }

  async #returnDomain() {
    this.#domainIsOver = true
    this.#domainWork = []
    this.#afterCommit = []
    if (this.#enclosingWork.length === 0) return this.#session.restart()
    await this.#session.runIfOpen((session) => session.send([`ROLLBACK TO SAVEPOINT ${savepoint}`]))
  }

  #tellCommit() {
    for (const told of this.#afterCommit) {
      try {
        // What is part of another is committed with that.
        if (this.#outer === undefined) told()
        else this.#outer.#afterCommit.push(told)
      } catch (error) {
        this.#onFault(error)
      }
    }
  }

  async #queryDomain(text: string, values: readonly unknown[]) {
    this.#requireDomain()
    this.#wasUsedBefore ||= !this.#handlerRuns
    return this.#session.run((session) => {
      this.#requireDomain()
      return session.query(text, values)
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

// What they add while they run is run too.
async function runAll(all: readonly BeforeCommit[], reply: FastifyReply, payload: unknown) {
  for (let index = 0; index < all.length; index += 1) await all[index]?.(reply, payload)
}
