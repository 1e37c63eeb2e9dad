import type { QueueBacklog } from '@concordat/work-queue'
import type { QueueDatabase } from './database.ts'

const maxCounted = 10_000

/** Counts the jobs of queues, and finds the oldest that waits. Indexes of pg-boss have the jobs that have not ended, by their queue. */
export async function readBacklogs({ statements }: QueueDatabase, schema: string, names: readonly string[]): Promise<QueueBacklog[]> {
  const count = (condition: string) =>
    `(SELECT count(*)::int FROM (SELECT FROM ${schema}.job WHERE name = queue.name AND ${condition} LIMIT ${maxCounted}) AS counted)`
  const oldest = `SELECT created_on FROM ${schema}.job WHERE name = queue.name AND state < 'active' AND NOT blocked
    ORDER BY priority DESC, created_on LIMIT 1`
  const sql = `SELECT queue.name,
      ${count(`state IN ('created', 'retry') AND start_after <= ${schema}.job_now()`)} AS waiting,
      ${count(`state IN ('created', 'retry') AND start_after > ${schema}.job_now()`)} AS delayed,
      ${count("state = 'active'")} AS running,
      COALESCE(extract(epoch FROM ${schema}.job_now() - (${oldest})), 0)::float8 AS "oldestSeconds"
    FROM unnest($1::text[]) AS queue (name)`
  return (await statements.executeSql(sql, [[...names]])).rows as QueueBacklog[]
}
