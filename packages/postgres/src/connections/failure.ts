import { isApiError } from '@concordat/plugin-kit/api-error'
import { transactionConflict, transactionRolledBack, transactionUnavailable } from './errors.ts'
import { IgnoredFailure } from './session.ts'

interface Failure {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
}

const lostRace = new Set(['40001', '40P01'])
// The disk is full, the database is read-only, and a failure of the disk.
const refusedWrites = new Set(['53100', '25006', '58030'])
// Classes of SQLSTATE (PostgreSQL, appendix A): connection, authorization, database, resources, shutdown, and idle in transaction.
const fatal = /^(08|28|3D|53|57P|25P03)/
// A circular chain of causes has no end.
const deepestCause = 5

// A query builder may have wrapped the error of the driver.
function firstWithCode(error: unknown, codes: ReadonlySet<string>): Failure | undefined {
  let inner = error
  for (let depth = 0; depth < deepestCause && typeof inner === 'object' && inner !== null; depth += 1) {
    const { code, cause } = inner as Failure
    if (typeof code === 'string' && codes.has(code)) return inner
    inner = cause
  }
  return undefined
}

/** Returns whether the error, or one of its causes, is a PostgreSQL serialization failure or deadlock. */
export function isConflict(error: unknown): boolean {
  const conflict = firstWithCode(error, lostRace)
  return conflict !== undefined && !isApiError(conflict)
}

/** Returns what the database refuses to write by the error or one of its causes: `log` if the write-ahead log cannot grow, otherwise `data`. */
export function refusedWrite(error: unknown): 'data' | 'log' | undefined {
  const refusal = firstWithCode(error, refusedWrites)
  return refusal && (String(refusal.message).includes('pg_wal') ? 'log' : 'data')
}

/** Returns whether the server refused a statement and the connection can still be used. */
export function isRefusal(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  // The severity is part of the protocol. Its text depends on the language of the server, so FATAL alone does not tell.
  return typeof severity === 'string' && severity !== 'FATAL' && !fatal.test(String(code))
}

/** Returns whether a statement was refused because an earlier one in its transaction had failed, and the handler had ignored that. */
export function isIgnored(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === '25P02'
}

/** Returns whether the error comes from a failed connection or an overdue result, and not from a rejected statement or a mistake of the service. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof IgnoredFailure || error instanceof TypeError || isApiError(error) || isRefusal(error))
}

/** Returns the error unchanged, or `TRANSACTION_UNAVAILABLE` when the connection to the server failed. */
export function withoutOutage(error: unknown): unknown {
  return isOutage(error) ? transactionUnavailable(error) : error
}

/** Returns the error with which a transaction that could not be committed fails. */
export function endingFailure(error: unknown): unknown {
  return error instanceof IgnoredFailure ? transactionRolledBack(error) : isConflict(error) ? transactionConflict(error) : error
}
