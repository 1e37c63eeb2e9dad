/** How the database and the table are set up. */
export interface Setup {
  /** The persistence of the table, as `pg_class` has it. */
  readonly table: string | null
  readonly synchronousCommit: string
  readonly fsync: string
  /** `null` before PostgreSQL 14, which doesn't know it. */
  readonly checkInterval: string | null
}

/** What of it breaks a promise, and what to do about it. */
export function shortcomings({ table, synchronousCommit, fsync, checkInterval }: Setup, schema: string, isEmbedded: boolean): string[] {
  const name = `${schema}.idempotency_keys`
  const lines: string[] = []
  if (table === null) lines.push(`the table ${name} is missing. Run migrate(database, idempotencyMigrations) before the service starts.`)
  if (table === 'u') lines.push(`the table ${name} is UNLOGGED, so that a crash of PostgreSQL empties it. ALTER TABLE ${name} SET LOGGED.`)
  // What PGlite writes is in its folder when it answers, whatever its settings say.
  if (isEmbedded) return lines
  if (synchronousCommit === 'off') lines.push('synchronous_commit is off: a crash of PostgreSQL forgets the last answers. Turn it on.')
  if (fsync === 'off') lines.push('fsync is off: a crash of the machine may forget answers. Turn it on.')
  if (checkInterval === '0') {
    lines.push(
      'client_connection_check_interval is 0: the key of a process that is killed stays taken until its statement ends. Give the pool options "-c client_connection_check_interval=250".'
    )
  }
  return lines
}
