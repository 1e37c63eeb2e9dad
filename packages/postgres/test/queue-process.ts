// A process for the tests that kill processes: `node queue-process.ts <role> <where> <schema> [place] [turn]`. It stops at the place, at
// the given turn, and prints the name of the place. The test kills it there.
import { flushCompileCache } from 'node:module'
import { fromPGlite, fromPool } from '@concordat/postgres'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { startPGlite } from '@concordat/test-harness/pglite'
import { isLong } from '@concordat/test-harness/scale'
import { until } from '@concordat/test-harness/until'
import type { Claim, Transaction } from '@concordat/work-queue'
import { Pool } from 'pg'

const [role, where = '', schema = '', placeToStop, turnToStop = 0] = process.argv.slice(2)
let turns = 0
const { database, queue, inTransaction } = where.startsWith('postgres:') ? onServer() : await inFolder()
await database.query(`CREATE SCHEMA IF NOT EXISTS ${schema}_results`)
await database.query(`CREATE TABLE IF NOT EXISTS ${schema}_results.wanted (job uuid)`)
await database.query(`CREATE TABLE IF NOT EXISTS ${schema}_results.results (job uuid, attempt integer)`)
await queue.define('work')
// A process that is killed does not write its compile cache at exit.
flushCompileCache()

if (role === 'victim') await enqueueAndWork()
if (role === 'survivor') await finish()
if (role === 'sharer') await share()

async function enqueueAndWork() {
  await inTransaction(async (open) => {
    await enqueueWanted(open, 4)
    await pass('enqueued')
  })
  await pass('committed')
  await inTransaction(async (open) => {
    await queue.enqueue('work', [{ payload: 'rolled back' }], open)
    throw new Error('rolled back')
  }).catch(() => {})
  queue.work('work', (claim) => writeResult(claim), { concurrency: 2 })
}

async function finish() {
  if (!isLong) await passLeases()
  const start = Date.now()
  queue.work('work', (claim) => writeResult(claim), { concurrency: 10 })
  await until(async () => {
    const [counts] = await database.query<{ unfinished: number }>(`SELECT json_build_object(
      'wanted', (SELECT count(*) FROM ${schema}_results.wanted),
      'found', (SELECT count(DISTINCT job) FROM ${schema}_results.results),
      'rows', (SELECT count(*) FROM ${schema}_results.results),
      'again', (SELECT count(*) FROM ${schema}_results.results WHERE attempt > 1),
      'unfinished', (SELECT count(*) FROM ${schema}.job WHERE name = 'work' AND state IN ('created', 'retry', 'active')),
      'strangers', (SELECT count(*) FROM ${schema}_results.results WHERE job NOT IN (SELECT job FROM ${schema}_results.wanted))
    )::text AS json`)
    if (counts?.unfinished !== 0) return false
    // No job is left that could be done twice.
    const milliseconds = Date.now() - start
    await queue.close()
    exit({ ...counts, milliseconds })
    return true
  }, 50)
}

/** Expires the default lease of the jobs of the killed processes. The long tier waits for it instead. */
async function passLeases() {
  await database.query(`UPDATE ${schema}.job SET heartbeat_on = heartbeat_on - interval '10 seconds' WHERE state = 'active'`)
}

async function share() {
  const done: string[] = []
  process.once('SIGTERM', async () => {
    await queue.close()
    exit(done)
  })
  queue.work('work', work, { concurrency: 10 })
  async function work({ id }: Claim) {
    done.push(id)
    return { done: true } as const
  }
  say('ready')
}

async function writeResult({ id, payload, attempt }: Claim) {
  if (payload === 'rolled back') throw new Error('a job of a transaction that was rolled back was done')
  await pass('begun')
  await pass('ending')
  return {
    done: true as const,
    async write(open: Transaction | undefined) {
      await open?.query(`INSERT INTO ${schema}_results.results (job, attempt) VALUES ($1, $2)`, [id, attempt])
      await pass('written')
    }
  }
}

async function enqueueWanted(open: Transaction, count: number) {
  const ids = await queue.enqueue(
    'work',
    Array.from({ length: count }, () => ({ payload: null })),
    open
  )
  for (const id of ids) await open.query(`INSERT INTO ${schema}_results.wanted (job) VALUES ($1)`, [id])
}

function onServer() {
  const pool = new Pool({ connectionString: where, max: 5 })
  const inTransaction = async (work: (open: Transaction) => Promise<void>) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await work(client)
      await client.query('COMMIT')
    } catch {
      await client.query('ROLLBACK')
    } finally {
      client.release()
    }
  }
  return { database: fromPool(pool), queue: postgresWorkQueue(pool, { schema, onError: warn }), inTransaction }
}

async function inFolder() {
  const pglite = await startPGlite(where)
  const inTransaction = (work: (open: Transaction) => Promise<void>) => pglite.transaction((open) => work(open))
  return { database: fromPGlite(pglite), queue: postgresWorkQueue(pglite, { schema, onError: warn }), inTransaction }
}

/** Returns, except at the place where the test kills this process. */
async function pass(place: string) {
  if (place !== placeToStop || turns++ < Number(turnToStop)) return
  say(place)
  await new Promise(() => {})
}

function say(what: string) {
  process.stdout.write(`${what}\n`)
}

function warn(error: unknown) {
  process.stderr.write(`${String(error)}\n`)
}

function exit(response: unknown) {
  process.stdout.write(`${JSON.stringify(response)}\n`, () => process.exit())
}
