import { fromPool, type Postgres } from '@concordat/postgres'
import unitOfWork from '@concordat/postgres/unit-of-work'
import rateLimiting from '@concordat/rate-limiting'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import { Client, Pool } from 'pg'
import t, { type Test } from 'tap'
import { inMemory, onServer, server } from './database.ts'

const max = 10

function poolOf(t: Test, settings = {}) {
  const pool = new Pool({ connectionString: server, max, ...settings })
  t.teardown(() => pool.end())
  return pool
}

/** Holds an advisory lock of this test in another connection, for which `SELECT pg_advisory_xact_lock(…)` waits. */
async function held(t: Test) {
  const client = new Client({ connectionString: server })
  await client.connect()
  t.teardown(() => client.end())
  const id = Math.floor(Math.random() * 2 ** 31)
  await client.query(`SELECT pg_advisory_lock(${id})`)
  const statement = `SELECT pg_advisory_xact_lock(${id})`
  return {
    statement,
    release: () => client.query(`SELECT pg_advisory_unlock(${id})`),
    waiting: async () =>
      Number(
        (await client.query(`SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = ${id} AND NOT granted`)).rows[0].count
      )
  }
}

/** A service with routes that wait for the lock, within a transaction and without, and routes that do not. */
async function service(t: Test, database: Postgres, statement: string) {
  const app = Fastify({ handlerTimeout: 30_000 })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  app.get('/locked', async () => (await database.client.query(statement)).rowCount)
  app.get('/also-locked', async () => (await database.client.query(statement)).rowCount)
  app.post('/locked', { config: { transaction: true } }, async ({ transaction }) => (await transaction.query(statement)).rowCount)
  app.get('/free', async () => (await database.client.query('SELECT 1')).rowCount)
  app.post('/free', { config: { transaction: true } }, async ({ transaction }) => (await transaction.query('SELECT 1')).rowCount)
  return app
}

async function statusesOf(app: FastifyInstance, count: number, method: 'GET' | 'POST', url: string) {
  const sent = await Promise.all(Array.from({ length: count }, () => app.inject({ method, url })))
  return sent.map(({ statusCode }) => statusCode)
}

t.test('requests to one route leave connections to the others, and are served when one is free', onServer, async (t) => {
  for (const method of ['GET', 'POST'] as const) {
    const lock = await held(t)
    const app = await service(t, fromPool(poolOf(t), { maxWaitSeconds: 60 }), lock.statement)
    const locked = statusesOf(app, 30, method, '/locked')
    await until(async () => (await lock.waiting()) === 7)
    t.strictSame(
      await statusesOf(app, 20, 'GET', '/free'),
      Array.from({ length: 20 }, () => 200)
    )
    t.strictSame(
      await statusesOf(app, 20, 'POST', '/free'),
      Array.from({ length: 20 }, () => 200)
    )
    t.equal(await lock.waiting(), 7)
    const second = statusesOf(app, 30, 'GET', '/also-locked')
    await until(async () => (await lock.waiting()) === 9)
    t.strictSame(
      await statusesOf(app, 20, 'POST', '/free'),
      Array.from({ length: 20 }, () => 200)
    )
    await lock.release()
    t.strictSame(new Set([...(await locked), ...(await second)]), new Set([200]))
  }
})

t.test('of a small pool too, one route leaves a connection, unless there is only one', onServer, async (t) => {
  for (const [size, most] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [5, 3]
  ] as const) {
    const lock = await held(t)
    const app = await service(t, fromPool(poolOf(t, { max: size })), lock.statement)
    const locked = statusesOf(app, size, 'GET', '/locked')
    await until(async () => (await lock.waiting()) === most)
    if (size > 1) t.strictSame(await statusesOf(app, 3, 'GET', '/free'), [200, 200, 200])
    t.equal(await lock.waiting(), most)
    await lock.release()
    t.strictSame(new Set(await locked), new Set([200]))
  }
})

t.test('waits for a connection end after two seconds, and the connection is not lost', onServer, async (t) => {
  const pool = poolOf(t, { max: 1 })
  const database = fromPool(pool)
  const { session } = await database.open({})
  const message = 'postgres: all connections were in use for 2 s.'
  await Promise.all([
    t.rejects(database.query('SELECT 1'), { statusCode: 503, cause: { message } }),
    t.rejects(database.client.query('SELECT 1'), { message }),
    t.rejects(database.open({}), { message }),
    t.rejects(database.listen('trees', { onMessage() {}, onLost() {} }), { message })
  ])
  await session.rollback()
  t.equal((await database.client.query('SELECT 1')).rowCount, 1)
  t.throws(() => fromPool(pool, { maxWaitSeconds: 0 }), {
    message: /^postgres: options\.maxWaitSeconds must be a number from 0\.001 to 600/
  })
})

