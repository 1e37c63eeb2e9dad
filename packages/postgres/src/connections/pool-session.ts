import { transactionEnded } from './errors.ts'
import { isIgnored, isOutage, isRefusal } from './failure.ts'
import { type MessageStatement, type Rows, sendMessage } from './message.ts'
import { forgetStatements, knownOf, type MessageClient, withCallback } from './pg-client.ts'
import { preparedConfig } from './prepared-query.ts'
import {
  IgnoredFailure,
  modesOf,
  type Opened,
  type Opening,
  type QueryResult,
  type Session,
  type Statement,
  type StatementResult
} from './session.ts'

type Reject = (error: unknown) => void
type Received = (results: Rows[], command: string) => void

/** The part of a `pg` client that this package uses. */
interface PoolClientLike extends MessageClient {
  release(destroy?: boolean | Error): void
  on(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
  removeListener(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
}

/** The part of a `pg` pool that this package uses. */
export interface PoolLike {
  query(sql: string, params?: unknown[]): Promise<StatementResult>
  connect(callback: (error: Error | undefined, client: PoolClientLike | undefined) => void): void
  on(event: 'error', listener: (error: Error) => void): unknown
  /** The options of the pool. Without `max`, one route can use all connections. */
  readonly options?: { readonly max?: number | undefined; readonly pipeline?: boolean | undefined } | undefined
}

/** A connection that was checked out of its pool. */
export interface CheckedOut {
  readonly client: PoolClientLike
  /** Returns the connection to the pool, which reuses it, or closes it, so that PostgreSQL rolls back. */
  readonly release: (reusable: boolean) => void
}

/** Checks out a connection, and calls one of the functions. `broken` is called with its error when it is lost, `leave` when it has been returned. */
export function checkOut(
  pool: PoolLike,
  broken: (error?: unknown) => void,
  given: (connection: CheckedOut) => void,
  refused: Reject,
  leave: () => void = () => {}
): void {
  // With a callback: a connection that is killed immediately emits its error before a promise could return it, and an error without a listener ends
  // the process.
  pool.connect((error, client) => {
    if (client === undefined) {
      leave()
      return refused(error)
    }
    client.on('error', broken)
    const release = (reusable: boolean) => {
      client.removeListener('error', broken)
      client.release(!reusable)
      leave()
    }
    given({ client, release })
  })
}

/** Checks out a connection as `checkOut` does. */
export function checkedOut(pool: PoolLike, broken: (error?: unknown) => void): Promise<CheckedOut> {
  return new Promise((resolve, reject) => checkOut(pool, broken, resolve, reject))
}

/** Runs a statement on a connection. */
export async function sendOn(
  client: PoolClientLike,
  sql: string | { readonly text: string },
  values?: unknown[]
): Promise<StatementResult> {
  try {
    return await new Promise<StatementResult>((resolve, reject) =>
      withCallback<StatementResult>(
        (done) => client.query(sql, values, done),
        (error, result) => (error ? reject(error) : resolve(result as StatementResult))
      )
    )
  } catch (error) {
    // The stack leads to the caller, and not to the socket.
    if (error instanceof Error) Error.captureStackTrace(error, sendOn)
    throw error
  }
}

/** Begins a transaction. BEGIN, the `first` statements and those of its opening are sent in one message. */
export function openOnClient(
  { client, release }: CheckedOut,
  opening: Opening,
  first: readonly MessageStatement[],
  opened: (opened: Opened) => void,
  failed: Reject
): void {
  const { idleMs, statements = [] } = opening
  const session = new PooledSession(client, release)
  const limit = idleMs === undefined ? [] : [{ text: `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idleMs)}` }]
  const message = [{ text: `BEGIN${modesOf(opening)}` }, ...limit, ...first, ...statements]
  session.sendTo(
    message,
    true,
    (results) => opened({ session, results: results.slice(results.length - statements.length) }),
    (reason) => void session.rollback().then(() => failed(reason))
  )
}

/**
 * Runs a statement in a read-only transaction that begins with the `first` statements. With `pipeline` of `pg`, all of it is sent without a wait, and is one
 * round trip. COMMIT after a statement that failed rolls back.
 */
export async function readOnClient(
  { client, release }: CheckedOut,
  first: readonly string[],
  text: string,
  values: unknown[]
): Promise<StatementResult> {
  const begun = sendOn(client, ['BEGIN READ ONLY', ...first].join(';\n'))
  const read = sendOn(client, text, values)
  const ended = sendOn(client, 'COMMIT')
  // The result does not wait for the end of a transaction that has changed nothing.
  ended.then(
    () => release(true),
    () => release(false)
  )
  const [failed, result] = await Promise.allSettled([begun, read])
  if (failed.status === 'rejected') throw failed.reason
  if (result.status === 'rejected') throw result.reason
  return result.value
}

/** A transaction on a connection of a pool. Each message is one promise. */
class PooledSession implements Session {
  readonly #client: PoolClientLike
  readonly #release: (reusable: boolean) => void
  #isOver = false
  #isBusy = false
  // A statement whose result is overdue may still run: nothing can be sent after it, and it is unknown what it did.
  #outage: unknown

  constructor(client: PoolClientLike, release: (reusable: boolean) => void) {
    this.#client = client
    this.#release = release
  }

  query(text: string, values: readonly unknown[], isPrepared = false): Promise<QueryResult> {
    const statement = isPrepared ? preparedConfig(this.#client, text, values) : text
    return new Promise((resolve, reject) =>
      this.#run(
        statement,
        isPrepared ? undefined : [...values],
        ({ rows, rowCount }) => resolve({ rows: rows as Record<string, unknown>[], rowCount: rowCount ?? rows.length }),
        reject
      )
    )
  }

  // In the extended protocol, the server refuses a text with more than one statement.
  execute(statement: Statement): Promise<StatementResult> {
    return new Promise((resolve, reject) => this.#run({ ...statement, queryMode: 'extended' } as Statement, undefined, resolve, reject))
  }

  send(statements: readonly MessageStatement[]): Promise<Rows[]> {
    return new Promise((resolve, reject) => this.sendTo(statements, false, resolve, reject))
  }

  /** Sends statements in one message, and calls one of the functions. */
  sendTo(statements: readonly MessageStatement[], isWhole: boolean, resolve: Received, reject: Reject): void {
    if (!this.#mayStart(reject)) return
    sendMessage(this.#client, statements, isWhole, (error, results, command) => {
      this.#ended(error)
      if (error) reject(error)
      else resolve(results, command)
    })
  }

  commit(last: readonly MessageStatement[] = []): Promise<void> {
    return new Promise((resolve, reject) =>
      // PostgreSQL executes the statements of a message until one fails, so that COMMIT is not executed when one of `last` failed.
      this.sendTo(
        [...last, { text: 'COMMIT' }],
        false,
        (_, command) => {
          this.#end(true)
          if (command === 'COMMIT') resolve()
          else reject(new IgnoredFailure())
        },
        (failure) => {
          const reason = isIgnored(failure) ? new IgnoredFailure() : failure
          if (last.length === 0) this.#end(isRefusal(failure))
          void this.rollback().then(() => reject(reason))
        }
      )
    )
  }

  async rollback(): Promise<void> {
    if (this.#isOver) return
    // ROLLBACK cannot be sent while a statement is running. Closing the connection makes PostgreSQL roll back.
    if (this.#isBusy || this.#outage !== undefined) return this.#end(false)
    await this.send([{ text: 'ROLLBACK' }]).then(
      () => this.#end(true),
      () => this.#end(false)
    )
  }

  #run(sql: string | Statement, values: unknown[] | undefined, resolve: (result: StatementResult) => void, reject: Reject) {
    if (!this.#mayStart(reject)) return
    withCallback<StatementResult>(
      (done) => this.#client.query(sql, values, done),
      (error, result) => {
        this.#ended(error)
        // DEALLOCATE of the service. What follows in this transaction must not fail.
        if (result?.command === 'DEALLOCATE') forgetStatements(knownOf(this.#client))
        if (error) reject(error)
        else resolve(result as StatementResult)
      }
    )
  }

  #mayStart(reject: Reject) {
    const isRefused = this.#isOver || this.#outage !== undefined
    if (isRefused) reject(this.#isOver ? transactionEnded() : this.#outage)
    else this.#isBusy = true
    return !isRefused
  }

  #ended(error: unknown) {
    this.#isBusy = false
    if (error && isOutage(error)) this.#outage = error
  }

  #end(reusable: boolean) {
    if (!this.#isOver) this.#release(reusable)
    this.#isOver = true
  }
}
