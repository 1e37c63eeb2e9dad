import type { Transaction } from '@concordat/work-queue'
import type { JobInsert, PgBoss } from 'pg-boss'
import type { QueueDatabase } from './queue-database.ts'

type Insert = (name: string, rows: readonly JobInsert[], transaction: Transaction | undefined) => Promise<string[] | null>

// One statement for any number of keys, in one order, so that two transactions do not wait for each other. Keys share 1,024 locks, because PostgreSQL has
// room for a few thousand in all.
const lockKeys = `
  SELECT count(pg_advisory_xact_lock(hashtext($1), slot)) FROM (
    SELECT DISTINCT hashtext(key) & 1023 AS slot FROM unnest($2::text[]) AS key ORDER BY slot
  ) AS slots`

/** Creates the functions that insert jobs and return the ids of those that did not exist. In order, those of a key are ordered by the commits. */
export function jobInsertion(boss: PgBoss, database: QueueDatabase, schema: string) {
  const insert: Insert = async (name, rows, transaction) =>
    boss.insert(name, [...rows], { returnId: true, ...(transaction && { db: database.join(transaction) }) })

  // pg-boss orders jobs by the start of their transactions, but one that began first may commit last. So a key is locked until the commit, and its
  // jobs get the time at which the lock was acquired, in the given order, and later than all jobs of the key that wait: clocks can stand still.
  async function insertLocked(name: string, rows: readonly JobInsert[], transaction: Transaction) {
    const db = database.join(transaction)
    await db.executeSql(lockKeys, [`${schema} ${name}`, rows.map(({ singletonKey }) => singletonKey)])
    const added = await insert(name, rows, transaction)
    const statement = `
      WITH given AS MATERIALIZED (
        SELECT id, position FROM unnest($2::uuid[]) WITH ORDINALITY AS given (id, position)
      )
      UPDATE ${schema}.job AS added
      SET created_on = given.position * interval '1 microsecond' + greatest(
        ${schema}.job_now() + (SELECT clock_timestamp() - now()),
        (
          SELECT max(waiting.created_on) FROM ${schema}.job AS waiting
          WHERE waiting.name = $1 AND waiting.singleton_key = added.singleton_key AND waiting.id NOT IN (SELECT id FROM given)
            AND waiting.state = 'created' AND NOT waiting.blocked AND waiting.policy = 'key_strict_fifo'
        )
      )
      FROM given WHERE added.name = $1 AND added.id = given.id`
    const isAdded = new Set(added)
    await db.executeSql(statement, [name, rows.map(({ id }) => id).filter((id) => isAdded.has(id as string))])
    return added
  }

  const inOrder: Insert = (name, rows, transaction) =>
    transaction === undefined ? database.transaction((own) => insertLocked(name, rows, own)) : insertLocked(name, rows, transaction)

  return { insert, inOrder }
}
