// SQLSTATE classes and codes (PostgreSQL, appendix A) with a more specific meaning for clients than an internal error.
const bySqlState = new Map([
  ['23503', 'CONFLICT'], // foreign key
  ['23505', 'CONFLICT'], // unique
  ['23P01', 'CONFLICT'], // exclusion
  ['40001', 'SERVICE_UNAVAILABLE'], // serialization failure
  ['40P01', 'SERVICE_UNAVAILABLE'], // deadlock
  ['55P03', 'SERVICE_UNAVAILABLE'], // lock not available
  ['57014', 'UPSTREAM_TIMEOUT'] // statement cancelled
])
const byClass = new Map([
  ['08', 'SERVICE_UNAVAILABLE'], // connection
  ['53', 'SERVICE_UNAVAILABLE'], // resources
  ['57', 'SERVICE_UNAVAILABLE'] // shutdown
])

/** Returns the error code for a database error with an SQLSTATE, as thrown by `pg` and PGlite. */
export function databaseCodeOf(thrown: object): string | undefined {
  const { code, severity } = thrown as { code?: unknown; severity?: unknown }
  // Other libraries have codes of five characters too. Only PostgreSQL errors have a severity.
  if (typeof code !== 'string' || typeof severity !== 'string') return undefined
  return bySqlState.get(code) ?? byClass.get(code.slice(0, 2))
}
