// The codes with which drivers of MySQL and MariaDB, SQLite and SQL Server refuse a statement.
const codes: ReadonlySet<unknown> = new Set(['ER_PARSE_ERROR', 'ERR_SQLITE_ERROR', 'SQLITE_ERROR', 'EREQUEST'])

/** Returns the error that names the remedy if the error is one of another database, and otherwise the error itself. */
export function knownDialect(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown }
  if (!codes.has(code)) return error
  return new TypeError(
    `pagination-query: runSql runs the SQL of PostgreSQL, but its client is for another database (${String(code)}). Use PostgreSQL, or an adapter of your own, which adapterContract tests.`,
    { cause: error }
  )
}
