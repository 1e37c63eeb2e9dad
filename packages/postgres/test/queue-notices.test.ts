import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { until } from '@concordat/test-harness/until'
import type { WorkQueue } from '@concordat/work-queue'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, freshSchema, inTransaction, onServer } from './database.ts'

// So long that a job which starts was not found by a poll.
const pollSeconds = 3600

const gone = () => Promise.reject(new Error('The database is gone.'))

/** Two processes with a queue each, of which the second has a worker; `pools` are theirs. */
async function twoProcesses(t: Test, max = 5) {
  const schema = freshSchema(t)
  const pools = [connect(t, { max }).pool, connect(t, { max }).pool] as const
  const [one, two] = pools.map((pool) => postgresWorkQueue(pool, { schema })) as [WorkQueue, WorkQueue]
  t.teardown(async () => {
    await one.close()
    await two.close()
  })
  for (const queue of [one, two]) for (const name of ['work', 'ordered']) await queue.define(name, { ordered: name === 'ordered' })
  const done: unknown[] = []
  for (const name of ['work', 'ordered']) {
    two.work(name, async ({ payload }) => (done.push(payload), { done: true }), { concurrency: 2, pollSeconds })
  }
  return { schema, pools, one, two, done, isListening: () => isListening(pools[0], schema) }
}

async function isListening(pool: Pool, schema: string) {
  const { rows } = await pool.query(`SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN "${schema}_jobs"'`)
  return rows.length > 0
}

t.test('a worker of another process starts a job at its commit, also after its connection was lost', onServer, async (t) => {
  const { schema, pools, one, done, isListening } = await twoProcesses(t)
  const [pool] = pools
  await until(isListening)
  await one.enqueue('work', [{ payload: 'alone' }])
  await until(() => done.includes('alone'))
  await inTransaction(pool, async (open) => {
    await one.enqueue('ordered', [{ payload: 'in a transaction', key: 'a' }], open)
  })
  one.kick('ordered')
  await until(() => done.includes('in a transaction'))
  await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN "${schema}_jobs"'`)
  await until(async () => !(await isListening()))
  await until(isListening)
  await one.enqueue('work', [{ payload: 'afterwards' }])
  await until(() => done.includes('afterwards'))
  t.strictSame(done, ['alone', 'in a transaction', 'afterwards'])
})

t.test('a dead letter that is redriven starts in another process', onServer, async (t) => {
  const { one, two } = await twoProcesses(t)
  await two.define('letters')
  await one.define('letters')
  let runs = 0
  two.work('letters', async () => ((runs += 1) === 1 ? { dead: true } : { done: true }), { concurrency: 1, pollSeconds })
  const [id = ''] = await one.enqueue('letters', [{ payload: 1 }])
  await until(async () => (await one.redrive('letters', [id])) === 1)
  await until(() => runs === 2)
  t.equal(runs, 2)
})

t.test('jobs that are added together are announced together, and none that a worker of this process can start', onServer, async (t) => {
  const { pool } = connect(t)
  const notices: unknown[][] = []
  const place = {
    on: pool.on.bind(pool),
    connect: pool.connect.bind(pool),
    query(sql: string, values?: unknown[]) {
      if (sql.includes('pg_notify')) notices.push(values ?? [])
      return pool.query(sql, values)
    }
  }
  const schema = freshSchema(t)
  const queue = postgresWorkQueue(place, { schema })
  t.teardown(() => queue.close())
  for (const name of ['a', 'b', 'c']) await queue.define(name)
  const running: (() => void)[] = []
  const isFree = Promise.withResolvers<void>()
  queue.work('c', async () => (running.push(isFree.resolve), await isFree.promise, { done: true }), { concurrency: 2, pollSeconds })
  await queue.enqueue('c', [{ payload: 1 }])
  await until(() => running.length === 1)
  t.strictSame(notices, [], 'there was a free slot')
  await queue.enqueue('c', [{ payload: 1 }])
  await until(() => running.length === 2)
  t.strictSame(notices, [], 'there was another')
  for (const name of ['a', 'b', 'c', 'a', 'b', 'c']) queue.kick(name)
  await queue.enqueue('a', [{ payload: 1, delaySeconds: 60 }])
  isFree.resolve()
  await queue.close()
  t.strictSame(notices, [
    [`${schema}_jobs`, ['a']],
    [`${schema}_jobs`, ['b', 'c', 'a']]
  ])
})

t.test('a pool of two connections keeps both for statements', onServer, async (t) => {
  const { one, two, done, isListening } = await twoProcesses(t, 2)
  await one.enqueue('work', [{ payload: 1 }])
  two.kick('work')
  await until(() => done.length === 1)
  t.notOk(await isListening())
})

t.test('a queue whose database is gone closes', onServer, async (t) => {
  const { pool } = connect(t)
  let isGone = false
  const queue = postgresWorkQueue(
    {
      on: pool.on.bind(pool),
      connect: (done) => (isGone ? done(new Error('The database is gone.'), undefined) : pool.connect(done)),
      query: (sql, values) => (isGone ? gone() : pool.query(sql, values))
    },
    { schema: freshSchema(t) }
  )
  await queue.define('work')
  isGone = true
  queue.work('work', async () => ({ done: true }), { concurrency: 1, pollSeconds })
  queue.kick('work')
  await queue.define('other').catch(() => {})
  await t.resolves(queue.close())
})
