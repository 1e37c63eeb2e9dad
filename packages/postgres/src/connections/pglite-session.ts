import { setImmediate } from 'node:timers/promises'
import { transactionEnded } from './errors.ts'
import { isIgnored } from './failure.ts'
import { type MessageStatement, type Rows, textOf } from './message.ts'
import { IgnoredFailure, modesOf, type Opened, type Opening, type Session, type Statement } from './session.ts'

// The oids of the types that PGlite, pg or a data layer on pg parses (catalog pg_type); columns of other types are text on all of them.
const parsedOids = [
  16, 17, 20, 21, 23, 25, 26, 114, 600, 700, 701, 718, 790, 1043, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 3802, 143, 199, 651, 791,
  1000, 1001, 1005, 1007, 1008, 1009, 1014, 1015, 1016, 1017, 1021, 1022, 1028, 1040, 1041, 1115, 1182, 1183, 1185, 1187, 1231, 1270, 1561,
  1563, 2951, 3807, 3907
]

/** The result of a statement on PGlite. */
interface PGliteResult {
  readonly rows: unknown[]
  readonly affectedRows?: number | undefined
  readonly rowCount?: number | undefined
}

/** The form of a result on PGlite. Parsers are keyed by the oid of the type of a column, and replace those of the database. */
interface PGliteQueryOptions {
  readonly rowMode: 'array' | 'object'
  readonly parsers: Record<number, (text: string, oid?: number) => unknown>
}

/** The part of a PGlite that this package uses. */
export interface PGliteLike {
  query(sql: string, params?: unknown[], options?: PGliteQueryOptions): Promise<PGliteResult>
  exec(sql: string, options?: PGliteQueryOptions): Promise<PGliteResult[]>
  transaction<Result>(work: (transaction: Pick<PGliteLike, 'query' | 'exec'>) => Promise<Result>): Promise<Result>
  listen(channel: string, onMessage: (payload: string) => void): Promise<() => Promise<void>>
}

/**
 * Resolves after a turn of the event loop. A statement on PGlite ends without one, so that a job with many of them would let no request, timer or health
 * check of the process run before its end. Awaited before each statement.
 */
export function turnOfOthers(): Promise<void> {
  return setImmediate()
}

/** Begins a transaction with the `first` statements and those of its opening, and keeps it open. All other statements on this PGlite wait until it ends. */
export function openOnPGlite(database: PGliteLike, opening: Opening, first: readonly MessageStatement[]): Promise<Opened> {
  const { statements: later = [] } = opening
  const statements = [...first, ...later]
  const modes = modesOf(opening)
  const verdict = Promise.withResolvers<void>()
  return new Promise((resolve, reject) => {
    const done = database.transaction(async (transaction) => {
      if (modes !== '') await transaction.exec(`SET TRANSACTION${modes}`)
      const results = statements.length === 0 ? [] : await fieldsOf(transaction, textOf(statements))
      resolve({ session: sessionOn(transaction, verdict, () => done), results: results.slice(first.length) })
      await verdict.promise
    })
    done.catch(reject)
  })
}

function sessionOn(
  transaction: Pick<PGliteLike, 'query' | 'exec'>,
  verdict: PromiseWithResolvers<void>,
  done: () => Promise<void>
): Session {
  let over = false
  const still = () => {
    if (over) throw transactionEnded()
    return transaction
  }

  return {
    async query(text, values) {
      await turnOfOthers()
      const { rows, affectedRows } = await still().query(text, [...values])
      return { rows: rows as Record<string, unknown>[], rowCount: rows.length || (affectedRows ?? 0) }
    },
    async execute({ text, values = [], rowMode, types }) {
      await turnOfOthers()
      const result = await still().query(text, values, { rowMode: rowMode ?? 'object', parsers: types ? parsersOf(types) : {} })
      return { ...result, rowCount: result.rowCount ?? null }
    },
    send: async (statements) => fieldsOf(still(), textOf(statements)),
    async commit(last = []) {
      if (last.length > 0) {
        await still()
          .exec(textOf(last))
          .catch(async (error: unknown) => {
            await rollback()
            throw isIgnored(error) ? new IgnoredFailure() : error
          })
      }
      still()
      over = true
      verdict.resolve()
      await done().catch((error: unknown) => {
        // PGlite reports so that COMMIT rolled back.
        throw isIgnored(error) ? new IgnoredFailure() : error
      })
    },
    rollback
  }

  async function rollback() {
    if (over) return
    over = true
    verdict.reject(new Error('rolled back'))
    await done().catch(() => {})
  }
}

/** Runs statements, and returns the fields of their rows as text. */
export async function fieldsOf(database: Pick<PGliteLike, 'exec'>, text: string): Promise<Rows[]> {
  const results = await database.exec(text, { rowMode: 'array', parsers: asText })
  return results.map(({ rows }) => rows as Rows)
}

// PGlite finds a parser by its key, pg by a function.
function parsersOf(types: NonNullable<Statement['types']>) {
  const parse = (text: string, oid = 0) => types.getTypeParser(oid, 'text')(text)
  return Object.fromEntries(parsedOids.map((oid) => [oid, parse]))
}

const asText = parsersOf({ getTypeParser: () => (text) => text })
