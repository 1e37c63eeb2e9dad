import { type PreparingClient, preparedQuery } from '@concordat/plugin-kit/wiring'

/** A client that runs statements: a pool or client of `pg`, PGlite, or an object that calls another driver or a query builder. */
export interface SqlClient extends PreparingClient {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>
}

/** Runs a statement, and lets a client that can do that prepare it. */
export async function rowsOf(client: SqlClient, prepares: boolean, text: string, values: unknown[]): Promise<object[]> {
  const prepare = prepares ? client[preparedQuery] : undefined
  return (await (prepare === undefined ? client.query(text, values) : prepare.call(client, text, values))).rows
}
