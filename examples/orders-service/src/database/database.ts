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
  /** The same database, for transactions and the stores of packages. */
  readonly postgres: Postgres
  close(): Promise<void>
}
