import { transactionEnded } from './errors.ts'
import { isRefusal } from './failure.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session } from './session.ts'

/** The result of a statement on `pg`. */
export interface PoolAnswer {
  readonly rows: unknown[]
  readonly rowCount?: number | null
}

/** The part of a `pg` client that is used here. */
export interface PoolClientLike {
  query(sql: string, params?: unknown[]): Promise<PoolAnswer & { readonly command?: string }>
  release(destroy?: boolean | Error): void
  on(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
  removeListener(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
}

/** A connection that was checked out of its pool. */
export interface CheckedOut {
  readonly client: PoolClientLike
  /** Returns the connection to the pool, which reuses it or closes it. */
  readonly release: (reusable: boolean) => void
}

/** Begins a transaction. BEGIN and the statements of its opening are sent in one message. */
export async function openOnClient({ client, release }: CheckedOut, opening: Opening): Promise<Opened> {
  const { idleMilliseconds, statements = [] } = opening
  const limit = idleMilliseconds === undefined ? [] : [`SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idleMilliseconds)}`]
  const session = sessionOn(client, release)
  try {
    const answers = await session.send([`BEGIN${modesOf(opening)}`, ...limit, ...statements])
    return { session, answers: answers.slice(answers.length - statements.length) }
  } catch (error) {
    await session.rollback()
    throw error
  }
}

function sessionOn(client: PoolClientLike, release: (reusable: boolean) => void): Session {
  let over = false
  let isBusy = false

  async function ask(text: string, values?: unknown[]) {
    if (over) throw transactionEnded()
    isBusy = true
    try {
      return await client.query(text, values)
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
      const { rows, rowCount } = await ask(text, [...values])
      return { rows: rows as Record<string, unknown>[], rowCount: rowCount ?? rows.length }
    },
    async send(statements) {
      // For several statements, pg returns a list of results.
      return [await ask(statements.join(';\n'))].flat().map(({ rows }) => rows)
    },
    async commit() {
      const { command } = await ask('COMMIT').catch((error: unknown) => {
        end(isRefusal(error))
        throw error
      })
      end(true)
      if (command !== 'COMMIT') throw new IgnoredFailure()
    },
    async rollback() {
      if (over) return
      // ROLLBACK cannot be sent while a statement is running. Closing the connection makes PostgreSQL roll back.
      if (isBusy) return end(false)
      await ask('ROLLBACK').then(
        () => end(true),
        () => end(false)
      )
    }
  }
}
