import { randomUUID } from 'node:crypto'
import type { Item, Transaction, WorkQueue } from '@concordat/work-queue'
import type { JobInsert } from 'pg-boss'
import type { Engine } from './engine.ts'
import { type Line, type Lines, lineOf } from './lines.ts'
import { interval, unlimited } from './outcomes.ts'

type Insert = (name: string, rows: readonly JobInsert[], transaction: Transaction | undefined) => Promise<string[] | null>

// The longest time that pg-boss allows. An attempt also has a heartbeat.
const longestAttemptSeconds = 86_400
const retentionSeconds = 86_400
const neverSeconds = 10 * 365 * 86_400

/** Creates the function that adds jobs to a queue. */
export function enqueuing(engine: Engine, lines: Lines, kick: WorkQueue['kick']): WorkQueue['enqueue'] {
  const { insert, inOrder } = insertion(engine)
  return async (name, items, transaction) => {
    const { settings, pump } = lineOf(lines, name)
    const rows = items.map((item) => rowOf(name, settings, item))
    const added = await (settings.ordered ? inOrder : insert)(name, rows, transaction)
    if (transaction !== undefined) return added ?? []
    for (const { delaySeconds = 0 } of items) {
      if (delaySeconds > 0) pump?.kickIn(delaySeconds)
      else kick(name)
    }
    return added ?? []
  }
}

function rowOf(
  name: string,
  { ordered, leaseSeconds }: Line['settings'],
  { id = randomUUID(), payload, key, part, delaySeconds = 0, trace }: Item
): JobInsert {
  if (ordered && key === undefined)
    throw new TypeError(`work-queue: each job in the ordered queue "${name}" must have a key. Set key on each job.`)
  return {
    id,
    data: { payload, trace },
    startAfter: interval(delaySeconds),
    ...(key !== undefined && { group: { id: key, ...(part !== undefined && { tier: part }) } }),
    ...(ordered && key !== undefined && { singletonKey: key }),
    retryLimit: unlimited,
    retryDelay: 0,
    expireInSeconds: longestAttemptSeconds,
    heartbeatSeconds: leaseSeconds,
    deleteAfterSeconds: retentionSeconds,
    retentionSeconds: neverSeconds
  }
}

// One statement for any number of keys, in one order, so that two transactions do not wait for each other. Keys share 1,024 locks, because PostgreSQL has
// room for a few thousand in all.
const lockKeys = `
  SELECT count(pg_advisory_xact_lock(hashtext($1), slot)) FROM (
    SELECT DISTINCT hashtext(key) & 1023 AS slot FROM unnest($2::text[]) AS key ORDER BY slot
  ) AS slots`

/** Creates the functions that insert jobs and return the ids of those that did not exist. In order, those of a key are ordered by the commits. */
function insertion({ boss, database, schema }: Engine) {
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
