import { callback, describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { Clock, Transaction } from '@concordat/work-queue'
import type { PoolLike } from '../connections/pool-session.ts'

/** The part of a PGlite that a queue uses. */
export interface WorkQueuePGlite extends Transaction {
  exec(sql: string): Promise<{ rows: unknown[] }[]>
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

/** A pool of `pg`, or a PGlite. */
export type QueuePlace = PoolLike | WorkQueuePGlite

/** The description of {@link PostgresWorkQueueOptions}. */
export const postgresWorkQueueOptions = describeOptions('postgres', {
  /** The schema of the job tables. */
  schema: value<string>({ default: 'concordat_queue' }),
  /** The source of the time: in tests, `testClock()`, with a separate pool. */
  clock: value<Clock>(),
  /** Called with failed connections and statements, and errors of `write`. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} })
})

/** Options of `postgresWorkQueue`. */
export interface PostgresWorkQueueOptions extends OptionsOf<typeof postgresWorkQueueOptions> {}
