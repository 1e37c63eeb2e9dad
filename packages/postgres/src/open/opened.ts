import { waitAtMost } from '@concordat/plugin-kit/deadline'
import type { WorkQueue } from '@concordat/work-queue'
import { AllConnectionsInUse } from '../connections/connection-gate.ts'
import { databaseUnavailable } from '../connections/errors.ts'
import { isOutage, refusedWrite } from '../connections/failure.ts'
import type { Postgres } from '../connections/postgres.ts'
import type { PostgresWorkQueueOptions } from '../queue/options.ts'
import { type Statements, statementsOn } from '../rows.ts'

/**
 * A database that `openDatabase` opened, for the SQL of the service. Rows are the same on PostgreSQL and PGlite, in every
 * time zone: `boolean` and numbers are those of JavaScript, a `bigint` beyond 2^53 - 1 is a BigInt, `json` is parsed, `bytea` is a Buffer, an array a
 * list, `timestamp` and `timestamptz` ISO 8601 in UTC, `interval` an ISO 8601 duration, all other types the text of PostgreSQL, such as `date` and
 * `numeric`. A column that is NULL is left out.
 */
export interface OpenDatabase extends Statements {
  /** This database for `migrate`, stores and the unit of work. */
  readonly postgres: Postgres
  /** Runs the work in a transaction. Commits when it resolves, and rolls back when it throws. For work that is not part of a request. */
  transaction<Result>(work: (transaction: Statements) => Promise<Result>): Promise<Result>
  /**
   * Runs the work in a transaction that sees the rows of one tenant, for jobs, events and exports. Rejects with a `TypeError` for a malformed tenant, and
   * without `tenantSetting`.
   */
  asTenant<Result>(tenant: string, work: (transaction: Statements) => Promise<Result>): Promise<Result>
  /** Opens a work queue in the same database, for which `pg-boss` must be installed. Close it before the database. */
  openQueue(options?: PostgresWorkQueueOptions): Promise<WorkQueue>
  /**
   * Rejects with a 503 `SERVICE_UNAVAILABLE` when the database cannot be reached or written, for example because its disk is full: it writes a temporary
   * file of 256 kB. Resolves with `busy` when all its connections are in use, so that this is not known. Calls at the same time share one check.
   */
  check(): Promise<'available' | 'busy'>
  /** Returns whether the error of a request means that further writes would fail too. After some, the next checks of PGlite require more space. */
  refusesWrites(error: unknown): boolean
  /** Closes the connections, and unlocks the folder. */
  close(): Promise<void>
}

const busyAfterMs = 1000
const rowBytes = 4096
const dataBytes = 2 ** 18
// PostgreSQL creates its write-ahead log in files of 16 MiB. Changes fail when there is no space for the next one, although smaller files can be written.
const logBytes = 17 * 2 ** 20

/** Returns the members of an {@link OpenDatabase} that run statements and transactions. */
export function queriesOf(
  postgres: Postgres
): Pick<OpenDatabase, keyof Statements | 'postgres' | 'transaction' | 'asTenant' | 'check' | 'refusesWrites'> {
  let checking: Promise<'available' | 'busy'> | undefined
  let neededBytes = dataBytes
  return {
    ...statementsOn(postgres.client),
    postgres,
    async check() {
      checking ??= checkSpace().finally(() => {
        checking = undefined
      })
      const current = checking
      // In this process, a wait is for the transaction of a request.
      if (postgres.isEmbedded) await waitAtMost(current, busyAfterMs)
      return postgres.isEmbedded && checking === current ? 'busy' : current
    },
    refusesWrites(error) {
      const refused = refusedWrite(error)
      // A server that cannot write its log stops, and a large file could take the last space from it.
      if (refused === 'log' && postgres.isEmbedded) neededBytes = logBytes
      return refused !== undefined
    },
    transaction: (work) => postgres.transaction((transaction) => work(statementsOn(transaction))),
    asTenant: (tenant, work) => postgres.asTenant(tenant, (transaction) => work(statementsOn(transaction)))
  }

  async function checkSpace() {
    const outcome = await checkWrites(postgres.background, neededBytes)
    if (outcome === 'available') neededBytes = dataBytes
    return outcome
  }
}

// Rows that do not fit into memory are written to the disk of the tables. Nothing of them remains, and no table grows with the checks. A few wide rows
// take a fifth of the time of many narrow ones, in which PGlite stops this process.
function temporaryFile(bytes: number) {
  return [
    "SELECT set_config('work_mem', '64kB', true)",
    `WITH kept AS MATERIALIZED (SELECT repeat('x', ${rowBytes}) FROM generate_series(1, ${bytes / rowBytes})) SELECT count(*) FROM kept`,
    "SELECT current_setting('transaction_read_only')"
  ]
}

async function checkWrites(postgres: Postgres, bytes: number): Promise<'available' | 'busy'> {
  try {
    const { session, results } = await postgres.open({ statements: temporaryFile(bytes) })
    await session.rollback()
    if (results.at(-1)?.[0]?.[0] === 'on') throw new Error('postgres: the database is read-only.')
    return 'available'
  } catch (error) {
    if (error instanceof AllConnectionsInUse) return 'busy'
    throw isOutage(error) ? databaseUnavailable(error) : error
  }
}
