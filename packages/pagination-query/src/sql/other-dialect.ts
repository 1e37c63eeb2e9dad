/** Returns the error for a client of another database. `found` shows its dialect. */
export function otherDialect(adapter: string, found: string, cause?: unknown): TypeError {
  return new TypeError(
    `pagination-query: ${adapter} runs the SQL of PostgreSQL, but its client is for another database (${found}). Use PostgreSQL, or an adapter of your own, which adapterContract tests.`,
    { cause }
  )
}
