import type { Postgres } from '@concordat/postgres'
import type { PostgresQueueOptions } from '@concordat/postgres/work-queue'
import type { WorkQueue } from '@concordat/work-queue'

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
  /** Work that outlives its request, in the same database: enqueued in a transaction of it, it is committed with that. Close it first. */
  openQueue(options: PostgresQueueOptions): WorkQueue
  close(): Promise<void>
}
