import { transactionEnded } from './errors.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session } from './session.ts'

// The SQLSTATE by which PGlite tells a COMMIT that was answered by ROLLBACK.
const inFailedTransaction = '25P02'

/** What PGlite answers. */
export interface PGliteAnswer {
  readonly rows: unknown[]
  readonly affectedRows?: number | undefined
}

/** A transaction of a PGlite, as far as it is used here. */
export interface PGliteTransaction {
  query(sql: string, params?: unknown[]): Promise<PGliteAnswer>
  exec(sql: string): Promise<PGliteAnswer[]>
}

/** A PGlite, as far as it is used here. */
export interface PGliteLike extends PGliteTransaction {
  transaction<Result>(work: (transaction: PGliteTransaction) => Promise<Result>): Promise<Result>
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>
}

/** Begins a transaction and keeps it open; everything else that PGlite is asked waits meanwhile. */
export function openOnPGlite(database: PGliteLike, opening: Opening): Promise<Opened> {
  const { statements = [] } = opening
  const modes = modesOf(opening)
  const verdict = Promise.withResolvers<void>()
  return new Promise((resolve, reject) => {
    const done = database.transaction(async (transaction) => {
      if (modes !== '') await transaction.exec(`SET TRANSACTION${modes}`)
      const answers = statements.length === 0 ? [] : await transaction.exec(statements.join(';\n'))
      resolve({ session: sessionOn(transaction, verdict, () => done), answers: answers.map(({ rows }) => rows) })
      await verdict.promise
    })
    done.catch(reject)
  })
}

function sessionOn(transaction: PGliteTransaction, verdict: PromiseWithResolvers<void>, done: () => Promise<void>): Session {
  let over = false
  const still = () => {
    if (over) throw transactionEnded()
    return transaction
  }

  return {
    async query(text, values) {
      const { rows, affectedRows } = await still().query(text, [...values])
      return { rows: rows as Record<string, unknown>[], rowCount: rows.length || (affectedRows ?? 0) }
    },
    send: async (statements) => (await still().exec(statements.join(';\n'))).map(({ rows }) => rows),
    async commit() {
      still()
      over = true
      verdict.resolve()
      await done().catch((error: unknown) => {
        throw (error as { readonly code?: unknown }).code === inFailedTransaction ? new IgnoredFailure() : error
      })
    },
    async rollback() {
      if (over) return
      over = true
      verdict.reject(new Error('rolled back'))
      await done().catch(() => {})
    }
  }
}
