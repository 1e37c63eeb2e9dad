import { randomUUID } from 'node:crypto'
import jobs, { defineJob } from '@concordat/jobs'
import { jobStoreContract, scheduleStoreContract } from '@concordat/jobs/testing'
import { publish } from '@concordat/plugin-kit/wiring'
import { migrate } from '@concordat/postgres'
import { jobMigrations, postgresJobStore } from '@concordat/postgres/jobs'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import type { Transaction } from '@concordat/work-queue'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, schemaName } from './database.ts'

t.test('the store of job records on PostgreSQL', onServer, async (t) => {
  const schema = freshSchema(t)
  const { database } = connect(t)
  await migrate(database, jobMigrations, { schema })
  jobStoreContract(casesOf(t), () => postgresJobStore(database, { schema }))
  scheduleStoreContract(casesOf(t), () => postgresJobStore(database, { schema }))
})

t.test('the store of job records on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, jobMigrations, { schema })
  jobStoreContract(casesOf(t), () => postgresJobStore(database, { schema }))
  scheduleStoreContract(casesOf(t), () => postgresJobStore(database, { schema }))
})

t.test('a record that is deleted while its key is used again is added again', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, jobMigrations, { schema })
  const job = {
    id: randomUUID(),
    type: 'count',
    owner: 'ada',
    state: 'queued',
    input: 1,
    attempt: 0,
    tries: 0,
    progress: 0,
    createdAt: 1
  } as const
  await postgresJobStore(database, { schema }).add(job)
  const query: typeof database.query = async (sql, values) => {
    if (sql.startsWith('SELECT')) await database.query(`DELETE FROM ${schema}.jobs WHERE id = $1`, values)
    return database.query(sql, values)
  }
  t.equal(await postgresJobStore({ ...database, query }, { schema }).add({ ...job, createdAt: 2 }), undefined)
  t.equal((await postgresJobStore(database, { schema }).read(job.id))?.createdAt, 2)
})

t.test('accepts a job with the transaction of its request or not at all, and ends it with its record, on PGlite', async (t) => {
  const { database, pglite, schema } = await inMemory()
  await migrate(database, jobMigrations, { schema })
  const queue = postgresWorkQueue(pglite, { schema: schemaName() })
  const job = defineJob<{ rows: number }, { sum: number }>({
    name: 'count',
    input: { type: 'object' },
    result: { type: 'object', properties: { sum: { type: 'number' } } },
    handler: async ({ rows }) => ({ sum: rows + 1 })
  })
  let open: Transaction | undefined
  const app = Fastify()
  publish(app, { transactions: { currentTransaction: () => open, transactionOf: () => undefined } })
  await app.register(jobs, {
    queue,
    store: postgresJobStore(database, { schema }),
    owner: () => 'ada'
  })
  app.jobs.serve(job, '/counts')
  app.post('/counts', async (_request, reply) => reply.accepted(job, { rows: 1 }))
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.ready()

  const [lost, kept] = [await post(true), await post(false)]
  t.equal((await app.inject(lost)).statusCode, 404)
  for (;;) {
    const { status } = (await app.inject({ url: kept, headers: { prefer: 'wait=1' } })).json()
    if (status === 'completed') break
  }
  t.strictSame((await app.inject(`${kept}/result`)).json(), { sum: 2 })

  async function post(isRolledBack: boolean) {
    let location = ''
    const done = pglite.transaction(async (transaction) => {
      open = transaction
      const response = await app.inject({ method: 'POST', url: '/counts' })
      t.equal(response.statusCode, 202)
      location = new URL(String(response.headers.location)).pathname
      if (isRolledBack) throw new Error('rolled back')
    })
    await done.catch(() => {})
    open = undefined
    return location
  }
})

for (const [where, options] of [
  ['PGlite', {}],
  ['PostgreSQL', onServer]
] as const) {
  t.test(`commits a job that a route with a transaction accepts with the response, or leaves no job, on ${where}`, options, async (t) => {
    const { database, queue, schema } = await (where === 'PGlite' ? embedded() : served(t))
    await migrate(database, jobMigrations, { schema })
    const begun: string[] = []
    const job = defineJob<object>({ name: 'count', input: {}, handler: async (_, { jobId }) => void begun.push(jobId) })
    const app = Fastify({ handlerTimeout: 20_000 })
    await app.register(unitOfWork, { database })
    await app.register(jobs, { queue, store: postgresJobStore(database, { schema }), owner: () => 'ada' })
    app.jobs.serve(job, '/counts')
    const accepted: string[] = []
    app.post<{ Querystring: { end: string } }>('/counts', { config: { transaction: true } }, async ({ query }, reply) => {
      const record = await reply.accepted(job, {})
      accepted.push(record.jobId)
      if (query.end === 'throws') throw new Error('after it was accepted')
      if (query.end === 'refuses') return reply.code(409).send({})
      return record
    })
    t.teardown(async () => {
      await app.close()
      await queue.close()
    })
    const statuses: number[] = []
    for (const end of ['throws', 'refuses', 'answers'])
      statuses.push((await app.inject({ method: 'POST', url: `/counts?end=${end}` })).statusCode)
    t.strictSame(statuses, [500, 409, 202])
    const [thrown, refused, responded] = accepted
    for (const id of [thrown, refused]) t.equal((await app.inject(`/counts/${id}`)).statusCode, 404)
    t.match((await app.inject({ url: `/counts/${responded}`, headers: { prefer: 'wait=20' } })).json(), { status: 'completed' })
    t.strictSame(begun, [responded])
  })
}

