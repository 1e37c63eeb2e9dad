import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import jobs, { defineJob } from '@concordat/jobs'
import { migrate } from '@concordat/postgres'
import { jobMigrations, postgresJobStore } from '@concordat/postgres/jobs'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { childEnvironment, nodeOptions } from '@concordat/test-harness/child'
import { until } from '@concordat/test-harness/until'
import { testClock } from '@concordat/work-queue/testing'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, schemaName, server } from './database.ts'

const program = fileURLToPath(new URL('./schedule-process.ts', import.meta.url))

/** Starts a process, and returns it with its first line, the address, and a promise for the second, which says that it stops. */
async function startProcess(t: Test, schema: string, offset = 0, place?: string) {
  const args = [...nodeOptions, program, server, schema, String(offset), ...(place === undefined ? [] : [place])]
  const child = spawn(process.execPath, args, { env: childEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  // Two lines can arrive at once.
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { value: address } = await lines.next()
  return { child, address, stopped: lines.next() }
}

async function end(child: ChildProcess, signal: NodeJS.Signals) {
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

t.test('processes start each run once, by clocks that differ, while others are killed around COMMIT', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t, { max: 2 })
  t.teardown(() => pool.query(`DROP SCHEMA IF EXISTS ${schema}_queue CASCADE`))
  await migrate(database, jobMigrations, { schema })
  await pool.query(`CREATE TABLE ${schema}.noted (at double precision)`)
  const others = [await startProcess(t, schema), await startProcess(t, schema, 5000)]
  for (const place of ['before', 'after', 'before', 'after']) {
    const { child, stopped } = await startProcess(t, schema, 6000, place)
    await stopped
    await end(child, 'SIGKILL')
  }
  const noted = async () =>
    (await pool.query<{ at: number; count: string }>(`SELECT at, count(*) FROM ${schema}.noted GROUP BY at ORDER BY at`)).rows
  const [{ at: first } = { at: 0 }] = await noted()
  await until(async () => ((await noted()).at(-1)?.at ?? 0) >= first + 15_000, 50)
  const response = await fetch(`${others[0]?.address}/schedules`)
  const [schedule] = (await response.json()) as { name: string; lastAt: number }[]
  t.equal(schedule?.name, 'often')
  for (const { child } of others) await end(child, 'SIGTERM')
  const runs = await noted()
  t.strictSame(
    runs.filter(({ count }) => count !== '1'),
    [],
    'no run started twice'
  )
  const last = runs.at(-1)?.at ?? 0
  const until15 = runs.filter(({ at }) => at <= first + 15_000)
  t.equal(until15.length, 16, 'no run is missing')
  t.ok(last >= first + 15_000)
})

t.test('a run that an operator requests over HTTP in one process starts once', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t, { max: 2 })
  t.teardown(() => pool.query(`DROP SCHEMA IF EXISTS ${schema}_queue CASCADE`))
  await migrate(database, jobMigrations, { schema })
  await pool.query(`CREATE TABLE ${schema}.noted (at double precision)`)
  const processes = [await startProcess(t, schema), await startProcess(t, schema)]
  const response = await fetch(`${processes[1]?.address}/runs`, { method: 'POST' })
  t.strictSame(await response.json(), { isKnown: true })
  const requested = async () => (await pool.query(`SELECT at FROM ${schema}.noted WHERE at::bigint % 1000 <> 0`)).rows
  await until(async () => (await requested()).length > 0, 20)
  for (const { child } of processes) await end(child, 'SIGTERM')
  t.equal((await requested()).length, 1)
})

t.test('on PGlite, a schedule runs, and what was missed while the process was down runs once', async (t) => {
  const { pglite, database, schema } = await inMemory()
  await migrate(database, jobMigrations, { schema })
  const clock = testClock(Date.parse('2026-05-01T02:29:50Z'))
  const queueSchema = schemaName()
  const days: string[] = []
  const job = defineJob<{ day: string }>({ name: 'report', input: { type: 'object' }, handler: async ({ day }) => void days.push(day) })

  async function start() {
    const queue = postgresWorkQueue(pglite, { schema: queueSchema, clock })
    const app = Fastify()
    await app.register(jobs, { queue, store: postgresJobStore(database, { schema }) })
    app.jobs.schedule(job, { name: 'nightly', cron: '30 2 * * *', zone: 'UTC', input: ({ localDate }) => ({ day: localDate }) })
    await app.ready()
    return async () => {
      await app.close()
      await queue.close()
    }
  }

  const stop = await start()
  await clock.advance(15_000)
  t.strictSame(days, ['2026-05-01'])
  await stop()
  await clock.jump(3 * 86_400_000)
  const stopAgain = await start()
  await clock.advance(15_000)
  t.strictSame(days, ['2026-05-01', '2026-05-04'])
  await stopAgain()
})
