import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import { isLong, scaled } from '@concordat/test-harness/scale'
import { until } from '@concordat/test-harness/until'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { freshSchema, onServer, server } from './database.ts'

const program = new URL('./queue-process.ts', import.meta.url)
const places = ['enqueued', 'committed', 'begun', 'ending', 'written']
// Most of the time is spent waiting for the leases of killed processes to expire.
t.jobs = 3

t.test('completes each job exactly once when workers on PGlite files are killed', { buffered: true }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'queue-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // What differs from PostgreSQL is that the files are opened after a kill.
  await killAndFinish(t, join(folder, 'data'), 'concordat_queue', isLong ? places : ['committed', 'written'])
})

t.test(
  'completes each job exactly once when workers on PostgreSQL are killed in each state',
  { ...onServer, buffered: true },
  async (t) => {
    const schema = freshSchema(t)
    freshSchema(t, `${schema}_results`)
    await killAndFinish(t, server, schema, places)
  }
)

t.test('shares 5000 jobs between two processes, starves neither and runs no job twice', { ...onServer, buffered: true }, async (t) => {
  const schema = freshSchema(t)
  freshSchema(t, `${schema}_results`)
  const first = start(t, 'sharer', server, schema)
  await first.line('ready')
  const second = start(t, 'sharer', server, schema)
  await second.line('ready')
  const pool = new Pool({ connectionString: server, max: 2 })
  const queue = postgresWorkQueue(pool, { schema })
  await queue.define('work')
  const ids = await queue.enqueue(
    'work',
    Array.from({ length: 5000 }, (_, payload) => ({ payload }))
  )
  const ended = `SELECT count(*)::int AS count FROM ${schema}.job WHERE name = 'work' AND state = 'completed'`
  await until(async () => (await pool.query(ended)).rows[0].count === 5000)
  await queue.close()
  await pool.end()
  const shares = await Promise.all([first, second].map((process) => process.stop()))
  t.comment(`shares: ${shares.map((share) => share.length).join(' and ')}`)
  t.strictSame(shares.flat().toSorted(), ids.toSorted())
  t.ok(shares.every((share) => share.length >= 500))
})

async function killAndFinish(t: Test, where: string, schema: string, places: readonly string[]) {
  const kills = scaled(places.length, 5 * places.length)
  for (let killed = 0; killed < kills; killed += 1) {
    const place = places[killed % places.length] ?? ''
    // Each process enqueues once and begins several jobs. Later processes are killed at a later job.
    const turn = ['enqueued', 'committed'].includes(place) ? 0 : Math.floor(killed / places.length) % 3
    const victim = start(t, 'victim', where, schema, place, String(turn))
    await victim.line(place)
    await victim.kill()
  }
  const survivor = start(t, 'survivor', where, schema)
  const counts = JSON.parse(await survivor.line('{'))
  t.comment(`${kills} kills: ${JSON.stringify(counts)}`)
  t.equal(counts.found, counts.wanted, 'each job of a committed transaction is done')
  t.equal(counts.rows, counts.wanted, 'no job is done twice')
  t.equal(counts.strangers, 0, 'no job of a transaction that was not committed is done')
  t.ok(counts.again > 0, 'some jobs were begun again')
  t.ok(counts.milliseconds <= 20_000, 'all jobs are done within 20 seconds of the start of a new worker')
}

function start(t: Test, ...words: readonly string[]) {
  const child = spawn(process.execPath, [...nodeOptions, fileURLToPath(program), ...words], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  t.teardown(() => kill(child, exited))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()

  async function line(beginning: string) {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`The process (${words.join(' ')}) ended before it printed "${beginning}".`)
      if (value.startsWith(beginning)) return value
    }
  }

  return {
    line,
    kill: () => kill(child, exited),
    async stop(): Promise<string[]> {
      child.kill('SIGTERM')
      return JSON.parse(await line('['))
    }
  }
}

async function kill(child: ChildProcess, exited: Promise<void>) {
  child.kill('SIGKILL')
  await exited
}
