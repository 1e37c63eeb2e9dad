import type { Postgres } from '@concordat/postgres'
import type { PostgresQueueOptions } from '@concordat/postgres/work-queue'
import type { WorkQueue } from '@concordat/work-queue'

/**
 * Runs SQL statements. Decimals are returned as strings, timestamps as ISO 8601 in UTC, and `bigint` as a number. A column that is NULL
 * is left out of its row.
 */
export interface Queries {
  query<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
}

/** The service's database: PostgreSQL, or PGlite in a folder. The same SQL runs on both. */
export interface Database extends Queries {
  /** The same database, for transactions and the stores of packages. */
  readonly postgres: Postgres
  /**
   * Opens the queue for work that outlives its request, in the same database: work that is enqueued in a transaction is committed with
   * it. Close the queue before the database.
   */
  openQueue(options: PostgresQueueOptions): WorkQueue
  close(): Promise<void>
}
