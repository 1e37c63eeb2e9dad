// One process of the tests that kill: `node queue-process.ts <role> <where> <schema>`. It says on its output what it does.
import { setTimeout as delay } from 'node:timers/promises'
import { fromPGlite, fromPool } from '@concordat/postgres'
import { pgliteQueue, postgresQueue } from '@concordat/postgres/work-queue'
import type { Claim, Transaction } from '@concordat/work-queue'
import { PGlite } from '@electric-sql/pglite'
import { Pool } from 'pg'

const [role, where = '', schema = ''] = process.argv.slice(2)
const { database, queue, inTransaction } = where.startsWith('postgres:') ? onServer() : await inFolder()
await database.query(`CREATE SCHEMA IF NOT EXISTS ${schema}_results`)
await database.query(`CREATE TABLE IF NOT EXISTS ${schema}_results.wanted (job uuid)`)
await database.query(`CREATE TABLE IF NOT EXISTS ${schema}_results.results (job uuid, attempt integer)`)
await queue.define('work')

if (role === 'victim') await enqueueAndWork()
if (role === 'survivor') await finish()
if (role === 'sharer') await share()

/** Each line is a place to be killed at. */
async function enqueueAndWork() {
  await inTransaction(async (open) => {
    await enqueueWanted(open, 4)
    await sayAndWait('enqueued')
  })
  await sayAndWait('committed')
  await inTransaction(async (open) => {
    await queue.enqueue('work', [{ payload: 'rolled back' }], open)
    throw new Error('rolled back')
  }).catch(() => {})
  queue.work('work', (claim) => writeResult(claim), { concurrency: 2 })
}

async function finish() {
  const start = Date.now()
  queue.work('work', (claim) => writeResult(claim), { concurrency: 10 })
  for (;;) {
    const [counts] = await database.query<{ wanted: number; found: number; rows: number; strangers: number }>(`SELECT json_build_object(
      'wanted', (SELECT count(*) FROM ${schema}_results.wanted),
      'found', (SELECT count(DISTINCT job) FROM ${schema}_results.results),
      'rows', (SELECT count(*) FROM ${schema}_results.results),
      'again', (SELECT count(*) FROM ${schema}_results.results WHERE attempt > 1),
      'strangers', (SELECT count(*) FROM ${schema}_results.results WHERE job NOT IN (SELECT job FROM ${schema}_results.wanted))
    )::text AS json`)
    if (counts !== undefined && counts.found >= counts.wanted) {
      const milliseconds = Date.now() - start
      // Whatever would be done twice is done by now.
      await delay(1500)
      await queue.close()
      return exit({ ...counts, milliseconds })
    }
    await delay(100)
  }
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
  if (payload === 'rolled back') throw new Error('a job was done whose transaction was rolled back')
  await sayAndWait('begun')
  say('ending')
  return {
    done: true as const,
    async write(open: Transaction | undefined) {
      await open?.query(`INSERT INTO ${schema}_results.results (job, attempt) VALUES ($1, $2)`, [id, attempt])
      await sayAndWait('written')
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
  return { database: fromPool(pool), queue: postgresQueue(pool, { schema, onError: warn }), inTransaction }
}

async function inFolder() {
  const pglite = await PGlite.create(where)
  const inTransaction = (work: (open: Transaction) => Promise<void>) => pglite.transaction((open) => work(open))
  return { database: fromPGlite(pglite), queue: pgliteQueue(pglite, { schema, onError: warn }), inTransaction }
}

/** Long enough to be killed here. */
async function sayAndWait(what: string) {
  say(what)
  await delay(30)
}

function say(what: string) {
  process.stdout.write(`${what}\n`)
}

function warn(error: unknown) {
  process.stderr.write(`${String(error)}\n`)
}

function exit(answer: unknown) {
  process.stdout.write(`${JSON.stringify(answer)}\n`, () => process.exit())
}
