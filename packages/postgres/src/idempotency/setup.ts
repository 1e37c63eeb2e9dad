/** The settings of the database, and the persistence of the table, from `pg_class`. PostgreSQL 13 has no `checkInterval`. */
export type Setup = Readonly<Record<'table' | 'checkInterval', string | null> & Record<'synchronousCommit' | 'fsync', string>>

/** Returns a message for each setting that breaks a guarantee of the store, with how to fix it. */
export function shortcomings({ table, synchronousCommit, fsync, checkInterval }: Setup, schema: string, isEmbedded: boolean): string[] {
  const name = `${schema}.idempotency_keys`
  const lines: string[] = []
  if (table === null) lines.push(`the table ${name} is missing. Run migrate(database, idempotencyMigrations) before the service starts.`)
  if (table === 'u') lines.push(`the table ${name} is UNLOGGED: a crash of PostgreSQL empties it. Run ALTER TABLE ${name} SET LOGGED.`)
  // PGlite has written its data to its folder when a statement returns, whatever its settings are.
  if (isEmbedded) return lines
  if (synchronousCommit === 'off') lines.push('synchronous_commit is off: a crash of PostgreSQL loses the last responses. Turn it on.')
  if (fsync === 'off') lines.push('fsync is off: a crash of the machine may lose responses. Turn it on.')
  if (checkInterval === '0') {
    lines.push(
      'client_connection_check_interval is 0: the key of a process that is killed stays locked until its statement ends. Set the pool options to "-c client_connection_check_interval=250".'
    )
  }
  return lines
}