async function embedded() {
  const { database, pglite, schema } = await inMemory()
  return { database, schema, queue: postgresWorkQueue(pglite, { schema: schemaName() }) }
}

async function served(t: Test) {
  const { pool, database } = connect(t)
  return { database, schema: freshSchema(t), queue: postgresWorkQueue(pool, { schema: freshSchema(t) }) }
}

t.test(
  'runs each job once when several processes start at the same time on an empty PostgreSQL database, whichever process accepted it',
  onServer,
  async (t) => {
    const schema = freshSchema(t)
    const queues = freshSchema(t)
    const runs: string[] = []
    const services = await Promise.all([serviceOf(), serviceOf(), serviceOf()])
    const urls = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { headers } = await (services[index % 3] as (typeof services)[0]).inject({ method: 'POST', url: '/counts' })
        return new URL(String(headers.location)).pathname
      })
    )
    const [first] = services
    for (const url of urls) t.match((await first?.inject({ url, headers: { prefer: 'wait=30' } }))?.json(), { status: 'completed' })
    t.equal(runs.length, 20)
    t.equal(new Set(runs).size, 20)

    async function serviceOf() {
      const { pool, database } = connect(t)
      await migrate(database, jobMigrations, { schema })
      const queue = postgresWorkQueue(pool, { schema: queues })
      const app = Fastify()
      await app.register(jobs, { queue, store: postgresJobStore(database, { schema }), owner: () => 'ada' })
      const job = defineJob<object>({ name: 'count', input: {}, handler: async (_, { jobId }) => void runs.push(jobId) })
      app.jobs.serve(job, '/counts')
      app.post('/counts', async (_request, reply) => reply.accepted(job, {}))
      await app.ready()
      t.teardown(async () => {
        await app.close()
        await queue.close()
      })
      return app
    }
  }
)

t.test('an operator starts a failed job again, on PostgreSQL', onServer, async (t) => {
  const [schema, queues] = [freshSchema(t), freshSchema(t)]
  const { pool, database } = connect(t)
  await migrate(database, jobMigrations, { schema })
  const queue = postgresWorkQueue(pool, { schema: queues })
  let isFixed = false
  const job = defineJob<{ rows: number }, { sum: number }>({
    name: 'count',
    input: { type: 'object' },
    result: { type: 'object', properties: { sum: { type: 'number' } } },
    maxAttempts: 1,
    async handler({ rows }) {
      if (!isFixed) throw new Error('broken')
      return { sum: rows }
    }
  })
  const store = postgresJobStore(database, { schema })
  const app = Fastify()
  await app.register(jobs, { queue, store, owner: () => 'ada' })
  app.jobs.serve(job, '/counts')
  t.teardown(async () => {
    await app.close()
    await queue.close()
  })
  await app.ready()
  const { id } = await app.jobs.start(job, { rows: 3 }, { owner: 'ada' })
  const isIn = (state: string) => until(async () => (await store.read(id))?.state === state)
  await isIn('failed')
  isFixed = true
  t.equal(await app.jobs.retry(id), true)
  await isIn('completed')
  t.match(await store.read(id), { result: { sum: 3 }, error: undefined })
  t.equal(await app.jobs.retry(id), false)
})

for (const kind of ['PGlite', 'PostgreSQL'])
  t.test(
    `a handler whose error has a character that cannot be stored runs as often as any other, on ${kind}`,
    kind === 'PGlite' ? {} : onServer,
    async (t) => {
      const schema = kind === 'PGlite' ? schemaName() : freshSchema(t)
      const queueSchema = kind === 'PGlite' ? schemaName() : freshSchema(t)
      const { database, place } =
        kind === 'PGlite' ? await inMemory().then(({ database, pglite }) => ({ database, place: pglite })) : placeOf(t)
      await migrate(database, jobMigrations, { schema })
      const errors: unknown[] = []
      const queue = postgresWorkQueue(place, { schema: queueSchema, onError: (error) => errors.push(error) })
      const runs: Record<string, number> = {}
      const thrown: Readonly<Record<string, unknown>> = {
        text: 'a\0',
        error: new Error('a\0 \ud800'),
        name: Object.assign(new Error('a'), { name: 'a\0' }),
        object: { deep: ['a\0'] },
        bigint: 1n
      }
      const job = defineJob<{ how: string }>({
        name: 'odd',
        input: { type: 'object' },
        maxAttempts: 2,
        retrySeconds: () => 0,
        async handler({ how }) {
          runs[how] = (runs[how] ?? 0) + 1
          throw thrown[how]
        }
      })
      const app = Fastify()
      const store = postgresJobStore(database, { schema })
      await app.register(jobs, { queue, store, owner: () => 'ada' })
      app.jobs.serve(job, '/odd')
      t.teardown(async () => {
        await app.close()
        await queue.close(0)
      })
      await app.ready()
      for (const how of Object.keys(thrown)) {
        const { id } = await app.jobs.start(job, { how }, { owner: 'ada' })
        await until(async () => (await store.read(id))?.state === 'failed')
      }
      t.strictSame(runs, Object.fromEntries(Object.keys(thrown).map((how) => [how, 2])))
      t.strictSame(errors, [])
    }
  )

function placeOf(t: Test) {
  const { database, pool } = connect(t)
  return { database, place: pool }
}
