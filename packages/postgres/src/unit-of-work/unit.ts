import { preparedQuery, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { FastifyReply } from 'fastify'
import { transactionEnded } from '../connections/errors.ts'
import { endingFailure } from '../connections/failure.ts'
import type { HandlerContext } from '../connections/handler-context.ts'
import type { Postgres } from '../connections/postgres.ts'
import { LazySession } from './lazy-session.ts'
import type { UnitSettings } from './options.ts'
import { isWhole, requireWhole } from './reply.ts'
import type { BeforeCommit, Transaction } from './transaction.ts'

const remedies = { domain: 'request.transaction or currentTransaction()', enclosing: 'the result of enclosingTransaction(request)' }

/** Returns the unit of a transaction for a handler, or for code around it. Throws a `TypeError` for any other object. */
export function unitBehind(transaction: object, kind: keyof typeof remedies): Unit {
  const unit = Handle.unitBehind(transaction)
  if (unit?.[kind] !== transaction)
    throw new TypeError(`postgres: the transaction does not belong to the unit of work. Pass ${remedies[kind]}.`)
  return unit
}

/**
 * What code outside has of a unit. A `WeakMap` from it to the unit, or an object literal with a getter, which has a hidden class of its own, would keep the
 * whole request for the next full garbage collection.
 */
class Handle {
  readonly #unit: Unit

  constructor(unit: Unit) {
    this.#unit = unit
  }

  static unitBehind(handle: object): Unit | undefined {
    return #unit in handle ? handle.#unit : undefined
  }

  protected get unit(): Unit {
    return this.#unit
  }
}

class Enclosing extends Handle implements RequestTransaction {
  readonly beforeCommit: RequestTransaction['beforeCommit']

  constructor(unit: Unit, beforeCommit: RequestTransaction['beforeCommit']) {
    super(unit)
    this.beforeCommit = beforeCommit
  }

  get isRolledBack(): boolean {
    return this.unit.session.isRolledBack
  }

  whenFinal(callback: () => void): void {
    this.unit.whenFinal(callback)
  }
}

class Domain extends Handle implements Transaction {
  readonly query: Transaction['query']
  readonly [preparedQuery]: NonNullable<Transaction[typeof preparedQuery]>
  readonly beforeCommit: Transaction['beforeCommit']
  readonly afterCommit: Transaction['afterCommit']

  constructor(unit: Unit, { beforeCommit, afterCommit }: Pick<Transaction, 'beforeCommit' | 'afterCommit'>) {
    super(unit)
    this.query = unit.session.queryInDomain
    this[preparedQuery] = unit.session.prepareInDomain
    this.beforeCommit = beforeCommit
    this.afterCommit = afterCommit
  }
}

interface Surroundings {
  readonly database: Postgres
  /** The unit of the handler that injected this request. Both share a transaction. */
  readonly outer: Unit | undefined
  readonly route: object | undefined
  /** The tenant of the request, or of the requests that share the transaction. */
  readonly tenant: string | undefined
  /** Called with errors that would otherwise be lost. */
  readonly onFault: (error: unknown) => void
}

/** The transaction of one request, from its first statement until it is committed or rolled back. */
export class Unit implements HandlerContext {
  readonly database: Postgres
  readonly route: object | undefined
  readonly tenant: string | undefined
  /** The transaction for the handler. */
  readonly domain: Transaction
  /** The transaction for code around the handler. Its work runs last, also when the domain writes are rolled back. */
  readonly enclosing: RequestTransaction
  readonly session: LazySession
  readonly #outer: Unit | undefined
  readonly #onFault: (error: unknown) => void
  #phase: 'running' | 'ending' | 'ended' | 'aborted' = 'running'
  #isOvertaken = false
  #domainWork: BeforeCommit[] = []
  #afterCommit: (() => void)[] = []
  readonly #enclosingWork: Parameters<RequestTransaction['beforeCommit']>[0][] = []
  readonly #afterEnd: (() => void)[] = []
  #whenFinal: (() => void)[] = []

  constructor({ database, outer, route, tenant, onFault }: Surroundings, settings: UnitSettings) {
    this.database = database
    this.route = route
    this.tenant = tenant
    this.#outer = outer
    this.#onFault = onFault
    this.session = new LazySession({ database, route, tenant, outer: outer?.session, onTimeout: () => void this.abort() }, settings)
    this.enclosing = new Enclosing(this, (work) => void this.#requireLife().#enclosingWork.push(work))
    this.domain = new Domain(this, {
      beforeCommit: (work) => void this.#requireDomain().#domainWork.push(work),
      afterCommit: (callback) => void this.#requireDomain().#afterCommit.push(callback)
    })
  }

  get phase(): 'running' | 'ending' | 'ended' | 'aborted' {
    return this.#phase
  }

  /** Whether another response was sent instead of the response that belongs to this transaction. */
  get isOvertaken(): boolean {
    return this.#isOvertaken
  }

  get isOpen(): boolean {
    return this.session.isOpen
  }

  /** Calls the function when the unit has ended, whether committed or rolled back. */
  afterEnd(callback: () => void): void {
    this.#requireLife().#afterEnd.push(callback)
  }

  /** Calls the function now, or, in a part of another transaction, when that has ended. A run that is repeated drops it. */
  whenFinal(callback: () => void): void {
    if (this.#outer === undefined || this.#outer.#isOver) callback()
    else this.#outer.#whenFinal.push(callback)
  }

  /** Drops what waited for the end of this run, because it is repeated. */
  repeat(): void {
    this.#whenFinal = []
  }

  /** Rolls back everything, so that the handler can run again. */
  async restart(): Promise<void> {
    this.repeat()
    this.#dropDomainWork()
    await this.session.restart()
  }

  /** Ends a transaction in which nothing was done, as for a replay, without waiting. Returns whether it has ended so. */
  endUnused(payload: unknown): boolean {
    const work = this.#domainWork.length + this.#enclosingWork.length + this.#afterCommit.length
    if (this.#phase !== 'running' || work > 0 || this.session.wasUsed || !isWhole(payload)) return false
    void this.#end('ended')
    return true
  }

  /** Ends the transaction according to the response. Rejects when it cannot be committed, and nothing of it remains then. */
  settle(reply: FastifyReply, payload: unknown): Promise<void> {
    return this.#endBy(reply, payload)
  }

  async #endBy(reply?: FastifyReply, payload?: unknown): Promise<void> {
    this.#phase = 'ending'
    try {
      if (reply !== undefined) {
        if (reply.statusCode >= 500) return
        requireWhole(reply, payload)
        if (reply.statusCode >= 400) await this.#returnDomain()
        for (const work of this.#domainWork) await work(reply, payload)
        this.session.endDomain()
        for (const work of this.#enclosingWork) {
          const working = work(reply, payload)
          if (working !== undefined) await working
        }
      }
      await this.session.commit()
      this.#callAfterCommit()
    } catch (error) {
      throw endingFailure(error)
    } finally {
      await this.#end('ended')
    }
  }

  /** Commits the writes of all requests that are part of this transaction, without a response. */
  async commit(): Promise<void> {
    this.#requireLife()
    await this.#endBy()
  }

  async abort(): Promise<void> {
    await this.#end('aborted')
  }

  /** Ends the transaction because another response is sent. */
  overtake(): Promise<void> {
    this.#isOvertaken = true
    return this.abort()
  }

  #callAfterCommit() {
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

  /** Returns a promise only if the transaction is open, which takes time to end. */
  #end(phase: 'ended' | 'aborted'): Promise<void> | undefined {
    if (this.#isOver) return undefined
    this.#phase = phase
    const ending = this.session.end()
    if (ending !== undefined) return ending.then(() => this.#ended())
    this.#ended()
    return undefined
  }

  #ended() {
    for (const callback of this.#afterEnd) callback()
    for (const callback of this.#whenFinal) this.whenFinal(callback)
  }

  get #isOver() {
    return this.#phase === 'ended' || this.#phase === 'aborted'
  }

  #returnDomain() {
    this.session.endDomain()
    this.#dropDomainWork()
    return this.session.undoDomain()
  }

  #dropDomainWork() {
    this.#domainWork = []
    this.#afterCommit = []
  }

  #requireDomain(): this {
    this.session.requireDomain()
    return this
  }

  #requireLife(): this {
    if (this.#isOver) throw transactionEnded()
    return this
  }
}
