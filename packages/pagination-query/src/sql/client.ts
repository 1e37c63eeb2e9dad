/** A client that runs statements: a pool or client of `pg`, PGlite, or an object that calls another driver or a query builder. */
export interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>
}
