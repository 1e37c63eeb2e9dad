import { isApiError } from '@concordat/api-error'
import { transactionUnavailable } from './errors.ts'
import { IgnoredFailure } from './session.ts'

const lostRace = new Set(['40001', '40P01'])
// Classes of SQLSTATE (PostgreSQL, appendix A): connection, authorization, database, resources, shutdown, and idle in transaction.
const fatal = /^(08|28|3D|53|57P|25P03)/
// A circular chain of causes has no end.
const deepestCause = 5

/** Tells whether PostgreSQL could not serialize a transaction with others, also when a query builder has wrapped the error. */
export function isConflict(error: unknown): boolean {
  let inner = error
  for (let depth = 0; depth < deepestCause && typeof inner === 'object' && inner !== null; depth += 1) {
    const { code, cause } = inner as { readonly code?: unknown; readonly cause?: unknown }
    if (typeof code === 'string' && lostRace.has(code)) return !isApiError(inner)
    inner = cause
  }
  return false
}

/** Tells whether the server refused a statement and the connection can still be used. */
export function isRefusal(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  // The severity is part of the protocol. Its text depends on the language of the server.
  return typeof severity === 'string' && !fatal.test(String(code))
}

/**
 * Returns the error unchanged when the server refused the statement or the service made a mistake. Returns `TRANSACTION_UNAVAILABLE` for
 * any other error, because the connection to the server failed.
 */
export function withoutOutage(error: unknown): unknown {
  const isKnown = error instanceof IgnoredFailure || error instanceof TypeError || isApiError(error) || isRefusal(error)
  return isKnown ? error : transactionUnavailable(error)
}
