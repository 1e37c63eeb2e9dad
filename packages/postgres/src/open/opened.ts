import type { WorkQueue } from '@concordat/work-queue'
import type { Postgres } from '../postgres.ts'
import { type Statements, statementsOn } from '../rows/statements.ts'
import { runInSession } from '../run-in.ts'
import type { PostgresWorkQueueOptions } from '../work-queue.ts'

/**
 * A database that `openDatabase` opened. Its queries are for the SQL of the service. In rows, `numeric` is a string, `bigint` a number,
 * `timestamptz` an ISO 8601 string in UTC, and a column that is NULL is left out.
 */
export interface OpenDatabase extends Statements {
  /** This database as a `Postgres`, to pass to `migrate`, to stores and to the unit of work. */
  readonly postgres: Postgres
  /** Runs the work in a transaction. Commits when it resolves, and rolls back when it throws. For work that is not part of a request. */
  transaction<Result>(work: (transaction: Statements) => Promise<Result>): Promise<Result>
  /**
   * Opens the work queue in the same database: work that is enqueued in a transaction is committed with it. Close the queue before the
   * database. Rejects when `pg-boss` is not installed.
   */
  openQueue(options?: PostgresWorkQueueOptions): Promise<WorkQueue>
  /**
   * Rejects with a 503 `SERVICE_UNAVAILABLE` when the database cannot be reached, for readiness checks. On a server, it needs no connection of the
   * requests. Calls at the same time share one query.
   */
  check(): Promise<void>
  /** Closes the connections, and unlocks the folder. */
  close(): Promise<void>
}

/** Returns the members of an {@link OpenDatabase} that run statements and transactions. */
export function queriesOf(postgres: Postgres): Pick<OpenDatabase, keyof Statements | 'postgres' | 'transaction' | 'check'> {
  const background = statementsOn(postgres.background.client)
  let checking: Promise<unknown> | undefined
  return {
    ...statementsOn(postgres.client),
    postgres,
    async check() {
      checking ??= background.query('SELECT 1').finally(() => {
        checking = undefined
      })
      await checking
    },
    transaction: (work) => runInSession(postgres.open({}), (transaction) => work(statementsOn(transaction)))
  }
}
