import { setImmediate } from 'node:timers/promises'
import type { fromPool } from '@concordat/postgres'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { casesOf } from '@concordat/test-harness/contract-cases'
import type { Claim, Outcome, Transaction, WorkQueue } from '@concordat/work-queue'
import { testClock, workQueueContract } from '@concordat/work-queue/testing'
import type { PGlite } from '@electric-sql/pglite'
import type { PoolClient } from 'pg'
import t, { type Test } from 'tap'
import { requireSameTaking } from './copied-statement.ts'
import { connect, freshSchema, inMemory, inTransaction, onServer, schemaName } from './database.ts'

type PoolLike = Parameters<typeof fromPool>[0]

t.test('the queue on PGlite', async (t) => {
  const { pglite } = await inMemory()
  const clock = testClock()
  const queue = postgresWorkQueue(pglite, { schema: schemaName(), clock })
  t.teardown(() => queue.close())
  workQueueContract(casesOf(t), () => ({ queue, clock, transaction: (work) => pglite.transaction((open) => work(open)) }))
})

t.test('the queue on PostgreSQL', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool } = connect(t, { max: 5 })
  const clock = testClock()
  const queue = postgresWorkQueue(pool, { schema, clock })
  t.teardown(() => queue.close())
  workQueueContract(casesOf(t), () => ({ queue, clock, transaction: (work) => inTransaction(pool, work) }))
})

t.test('an ordered queue keeps the order of the commits, also when the transaction that began first commits last', onServer, async (t) => {
  const schema = freshSchema(t)
  const pools = [connect(t, { max: 3 }).pool, connect(t, { max: 3 }).pool]
  const [one, two] = pools.map((pool) => postgresWorkQueue(pool, { schema })) as [WorkQueue, WorkQueue]
  t.teardown(async () => {
    await one.close()
    await two.close()
  })
  for (const queue of [one, two]) await queue.define('work', { ordered: true })
  const [first, second] = (await Promise.all(pools.map((pool) => pool.connect()))) as [PoolClient, PoolClient]
  for (const client of [first, second]) await client.query('BEGIN')
  // The start of the transaction.
  for (const client of [first, second]) await client.query('SELECT now()')
  await two.enqueue(
    'work',
    [
      { key: 'a', payload: 1 },
      { key: 'a', payload: 2 }
    ],
    second
  )
  await two.enqueue('work', [{ key: 'b', payload: 0 }])
  let isWaiting = true
  const enqueued = one.enqueue('work', [{ key: 'a', payload: 3 }], first).then(() => (isWaiting = false))
  await two.enqueue('work', [{ key: 'b', payload: 0 }])
  t.ok(isWaiting, 'the key is locked until the commit, and other keys are not')
  await second.query('COMMIT')
  await enqueued
  await first.query('COMMIT')
  await one.enqueue('work', [{ key: 'a', payload: 4 }])
  for (const client of [first, second]) client.release()
  const seen: unknown[] = []
  two.work('work', async ({ payload }) => (payload !== 0 && seen.push(payload), { done: true }), { concurrency: 10 })
  two.kick('work')
  await until(() => seen.length === 4)
  t.strictSame(seen, [1, 2, 3, 4])
})

t.test('an ordered queue keeps the order while the clock stands still', onServer, async (t) => {
  const { pool } = connect(t, { max: 3 })
  const clock = testClock()
  const queue = postgresWorkQueue(pool, { schema: freshSchema(t), clock })
  t.teardown(() => queue.close())
  await queue.define('work', { ordered: true })
  await inTransaction(pool, async (open) => {
    await open.query('SELECT pg_sleep(0.1)')
    await queue.enqueue('work', [{ key: 'a', payload: 1 }], open)
    await queue.enqueue('work', [{ key: 'a', payload: 2 }], open)
  })
  await queue.enqueue('work', [{ key: 'a', payload: 3 }])
  const seen: unknown[] = []
  queue.work('work', async ({ payload }) => (seen.push(payload), { done: true }), { concurrency: 1 })
  await clock.advance(1000)
  t.strictSame(seen, [1, 2, 3])
})

