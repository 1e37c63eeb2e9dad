import type { Transaction } from '@concordat/work-queue'
import type { JobInsert, PgBoss } from 'pg-boss'
import type { QueueDatabase } from './queue-database.ts'

type Insert = (name: string, rows: readonly JobInsert[], transaction: Transaction | undefined) => Promise<string[] | null>

/** Inserts jobs, and returns the ids of those that did not exist. */
export interface JobInsertion {
  readonly insert: Insert
  /** The same for an ordered queue: the jobs of a key are ordered by the commits of their transactions. */
  readonly inOrder: Insert
}

/** Creates the functions that insert jobs into the tables of pg-boss. */
export function jobInsertion(boss: PgBoss, database: QueueDatabase, schema: string): JobInsertion {
  const insert: Insert = async (name, rows, transaction) =>
    boss.insert(name, [...rows], { returnId: true, ...(transaction && { db: database.join(transaction) }) })

  // pg-boss orders jobs by the start of their transactions, but one that began first may commit last. So a key is locked until the commit, and its
  // jobs get the time at which the lock was acquired, in the given order, and later than all jobs of the key that wait: clocks can stand still.
  async function insertLocked(name: string, rows: readonly JobInsert[], transaction: Transaction) {
    const db = database.join(transaction)
    // In one order, so that two transactions do not wait for each other.
    const keys = [...new Set(rows.map(({ singletonKey }) => `${schema} ${name} ${singletonKey}`))].toSorted()
    for (const key of keys) await db.executeSql('SELECT FROM pg_advisory_xact_lock(hashtextextended($1, 0))', [key])
    const added = await insert(name, rows, transaction)
    const statement = `
      UPDATE ${schema}.job AS added
      SET created_on = array_position($2::uuid[], added.id) * interval '1 microsecond' + greatest(
        ${schema}.job_now() + (SELECT clock_timestamp() - now()),
        (
          SELECT max(waiting.created_on) FROM ${schema}.job AS waiting
          WHERE waiting.name = $1 AND waiting.singleton_key = added.singleton_key AND waiting.id <> ALL($2::uuid[])
            AND waiting.state = 'created' AND NOT waiting.blocked AND waiting.policy = 'key_strict_fifo'
        )
      )
      WHERE added.name = $1 AND added.id = ANY($2::uuid[])`
    await db.executeSql(statement, [name, rows.map(({ id }) => id).filter((id) => added?.includes(id as string))])
    return added
  }

  return {
    insert,
    async inOrder(name, rows, transaction) {
      if (transaction !== undefined) return insertLocked(name, rows, transaction)
      let added: string[] | null = null
      await database.transaction(async (own) => {
        added = await insertLocked(name, rows, own)
      })
      return added
    }
  }
}