t.test('a connection that fails, or cannot be made, is free again', onServer, async (t) => {
  const database = fromPool(poolOf(t, { max: 2 }))
  for (let count = 0; count < 5; count += 1) {
    await t.rejects(database.query('SELECT pg_terminate_backend(pg_backend_pid())'))
    await t.rejects(database.client.query('SELECT 1 / 0'))
    const { session } = await database.open({})
    await t.rejects(session.query('SELECT pg_terminate_backend(pg_backend_pid())', []))
    await session.rollback()
    await (await database.listen('trees', { onMessage() {}, onLost() {} }))()
  }
  t.equal((await database.client.query('SELECT 1')).rowCount, 1)
  const nowhere = fromPool(poolOf(t, { max: 1, connectionString: 'postgres://127.0.0.1:1/nowhere' }))
  for (let count = 0; count < 3; count += 1) await t.rejects(nowhere.open({}), { code: 'ECONNREFUSED' })
})

t.test(
  'a store whose connection is lost, or responds too late, rejects with 503, and with the error of a refused statement',
  onServer,
  async (t) => {
    const lock = await held(t)
    const database = fromPool(poolOf(t, { query_timeout: 200 }))
    const unavailable = { statusCode: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '2' } }
    for (const statement of ['SELECT pg_terminate_backend(pg_backend_pid())', lock.statement]) {
      await t.rejects(database.query(statement), unavailable, statement)
      await t.rejects(database.background.query(statement), unavailable, statement)
    }
    await t.rejects(database.query('SELECT 1 / 0'), { code: '22012' })
  }
)

t.test('a transaction with a statement that responded too late sends nothing more, and its connection is closed', onServer, async (t) => {
  const lock = await held(t)
  const database = fromPool(poolOf(t, { max: 1, query_timeout: 200 }))
  const { session } = await database.open({})
  await t.rejects(session.query(lock.statement, []), { message: 'Query read timeout' })
  // The statement now completes, so that the transaction could continue.
  await lock.release()
  await until(async () => (await lock.waiting()) === 0)
  await t.rejects(session.query('SELECT 1', []), { message: 'Query read timeout' })
  await t.rejects(session.commit(), { message: 'Query read timeout' })
  await session.rollback()
  t.equal((await database.client.query('SELECT 1')).rowCount, 1)
})

t.test('requests are served in the order in which they began to wait', onServer, async (t) => {
  const database = fromPool(poolOf(t, { max: 1 }))
  const { session } = await database.open({})
  const served: number[] = []
  const all = [1, 2, 3].map(async (index) => {
    await database.client.query('SELECT 1')
    served.push(index)
  })
  await session.rollback()
  await Promise.all(all)
  t.strictSame(served, [1, 2, 3])
})

t.test(
  'a route whose requests wait for connections much longer than usual is overloaded, and other routes are not',
  onServer,
  async (t) => {
    const lock = await held(t)
    const database = fromPool(poolOf(t, { max: 3 }), { maxWaitSeconds: 60 })
    const app = Fastify({ handlerTimeout: 30_000 })
    t.teardown(() => app.close())
    await app.register(rateLimiting)
    await app.register(unitOfWork, { database })
    app.get('/locked', async () => (await database.client.query(lock.statement)).rowCount)
    app.get('/free', async () => (await database.client.query('SELECT 1')).rowCount)
    const ended: number[] = []
    const sent: Promise<unknown>[] = []
    await until(() => {
      sent.push(app.inject('/locked').then(({ statusCode }) => ended.push(statusCode)))
      return ended.length > 0
    }, 10)
    t.strictSame(new Set(ended), new Set([503]))
    t.strictSame(await statusesOf(app, 3, 'GET', '/free'), [200, 200, 200])
    await lock.release()
    await Promise.all(sent)
    t.ok(ended.filter((status) => status === 200).length >= 3, 'what was accepted is finished')
    t.strictSame(new Set(ended), new Set([200, 503]))
    t.strictSame(await statusesOf(app, 3, 'GET', '/locked'), [200, 200, 200])
  }
)

const ofPGlite: Record<string, (database: Postgres) => Promise<unknown>> = {
  query: (database) => database.query('SELECT json_build_object()::text AS json'),
  fields: (database) => database.fields({ text: 'SELECT 1' }),
  transaction: (database) => database.transaction((transaction) => transaction.query('SELECT 1')),
  'a transaction with many': (database) =>
    database.transaction(async (transaction) => {
      for (let statement = 0; statement < 100; statement += 1) await transaction.query('SELECT 1')
    }),
  reads: (database) => database.reads(undefined).query('SELECT 1'),
  client: (database) => database.client.query('SELECT 1')
}
for (const [kind, run] of Object.entries(ofPGlite))
  t.test(`a job that runs one statement after another on PGlite leaves turns of the event loop to others: ${kind}`, async (t) => {
    const { database } = await inMemory()
    let turns = 0
    const turn = setInterval(() => (turns += 1), 0)
    // A timer is due once a millisecond, and a statement may take less.
    for (let begin = performance.now(); performance.now() - begin < 50; ) await run(database)
    clearInterval(turn)
    t.ok(turns > 3, `${turns} turns`)
  })
