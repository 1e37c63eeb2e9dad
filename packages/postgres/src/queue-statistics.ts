import type { QueueDatabase } from './queue-database.ts'

// Its size and its states are what counts, and 3,000 rows tell these as well as 30,000, which would be 400 ms of a processor.
const statistics = `SELECT set_config('default_statistics_target', '10', true)`
const firstAnalysisAfter = 500

/**
 * Has the table of the jobs analyzed whenever it may have doubled: before the first time, the planner takes it for empty, and reads all of
 * it to end one job. autovacuum comes a minute later, and in PGlite never. The answer is to be called for each job that has ended.
 */
export function statisticsKeeper(database: QueueDatabase, schema: string, onError: (error: unknown) => void): () => void {
  let ended = 0
  let next = firstAnalysisAfter

  return () => {
    ended += 1
    if (ended < next) return
    next *= 2
    database.statements.executeSql(`${statistics}; ANALYZE ${schema}.job`).catch(onError)
  }
}
