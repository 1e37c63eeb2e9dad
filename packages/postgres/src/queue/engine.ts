import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, systemClock } from '@concordat/work-queue'
import { type AttachableClock, PgBoss, systemClock as realTime, TestClock } from 'pg-boss'
import { requireSchema } from '../connections/postgres.ts'
import { schemaIfMissing, withoutRights } from '../migrations/missing-schema.ts'
import { type QueueDatabase, queueOnPGlite, queueOnPool } from './database.ts'
import { type PostgresWorkQueueOptions, postgresWorkQueueOptions, type QueuePlace } from './options.ts'
import { statisticsKeeper } from './statistics.ts'

/** What the functions of a work queue share. */
export interface Engine {
  readonly boss: PgBoss
  readonly database: QueueDatabase
  readonly schema: string
  readonly clock: Clock
  /** Called for each job that has ended. */
  readonly onEnd: () => void
  readonly onError: (error: unknown) => void
  /** Creates the tables if they are missing. */
  readonly start: () => Promise<unknown>
  readonly close: () => Promise<void>
}

/** What the parts of one worker share. */
export interface QueueParts extends Engine {
  readonly name: string
  readonly leaseSeconds: number
}

// unique_violation, duplicate_schema, duplicate_table, duplicate_object, duplicate_function
const madeMeanwhile = ['23505', '42P06', '42P07', '42710', '42723']

/** Opens pg-boss in the database, without its workers and its schedules. `isBusy` tells a test clock whether work of this process goes on. */
export function openEngine(place: QueuePlace, options: PostgresWorkQueueOptions, isBusy: () => boolean): Engine {
  const { schema: name, clock = systemClock, onError } = postgresWorkQueueOptions.read(options)
  const schema = requireSchema(name)
  const database = 'connect' in place ? queueOnPool(place, onError) : queueOnPGlite(place)
  const { bossClock, unfollow } = followed(clock, isBusy)
  const boss = new PgBoss({
    db: database.statements,
    backend: database.backend,
    schema,
    createSchema: false,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: 2,
    // By default a day, after which it would delete the jobs of a day together.
    maintenanceIntervalSeconds: 3600,
    ...(bossClock && { clock: bossClock })
  })
  boss.on('error', onError)
  let started: Promise<unknown> | undefined

  // When several processes start at the same time on an empty database, one creates the tables and the others fail and try again.
  async function begin() {
    for (let failures = 0; ; failures += 1) {
      try {
        await database.statements.executeSql(schemaIfMissing(schema))
        return await boss.start()
      } catch (error) {
        if (failures === 5 || !madeMeanwhile.includes(String((error as { readonly code?: unknown }).code)))
          throw withoutRights(error, `work-queue: the tables of the queues cannot be created in the schema ${schema}`)
        await delay(100 * 2 ** failures)
      }
    }
  }

  function startAgain(error: unknown): never {
    started = undefined
    throw error
  }

  return {
    boss,
    database,
    schema,
    clock,
    onEnd: statisticsKeeper(database, schema, onError),
    onError,
    start: () => (started ??= begin().catch(startAgain)),
    async close() {
      await boss.stop({ graceful: false })
      unfollow?.()
    }
  }
}

/** The time of the database follows a test clock. The timers of pg-boss itself run in real time. */
function followed(clock: Clock, isBusy: () => boolean) {
  if (clock.follow === undefined) return {}
  const time = new TestClock(clock.now())
  const bossClock: AttachableClock = { ...realTime, now: () => time.now(), attach: (target) => time.attach(target) }
  return { bossClock, unfollow: clock.follow({ moveBy: (milliseconds) => time.tick(milliseconds), isBusy }) }
}
