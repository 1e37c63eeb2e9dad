import type { Postgres } from '@concordat/postgres'

/**
 * Where SQL can be sent. Decimals come back as strings, timestamps as ISO 8601 in UTC, `bigint` as a number;
 * a column that is NULL is left out of its row.
 */
export interface Queries {
  query<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

/** The service's database: PostgreSQL, or PGlite in a folder. The same SQL runs on both. */
export interface Database extends Queries {
  /**
   * Commits what the work did, or nothing of it when the work throws. Work that lost a race against another transaction
   * runs a second time, so it must not have effects outside the database.
   */
  transaction<Result>(work: (transaction: Queries) => Promise<Result>): Promise<Result>
  /** The same database, for the stores of packages. */
  readonly postgres: Postgres
  close(): Promise<void>
}
