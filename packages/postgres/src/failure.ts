import { isApiError } from '@concordat/api-error'
import { transactionUnavailable } from './errors.ts'
import { IgnoredFailure } from './session.ts'

const lostRace = new Set(['40001', '40P01'])
// Of SQLSTATE (PostgreSQL, appendix A): connection, authorization, database, resources, shutdown, and too long without a statement.
const fatal = /^(08|28|3D|53|57P|25P03)/
// A chain of causes ends; a circle of them doesn't.
const deepestCause = 5

/** Whether PostgreSQL refused to put a transaction in order with others, also where a query builder has wrapped its error. */
export function isConflict(error: unknown): boolean {
  let inner = error
  for (let depth = 0; depth < deepestCause && typeof inner === 'object' && inner !== null; depth += 1) {
    const { code, cause } = inner as { readonly code?: unknown; readonly cause?: unknown }
    if (typeof code === 'string' && lostRace.has(code)) return !isApiError(inner)
    inner = cause
  }
  return false
}

/** Whether the server has refused a statement, and the connection goes on. */
export function isRefusal(error: unknown): boolean {
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  // The severity belongs to the protocol; its words depend on the server's language.
  return typeof severity === 'string' && !fatal.test(String(code))
}

/** The error as it is, or `TRANSACTION_UNAVAILABLE` when it is neither the server's refusal nor anybody's mistake: the way to it is broken. */
export function withoutOutage(error: unknown): unknown {
  const isKnown = error instanceof IgnoredFailure || error instanceof TypeError || isApiError(error) || isRefusal(error)
  return isKnown ? error : transactionUnavailable(error)
}
