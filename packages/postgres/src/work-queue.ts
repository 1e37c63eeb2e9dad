import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Item, readQueueSettings, readWorkOptions, systemClock, type WorkQueue } from '@concordat/work-queue'
import { type AttachableClock, PgBoss, systemClock as realTime, TestClock } from 'pg-boss'
import { schemaIfMissing, withoutRights } from './missing-schema.ts'
import { requireSchema } from './postgres.ts'
import { readBacklogs } from './queue-backlogs.ts'
import { queueOnPGlite, queueOnPool } from './queue-database.ts'
import { jobInsertion } from './queue-insertion.ts'
import { type PostgresWorkQueueOptions, postgresWorkQueueOptions, type QueuePlace } from './queue-options.ts'
import { changed, interval, unlimited } from './queue-outcomes.ts'
import { type Pump, startPump } from './queue-pump.ts'
import { statisticsKeeper } from './queue-statistics.ts'

interface Line {
  readonly settings: ReturnType<typeof readQueueSettings>
  pump?: Pump | undefined
}

// The longest time that pg-boss allows. An attempt also has a heartbeat.
const longestAttemptSeconds = 86_400
const retentionSeconds = 86_400
const neverSeconds = 10 * 365 * 86_400
// unique_violation, duplicate_schema, duplicate_table, duplicate_object, duplicate_function
const madeMeanwhile = ['23505', '42P06', '42P07', '42710', '42723']
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Creates a work queue in a pool of PostgreSQL 13 or later, shared by all processes that work on it, or in a PGlite for a single process. While a
 * transaction is open in a PGlite, all other statements wait: inside a transaction, pass it to `enqueue`. You must end the pool or the PGlite yourself.
 */
export function postgresWorkQueue(place: QueuePlace, options: PostgresWorkQueueOptions = {}): WorkQueue {
  const { schema, clock = systemClock, onError } = postgresWorkQueueOptions.read(options)
  const database = 'connect' in place ? queueOnPool(place, onError) : queueOnPGlite(place)
  const lines = new Map<string, Line>()
  // The time of the database follows the test clock. The timers of pg-boss itself run in real time.
  const time = clock.follow && new TestClock(clock.now())
  const unfollow =
    time && clock.follow?.({ moveBy: (milliseconds) => time.tick(milliseconds), isBusy: () => pumps().some((pump) => pump.isBusy()) })
  const bossClock: AttachableClock | undefined = time && { ...realTime, now: () => time.now(), attach: (target) => time.attach(target) }
  const boss = new PgBoss({
    db: database.statements,
    backend: database.backend,
    schema: requireSchema(schema),
    createSchema: false,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: 2,
    // By default a day, after which it would delete the jobs of a day together.
    maintenanceIntervalSeconds: 3600,
    ...(bossClock && { clock: bossClock })
  })
  boss.on('error', onError)
  const insertion = jobInsertion(boss, database, schema)
  const onEnd = statisticsKeeper(database, schema, onError)
  let started: Promise<unknown> | undefined

  function lineOf(name: string) {
    const line = lines.get(name)
    if (line === undefined) throw new TypeError(`work-queue: the queue "${name}" is not defined. Call define("${name}") at startup.`)
    return line
  }

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

  async function createIfMissing(name: string, policy: 'standard' | 'key_strict_fifo') {
    const existing = await boss.getQueue(name)
    if (existing === null) await boss.createQueue(name, { policy })
    // This also caches the queue, so that no lookup is needed inside a transaction.
    await boss.findJobs(name, { id: randomUUID() })
    return existing ?? boss.getQueue(name)
  }

  function startAgain(error: unknown): never {
    started = undefined
    throw error
  }

  function pumps() {
    return [...lines.values()].flatMap(({ pump }) => pump ?? [])
  }

  function rowOf(
    name: string,
    { ordered, leaseSeconds }: Line['settings'],
    { id = randomUUID(), payload, key, part, delaySeconds = 0, trace }: Item
  ) {
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

  async function stop(line: Line, graceSeconds = 10) {
    const { pump } = line
    await pump?.stop(graceSeconds)
    if (line.pump === pump) line.pump = undefined
  }

  return {
    capabilities: { durable: true, transactional: true, distributed: database.backend === 'postgres' },
    async define(name, given = {}) {
      const settings = readQueueSettings(given)
      const { ordered } = settings
      await (started ??= begin().catch(startAgain))
      const policy = ordered ? 'key_strict_fifo' : 'standard'
      const created = await createIfMissing(name, policy).catch((error: unknown) => {
        throw withoutRights(error, `work-queue: the queue "${name}" cannot be defined`)
      })
      if (created?.policy !== policy) {
        throw new TypeError(
          `work-queue: the queue "${name}" was created ${ordered ? 'without' : 'with'} order, which cannot be changed. Use another name.`
        )
      }
      lines.set(name, { ...lines.get(name), settings })
    },
    async enqueue(name, items, transaction) {
      const { settings, pump } = lineOf(name)
      const rows = items.map((item) => rowOf(name, settings, item))
      const added = await (settings.ordered ? insertion.inOrder : insertion.insert)(name, rows, transaction)
      if (transaction === undefined) for (const { delaySeconds = 0 } of items) pump?.kickIn(delaySeconds)
      return added ?? []
    },
    work(name, handler, given) {
      const options = readWorkOptions(given)
      const line = lineOf(name)
      if (line.pump !== undefined)
        throw new TypeError(`work-queue: this process already has a worker for the queue "${name}". Stop that worker first.`)
      const { leaseSeconds } = line.settings
      line.pump = startPump({ boss, database, schema, name, leaseSeconds, clock, onEnd, onError }, handler, options)
      return (graceSeconds) => stop(line, graceSeconds)
    },
    async cancel(name, id) {
      const { pump } = lineOf(name)
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
      const { pump } = lineOf(name)
      const known = ids.filter((id) => uuid.test(id))
      if (known.length === 0) return 0
      const redriven = await database.transaction(async (transaction) => {
        const db = database.join(transaction)
        const count = changed(await boss.retry(name, known, { db }))
        for (const id of known) await boss.update(name, undefined, { id, retryLimit: unlimited, db })
        return count
      })
      pump?.kick()
      return redriven
    },
    async promote(name, ids, transaction) {
      const { pump } = lineOf(name)
      const db = transaction === undefined ? database.statements : database.join(transaction)
      const sql = `UPDATE ${schema}.job SET start_after = ${schema}.job_now()
        WHERE name = $1 AND id = ANY($2::uuid[]) AND state < 'active' AND start_after > ${schema}.job_now() RETURNING id`
      const { rows } = await db.executeSql(sql, [name, ids.filter((id) => uuid.test(id))])
      if (transaction === undefined) pump?.kick()
      return rows.length
    },
    kick: (name) => lineOf(name).pump?.kick(),
    backlog: (names) => readBacklogs(database, schema, names),
    async close(graceSeconds) {
      await Promise.all([...lines.values()].map((line) => stop(line, graceSeconds)))
      await boss.stop({ graceful: false })
      unfollow?.()
    }
  }
}
