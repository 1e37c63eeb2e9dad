// A process for the tests of schedules: `node schedule-process.ts <url> <schema> <offset in milliseconds> [place]`. Its clock differs by the offset. It
// stops around the COMMIT of a run at the place, `before` or `after`, and prints it. The test kills it there. Otherwise it runs until SIGTERM.
import jobs, { defineJob } from '@concordat/jobs'
import { fromPool } from '@concordat/postgres'
import { postgresJobStore } from '@concordat/postgres/jobs'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { systemClock } from '@concordat/work-queue'
import Fastify from 'fastify'
import { Pool } from 'pg'

const [url = '', schema = '', offset = '0', place] = process.argv.slice(2)
const clock = { ...systemClock, now: () => Date.now() + Number(offset) }
const pool = new Pool({ connectionString: url, max: 8 })
const database = fromPool(pool)
const queue = { ...postgresWorkQueue(pool, { schema: `${schema}_queue` }), clock }
const store = postgresJobStore(database, { schema })
const { schedules } = store
if (schedules === undefined) throw new Error('no schedules')
const stopping: typeof schedules = {
  ...schedules,
  async decide(name, decide) {
    let isDecided = false
    await schedules.decide(name, async (schedule, transaction) => {
      const decision = await decide(schedule, transaction)
      isDecided = decision?.lastJobId !== undefined
      if (isDecided && place === 'before') await stopHere()
      return decision
    })
    if (isDecided && place === 'after') await stopHere()
  }
}
const app = Fastify()
await app.register(jobs, { queue, store: { ...store, schedules: stopping }, stopGraceSeconds: 1 })
const job = defineJob<{ at: number }>({
  name: 'note',
  input: { type: 'object' },
  concurrency: 20,
  handler: async ({ at }) => void (await pool.query(`INSERT INTO ${schema}.noted (at) VALUES ($1)`, [at]))
})
app.jobs.schedule(job, {
  name: 'often',
  everySeconds: 1,
  missed: 'all',
  overlap: 'allow',
  input: ({ plannedAt }) => ({ at: plannedAt.getTime() })
})
app.get('/schedules', async () => app.jobs.schedules.list())
app.post('/runs', async () => ({ isKnown: await app.jobs.schedules.run('often') }))
const address = await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`${address}\n`)
process.once('SIGTERM', async () => {
  await app.close()
  await queue.close(1)
  await pool.end()
})

async function stopHere() {
  process.stdout.write('stopped\n')
  await new Promise(() => {})
}
