import { transactionEnded } from './errors.ts'
import { isRefusal } from './failure.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session } from './session.ts'

/** What `pg` answers. */
export interface PoolAnswer {
  readonly rows: unknown[]
  readonly rowCount?: number | null
}

/** A client of `pg`, as far as it is used here. */
export interface PoolClientLike {
  query(sql: string, params?: unknown[]): Promise<PoolAnswer & { readonly command?: string }>
  release(destroy?: boolean | Error): void
  on(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
  removeListener(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
}

/** A connection out of its pool. */
export interface CheckedOut {
  readonly client: PoolClientLike
  /** Gives it back, to be used again or to be ended. */
  readonly release: (reusable: boolean) => void
}

/** Begins a transaction; BEGIN and all that belongs to it are one message. */
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
      // Of several statements, pg answers a list.
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
      // Nothing can follow a statement that still runs: without its connection PostgreSQL rolls back.
      if (isBusy) return end(false)
      await ask('ROLLBACK').then(
        () => end(true),
        () => end(false)
      )
    }
  }
}
