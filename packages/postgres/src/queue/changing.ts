import type { WorkQueue } from '@concordat/work-queue'
import type { Engine } from './engine.ts'
import { type Lines, lineOf } from './lines.ts'
import { changed, unlimited } from './outcomes.ts'

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Creates the functions that change jobs by their ids. */
export function changes(
  { boss, database, schema }: Engine,
  lines: Lines,
  kick: WorkQueue['kick']
): Pick<WorkQueue, 'cancel' | 'redrive' | 'promote'> {
  return {
    async cancel(name, id) {
      const { pump } = lineOf(lines, name)
      if (!uuid.test(id)) return false
      const isTaken =
        changed(await boss.cancel(name, id)) > 0 ||
        (await database.transaction(async (transaction) => {
          const db = database.join(transaction)
          return changed(await boss.retry(name, id, { db })) > 0 && changed(await boss.cancel(name, id, { db })) > 0
        }))
      pump?.release(id)
      pump?.kick()
      return isTaken
    },
    async redrive(name, ids) {
      lineOf(lines, name)
      const known = ids.filter((id) => uuid.test(id))
      if (known.length === 0) return 0
      const redriven = await database.transaction(async (transaction) => {
        const db = database.join(transaction)
        const count = changed(await boss.retry(name, known, { db }))
        for (const id of known) await boss.update(name, undefined, { id, retryLimit: unlimited, db })
        return count
      })
      kick(name)
      return redriven
    },
    async promote(name, ids, transaction) {
      lineOf(lines, name)
      const db = transaction === undefined ? database.statements : database.join(transaction)
      const sql = `UPDATE ${schema}.job SET start_after = ${schema}.job_now()
        WHERE name = $1 AND id = ANY($2::uuid[]) AND state < 'active' AND start_after > ${schema}.job_now() RETURNING id`
      const { rows } = await db.executeSql(sql, [name, ids.filter((id) => uuid.test(id))])
      if (transaction === undefined) kick(name)
      return rows.length
    }
  }
}