t.test('gives the job of a worker without heartbeat to another process, and ignores the late outcome', onServer, async (t) => {
  const schema = freshSchema(t)
  const clock = testClock()
  const [silent, other] = [silentPool(t), connect(t, { max: 3 }).pool]
  const [one, two] = [silent, other].map((pool) => postgresWorkQueue(pool, { schema, clock })) as [WorkQueue, WorkQueue]
  t.teardown(async () => {
    await one.close()
    await two.close()
  })
  for (const queue of [one, two]) await queue.define('work')
  const slow = Promise.withResolvers<Outcome>()
  const begun: Claim[] = []
  one.work('work', noting(slow.promise), { concurrency: 1 })
  await one.enqueue('work', [{ payload: 1 }])
  await until(() => begun.length === 1)
  two.work('work', noting({ done: true }), { concurrency: 1 })
  while (begun.length < 2) {
    await clock.jump(1000)
    await setImmediate()
  }
  let written = 0
  slow.resolve({ done: true, write: async () => void (written += 1) })
  await clock.advance(60_000)
  t.strictSame(
    begun.map(({ attempt }) => attempt),
    [1, 2]
  )
  t.equal(written, 0)

  function noting(outcome: Outcome | Promise<Outcome>) {
    return async (claim: Claim) => {
      begun.push(claim)
      return outcome
    }
  }
})

t.test('aborts a job within two seconds when another process cancels it', onServer, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [1, 2].map(() => postgresWorkQueue(connect(t, { max: 3 }).pool, { schema })) as [WorkQueue, WorkQueue]
  t.teardown(() => Promise.all([one.close(), two.close()]))
  for (const queue of [one, two]) await queue.define('work')
  const begun = Promise.withResolvers<Claim>()
  const received = Promise.withResolvers<number>()
  one.work('work', work, { concurrency: 1 })
  const [id = ''] = await two.enqueue('work', [{ payload: 1 }])
  const claim = await begun.promise
  const start = performance.now()
  claim.signal.addEventListener('abort', () => received.resolve(performance.now() - start))
  t.equal(await two.cancel('work', id), true)
  t.comment(`${Math.round(await received.promise)} ms`)

  async function work(claim: Claim): Promise<Outcome> {
    begun.resolve(claim)
    await received.promise
    return { done: true }
  }
})

t.test('takes the jobs of keys as pg-boss takes jobs', onServer, (t) => requireSameTaking(t, postgresWorkQueue))

t.test('throws for invalid options at startup', async (t) => {
  const { queue } = await onPGlite(t)
  await queue.define('plain')
  await t.rejects(queue.define('plain', { ordered: true }), /was created without order/)
  await queue.define('ordered', { ordered: true })
  await t.rejects(queue.define('ordered'), /was created with order/)
  for (const leaseSeconds of [9, 10.5])
    await t.rejects(queue.define('other', { leaseSeconds }), {
      message: `work-queue: options.leaseSeconds must be an integer of at least 10, but is ${leaseSeconds}.`
    })
  t.throws(() => queue.kick('unknown'), /not defined/)
  t.throws(() => postgresWorkQueue({} as PGlite, { schema: 'a"b' }), /must consist of lowercase letters/)
})

/** A queue on PGlite, where each statement throws the error that `failure` returns, if it returns one. */
async function failingQueue(t: Test, failure: () => Error | undefined) {
  const { pglite } = await inMemory()
  const statement = async <Result>(run: () => Promise<Result>) => {
    const error = failure()
    if (error !== undefined) throw error
    return run()
  }
  const database = {
    query: (text: string, values?: unknown[]) => statement(() => pglite.query(text, values)),
    exec: (text: string) => statement(() => pglite.exec(text)),
    transaction: pglite.transaction.bind(pglite)
  } as unknown as PGlite
  const queue = postgresWorkQueue(database, { schema: schemaName() })
  t.teardown(() => queue.close())
  return queue
}

t.test('starts when define is called again after the database was unavailable', async (t) => {
  let isAvailable = false
  const queue = await failingQueue(t, () => (isAvailable ? undefined : new Error('not available')))
  await t.rejects(queue.define('work'), /not available/)
  isAvailable = true
  await queue.define('work')
  t.equal((await queue.enqueue('work', [{ payload: 1 }])).length, 1)
})

t.test('starts although another process creates the same tables at the same time', async (t) => {
  const failures = ['23505', '42P06'].map((code) => Object.assign(new Error('already exists'), { code }))
  const queue = await failingQueue(t, () => failures.shift())
  await queue.define('work')
  t.strictSame(failures, [])
  t.equal((await queue.enqueue('work', [{ payload: 1 }])).length, 1)
})

t.test('finds no job for an id that is not a job id', async (t) => {
  const { queue } = await onPGlite(t)
  await queue.define('work')
  t.equal(await queue.cancel('work', 'nonsense'), false)
  t.equal(await queue.redrive('work', ['nonsense']), 0)
})

