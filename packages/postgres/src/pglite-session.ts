import { transactionEnded } from './errors.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session } from './session.ts'

// The SQLSTATE that PGlite reports when COMMIT rolled back.
const inFailedTransaction = '25P02'

/** The result of a statement on PGlite. */
export interface PGliteResult {
  readonly rows: unknown[]
  readonly affectedRows?: number | undefined
}

/** The part of a PGlite transaction that this package uses. */
export interface PGliteTransaction {
  query(sql: string, params?: unknown[]): Promise<PGliteResult>
  exec(sql: string): Promise<PGliteResult[]>
}

/** The part of a PGlite that this package uses. */
export interface PGliteLike extends PGliteTransaction {
  transaction<Result>(work: (transaction: PGliteTransaction) => Promise<Result>): Promise<Result>
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>
}

/** Begins a transaction and keeps it open. All other statements on this PGlite wait until it ends. */
export function openOnPGlite(database: PGliteLike, opening: Opening): Promise<Opened> {
  const { statements = [] } = opening
  const modes = modesOf(opening)
  const verdict = Promise.withResolvers<void>()
  return new Promise((resolve, reject) => {
    const done = database.transaction(async (transaction) => {
      if (modes !== '') await transaction.exec(`SET TRANSACTION${modes}`)
      const results = statements.length === 0 ? [] : await transaction.exec(statements.join(';\n'))
      resolve({ session: sessionOn(transaction, verdict, () => done), results: results.map(({ rows }) => rows) })
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
