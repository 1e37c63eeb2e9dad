import { transactionEnded } from './errors.ts'
import { isIgnored, isOutage, isRefusal } from './failure.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session, type StatementResult } from './session.ts'

type Done = (error: Error | undefined, result: StatementResult) => void

/** The part of a `pg` client that this package uses. */
interface PoolClientLike {
  query(sql: string | { readonly text: string }, params?: unknown[], done?: Done): unknown
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
  readonly options?: { readonly max?: number | undefined } | undefined
}

/** A connection that was checked out of its pool. */
export interface CheckedOut {
  readonly client: PoolClientLike
  /** Returns the connection to the pool, which reuses it, or closes it, so that PostgreSQL rolls back. */
  readonly release: (reusable: boolean) => void
}

/** Checks out a connection. `broken` is called with its error when it is lost. */
export function checkOut(pool: PoolLike, broken: (error?: unknown) => void): Promise<CheckedOut> {
  return new Promise((resolve, reject) => {
    // With a callback: a connection that is killed immediately emits its error before a promise could return it, and an error without a listener ends
    // the process.
    pool.connect((error, client) => {
      if (client === undefined) return reject(error)
      client.on('error', broken)
      const release = (reusable: boolean) => {
        client.removeListener('error', broken)
        client.release(!reusable)
      }
      resolve({ client, release })
    })
  })
}

/**
 * Runs a statement on a connection. The client gets a callback: the promise that it would create itself survives with the whole result until the next
 * full garbage collection. A client that was wrapped may return one nevertheless.
 */
export async function sendOn(
  client: PoolClientLike,
  sql: string | { readonly text: string },
  values?: unknown[]
): Promise<StatementResult> {
  try {
    return await new Promise<StatementResult>((resolve, reject) => {
      const result = client.query(sql, values, (error, rows) => (error ? reject(error) : resolve(rows)))
      if (result !== undefined) resolve(result as Promise<StatementResult>)
    })
  } catch (error) {
    // The stack leads to the caller, and not to the socket.
    if (error instanceof Error) Error.captureStackTrace(error, sendOn)
    throw error
  }
}

/** Begins a transaction. BEGIN and the statements of its opening are sent in one message. */
export async function openOnClient({ client, release }: CheckedOut, opening: Opening): Promise<Opened> {
  const { idleMs, statements = [] } = opening
  const limit = idleMs === undefined ? [] : [`SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idleMs)}`]
  const session = sessionOn(client, release)
  try {
    const results = await session.send([`BEGIN${modesOf(opening)}`, ...limit, ...statements])
    return { session, results: results.slice(results.length - statements.length) }
  } catch (error) {
    await session.rollback()
    throw error
  }
}

function sessionOn(client: PoolClientLike, release: (reusable: boolean) => void): Session {
  let over = false
  let isBusy = false
  // A statement whose result is overdue may still run: nothing can be sent after it, and it is unknown what it did.
  let outage: unknown

  async function execute(sql: string | { readonly text: string }, values?: unknown[]) {
    if (over) throw transactionEnded()
    if (outage !== undefined) throw outage
    isBusy = true
    try {
      return await sendOn(client, sql, values)
    } catch (error) {
      if (isOutage(error)) outage = error
      throw error
    } finally {
      isBusy = false
    }
  }

  function end(reusable: boolean) {
    if (!over) release(reusable)
    over = true
  }

  return {
    async query(text, values) {
      const { rows, rowCount } = await execute(text, [...values])
      return { rows: rows as Record<string, unknown>[], rowCount: rowCount ?? rows.length }
    },
    // In the extended protocol, the server refuses a text with more than one statement.
    execute: (statement) => execute({ ...statement, queryMode: 'extended' } as { readonly text: string }),
    async send(statements) {
      // For several statements, pg returns a list of results.
      return [await execute(statements.join(';\n'))].flat().map(({ rows }) => rows)
    },
    async commit(last = []) {
      // PostgreSQL executes the statements of a message until one fails, so that COMMIT is not executed when one of `last` failed.
      const results = await execute([...last, 'COMMIT'].join(';\n')).catch(async (error: unknown) => {
        if (last.length === 0) end(isRefusal(error))
        else await rollback()
        throw isIgnored(error) ? new IgnoredFailure() : error
      })
      end(true)
      if ([results].flat().at(-1)?.command !== 'COMMIT') throw new IgnoredFailure()
    },
    rollback
  }

  async function rollback() {
    if (over) return
    // ROLLBACK cannot be sent while a statement is running. Closing the connection makes PostgreSQL roll back.
    if (isBusy || outage !== undefined) return end(false)
    await execute('ROLLBACK').then(
      () => end(true),
      () => end(false)
    )
  }
}
