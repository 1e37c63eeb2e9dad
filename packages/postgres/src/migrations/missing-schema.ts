/**
 * Returns one statement that creates a schema, unless it exists, and then runs the PL/pgSQL in `more`. `IF NOT EXISTS` alone requires the right to create
 * also where nothing is missing.
 */
export function schemaIfMissing(schema: string, more = ''): string {
  return `DO $missing$ BEGIN
  IF to_regnamespace('${schema}') IS NULL THEN CREATE SCHEMA IF NOT EXISTS ${schema}; END IF;
  ${more}
END $missing$`
}

/** Returns the error unchanged, or, if the role of the connection lacks a right, an error that begins with `problem` and names the remedy. */
export function withoutRights(error: unknown, problem: string): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  // insufficient_privilege
  if (code !== '42501') return error
  const database = /^permission denied for database (.+)$/.exec(String(message))?.[1]
  const command = database === undefined ? '' : `: GRANT CREATE ON DATABASE ${database} TO …`
  return new Error(
    `${problem}: ${String(message)}. Run it once with the role that owns the tables, or grant this role the right${command}.`,
    {
      cause: error
    }
  )
}
