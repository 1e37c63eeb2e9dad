import { EventEmitter } from 'node:events'
import { callbackify } from 'node:util'
import { Pool, type PoolConfig } from 'pg'
import type { Statement, StatementResult } from './connections/session.ts'
import { controlIn } from './connections/transaction-control.ts'
import type { Transaction } from './unit-of-work/transaction.ts'
import { unitBehind } from './unit-of-work/unit.ts'

type Execute = (statement: Statement) => Promise<StatementResult>
type Callback = (error: Error | null, result?: StatementResult) => void

const savepoint = 'concordat_pool'
const pools = new WeakMap<Transaction, Pool>()

/**
 * Returns a pool of `pg` whose only connection is `request.transaction` or `currentTransaction()`, for data layers such as Drizzle, Kysely, Knex and
 * Prisma. Their transactions are savepoints, which never end this one. A cursor, COMMIT without BEGIN, and BEGIN with an isolation level are refused.
 * Each call with the same transaction returns the same pool, which needs no `end()`.
 */
export function transactionPool(transaction: Transaction): Pool {
  const existing = pools.get(transaction)
  if (existing !== undefined) return existing
  const execute = unitBehind(transaction, 'domain').session.executeInDomain
  // The type of pg requires a whole client. The pool itself uses only the methods of this one.
  const Client = function () {
    return new TransactionClient(execute)
  } as unknown as PoolConfig['Client']
  const pool = new Pool({ max: 1, Client })
  pools.set(transaction, pool)
  return pool
}

/** A client of `pg` that runs statements in an open transaction. */
class TransactionClient extends EventEmitter {
  readonly #execute: Execute
  #hasBegun = false

  constructor(execute: Execute) {
    super()
    this.#execute = execute
  }

  connect(callback: () => void): void {
    callback()
  }

  end(callback: () => void): void {
    callback()
  }

  query(config: string | Statement, values?: unknown[] | Callback, callback?: Callback): Promise<StatementResult> | undefined {
    const statement = typeof config === 'string' ? { text: config } : config
    const done = typeof values === 'function' ? values : callback
    const run = () => this.#run(Array.isArray(values) ? { ...statement, values } : statement)
    if (done === undefined) return run()
    callbackify(run)(done)
    return undefined
  }

  async #run(statement: Statement): Promise<StatementResult> {
    if ('submit' in statement) throw new TypeError('postgres: a transaction cannot read with a cursor or a stream. Read pages instead.')
    const control = controlIn(statement.text)
    if (control === undefined) return this.#execute(statement)
    if (control === 'begin') return this.#begin()
    if (!this.#hasBegun) {
      throw new TypeError(
        `postgres: ${statement.text} would end the transaction of the request, which ends with its response. Throw an error to roll it back.`
      )
    }
    return control === 'commit' ? this.#commit() : this.#rollback()
  }

  async #begin() {
    const result = await this.#execute({ text: `SAVEPOINT ${savepoint}` })
    this.#hasBegun = true
    return result
  }

  async #commit() {
    try {
      const result = await this.#execute({ text: `RELEASE SAVEPOINT ${savepoint}` })
      this.#hasBegun = false
      return result
    } catch (error) {
      // A statement has failed. The outer transaction continues, as it would after the COMMIT of a separate one.
      await this.#execute({ text: `ROLLBACK TO SAVEPOINT ${savepoint}` })
      throw error
    }
  }

  async #rollback() {
    await this.#execute({ text: `ROLLBACK TO SAVEPOINT ${savepoint}` })
    this.#hasBegun = false
    return this.#execute({ text: `RELEASE SAVEPOINT ${savepoint}` })
  }
}
