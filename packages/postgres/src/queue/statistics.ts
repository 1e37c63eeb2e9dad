import type { QueueDatabase } from './database.ts'

// Only the size and the states matter. A sample of 3,000 rows shows these as well as one of 30,000, which takes 400 ms of CPU time.
const statistics = `SELECT set_config('default_statistics_target', '10', true)`
const firstAnalysisAfter = 500

/**
 * Creates a function to call for each job that has ended. It runs ANALYZE on the job table each time their number has doubled: until then, the planner
 * assumes that the table is empty and reads all of it. autovacuum runs a minute later, and never in PGlite.
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
