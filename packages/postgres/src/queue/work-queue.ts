import type { WorkQueue } from '@concordat/work-queue'
import { readBacklogs } from './backlogs.ts'
import { changes } from './changing.ts'
import { definition } from './defining.ts'
import { openEngine } from './engine.ts'
import { enqueuing } from './enqueuing.ts'
import { isBusy, type Lines } from './lines.ts'
import type { PostgresWorkQueueOptions, QueuePlace } from './options.ts'
import { workers } from './working.ts'

/**
 * Creates a work queue in a pool of PostgreSQL 13 or later, shared by all processes that work on it, or in a PGlite for a single process. While a
 * transaction is open in a PGlite, all other statements wait: inside a transaction, pass it to `enqueue`. A worker listens on one connection of a pool of
 * three or more for jobs of other processes, and polls in any case. You must end the pool or the PGlite yourself.
 */
export function postgresWorkQueue(place: QueuePlace, options: PostgresWorkQueueOptions = {}): WorkQueue {
  const lines: Lines = new Map()
  const engine = openEngine(place, options, () => isBusy(lines))
  const { database, schema } = engine
  const { work, kick, close } = workers(engine, lines)
  return {
    clock: engine.clock,
    capabilities: { durable: true, transactional: true, distributed: database.backend === 'postgres' },
    define: definition(engine, lines),
    enqueue: enqueuing(engine, lines, kick),
    work,
    kick,
    ...changes(engine, lines, kick),
    backlog: (names) => readBacklogs(database, schema, names),
    async close(graceSeconds) {
      await close(graceSeconds)
      await engine.close()
    }
  }
}