t.test('closes a queue that has no workers and was never started', async (t) => {
  const { queue } = await onPGlite(t)
  await queue.close()
})

t.test('rolls back an outcome that ignores a failed statement, and tries its job again', onServer, async (t) => {
  const schema = freshSchema(t)
  const clock = testClock()
  const { pool } = connect(t, { max: 3 })
  const errors: unknown[] = []
  const queue = postgresWorkQueue(pool, { schema, clock, onError: (error) => errors.push(error) })
  t.teardown(() => queue.close())
  await queue.define('work')
  const attempts: number[] = []
  queue.work('work', work, { concurrency: 1 })
  await queue.enqueue('work', [{ payload: 1 }])
  await clock.advance(30_000)
  t.strictSame(attempts, [1, 2])
  t.match(errors, [/was rolled back/])

  async function work({ attempt }: Claim): Promise<Outcome> {
    attempts.push(attempt)
    return attempt === 1 ? { done: true, write: failUnnoticed } : { done: true }
  }
})

async function failUnnoticed(open: Transaction | undefined) {
  await open?.query('SELECT missing_column').catch(() => {})
}

/** Creates a pool whose process cannot send heartbeats. */
function silentPool(t: Test): PoolLike {
  const { pool } = connect(t, { max: 3 })
  return Object.assign(silenced<PoolLike>(pool), {
    connect: (given: Parameters<PoolLike['connect']>[0]) => pool.connect((error, client) => given(error, client && silenced(client)))
  })
}

function silenced<Client extends { query: PoolLike['query'] }>(client: Client): Client {
  return Object.assign(Object.create(client), {
    async query(sql: string, params?: unknown[]) {
      if (sql.includes('SET heartbeat_on')) throw new Error('silent')
      return client.query(sql, params)
    }
  })
}

async function onPGlite(t: Test) {
  const { pglite } = await inMemory()
  const queue = postgresWorkQueue(pglite, { schema: schemaName() })
  t.teardown(() => queue.close())
  return { queue }
}

async function until(condition: () => boolean) {
  while (!condition()) await setImmediate()
}

t.test('updates the statistics of a queue that has grown, and limits settings to the statement that takes jobs', async (t) => {
  const { pglite } = await inMemory()
  const schema = schemaName()
  const queue = postgresWorkQueue(pglite, { schema })
  t.teardown(() => queue.close())
  await work500(queue)
  await grown(async (sql) => pglite.query(sql), schema)
})

t.test('updates the statistics and limits the settings on PostgreSQL too', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool } = connect(t, { max: 1 })
  const queue = postgresWorkQueue(pool, { schema })
  t.teardown(() => queue.close())
  await work500(queue)
  await grown((sql) => pool.query(sql), schema)
})

async function work500(queue: WorkQueue) {
  let done = 0
  await queue.define('many')
  const stop = queue.work(
    'many',
    async () => {
      done += 1
      return { done: true }
    },
    { concurrency: 100, perKey: 100 }
  )
  await queue.enqueue(
    'many',
    Array.from({ length: 500 }, (_, payload) => ({ payload, key: 'one' }))
  )
  await until(() => done === 500)
  await stop()
}

async function grown(query: (sql: string) => Promise<{ rows: unknown[] }>, schema: string) {
  const known = `SELECT count(*)::int AS tables FROM pg_class
    WHERE relnamespace = '${schema}'::regnamespace AND relname LIKE 'job%' AND reltuples >= 500 AND relkind = 'r'`
  let rows: unknown[] = []
  while ((rows[0] as { tables: number } | undefined)?.tables !== 1) {
    rows = (await query(known)).rows
    await setImmediate()
  }
  const settings = await query(`SELECT current_setting('enable_sort') AS sort`)
  t.same(settings.rows, [{ sort: 'on' }])
}

t.test('refuses an unknown setting of a queue and an unknown option of a worker', async (t) => {
  const { pglite } = await inMemory()
  const queue = postgresWorkQueue(pglite, { schema: schemaName() })
  t.teardown(() => queue.close())
  await t.rejects(queue.define('work', { orderd: true } as object), {
    message: 'work-queue: options.orderd is unknown. Did you mean options.ordered?'
  })
  await queue.define('work')
  t.throws(() => queue.work('work', async () => ({ done: true }), { concurrency: 1, perKeys: 1 } as { concurrency: number }), {
    message: 'work-queue: options.perKeys is unknown. Did you mean options.perKey?'
  })
})
