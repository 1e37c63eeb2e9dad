import { memoryIdempotencyStore } from '@concordat/idempotency'
import type { FastifyInstance } from 'fastify'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { batchService } from './batch-service.ts'
import { connect, onServer, server, watched } from './database.ts'
import { kinds, type Things, thingsOn } from './unit-of-work.ts'

const change = (name: string) => ({ method: 'POST', path: `/things/${name}/changes` })
const note = (name: string) => ({ method: 'POST', path: `/things/${name}/notes` })
const lockOf = (name: string) => ({ method: 'POST', path: `/things/${name}/locks` })

/**
 * The routes of the tests: `changes` takes no key, `locks` waits for the lock of a thing, and both run in a transaction. `notes` takes no key
 * either and runs without one. `failing` has the names at which they fail.
 */
function routesOn({ table }: Things, failing = new Set<string>(), runs: string[] = []) {
  interface Route {
    Params: { name: string }
  }
  const fail = (name: string) => {
    runs.push(name)
    if (failing.has(name)) throw Object.assign(new Error('not now'), { statusCode: 503 })
  }
  return (app: FastifyInstance) => {
    app.post<Route>('/things/:name/changes', { config: { transaction: true } }, async ({ params, transaction }) => {
      await transaction.query(`INSERT INTO ${table} VALUES ($1)`, [params.name])
      fail(params.name)
      return { name: params.name }
    })
    app.post<Route>('/things/:name/locks', { config: { transaction: true, idempotency: 'required' } }, async ({ params, transaction }) => {
      runs.push(params.name)
      await transaction.query(`SELECT FROM ${table} WHERE name = $1 FOR UPDATE`, [params.name])
      return { name: params.name }
    })
    app.post<Route>('/things/:name/notes', async ({ params }) => {
      fail(params.name)
      return { name: params.name }
    })
  }
}

/** Opens a connection of its own, as another client of the database does. */
async function other(t: Test) {
  const client = new Client({ connectionString: server, options: '-c deadlock_timeout=60s' })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    for (const [name, store] of [
      ['the database', undefined],
      ['memory', memoryIdempotencyStore()]
    ] as const) {
      t.test(
        `keys in ${name}: a batch that is sent again executes what was rolled back, with or without a key of its own [B1]`,
        async (t) => {
          const things = await thingsOn(t, kind)
          const failing = new Set(['b', 'c'])
          const runs: string[] = []
          const { sendAll } = await batchService(t, things, { ...(store && { store }), routes: routesOn(things, failing, runs) })
          const operations = [change('a'), change('b'), { method: 'POST', path: '/things/d' }, note('c')]
          const first = await sendAll('k', operations)
          t.strictSame(first.statuses, [200, 503, 201, 503])
          failing.clear()
          const second = await sendAll('k', operations)
          t.strictSame([second.statuses, second.isReplayed], [[200, 200, 201, 503], false], 'without a transaction, a 5xx is final')
          t.strictSame([second.outcomes[0], second.outcomes[2]], [first.outcomes[0], first.outcomes[2]])
          t.strictSame(
            [runs, await things.names()],
            [
              ['a', 'b', 'c', 'b'],
              ['a', 'b', 'd']
            ]
          )
          const third = await sendAll('k', operations)
          t.strictSame([third.response.body, third.isReplayed], [second.response.body, true])
        }
      )

      t.test(`keys in ${name}: an atomic batch that was rolled back for a temporary reason leaves its key free [B1]`, async (t) => {
        const things = await thingsOn(t, kind)
        const failing = new Set(['b'])
        const { sendAll } = await batchService(t, things, { ...(store && { store }), routes: routesOn(things, failing) })
        t.strictSame((await sendAll('atomic', [change('a'), change('b')], true)).statuses, [424, 503])
        failing.clear()
        const other = await sendAll('atomic', [change('b'), change('a')], true)
        t.strictSame(
          [other.statuses, await things.names()],
          [
            [200, 200],
            ['a', 'b']
          ]
        )
      })

      t.test(`keys in ${name}: a 5xx of a rolled-back transaction leaves the key of a request free [I3]`, async (t) => {
        const things = await thingsOn(t, kind)
        let runs = 0
        const { app } = await batchService(t, things, {
          ...(store && { store }),
          routes: (app) =>
            app.post('/orders', { config: { transaction: true, idempotency: 'required' } }, async ({ transaction }) => {
              runs += 1
              await transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [`order ${runs}`])
              if (runs === 1) throw Object.assign(new Error('not now'), { statusCode: 503 })
              return { runs }
            })
        })
        const call = () => app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': 'order' } })
        t.strictSame([(await call()).statusCode, (await call()).statusCode, (await call()).json()], [503, 200, { runs: 2 }])
        t.strictSame(await things.names(), ['order 2'])
      })
    }

    t.test('a COMMIT that is refused leaves the key of an atomic batch free', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, sendAll } = await batchService(t, things, {
        routes: (app) =>
          app.post<{ Params: { name: string } }>(
            '/things/:name/late',
            { config: { transaction: true } },
            async ({ params, transaction }) => {
              await transaction.query('SET CONSTRAINTS ALL DEFERRED')
              await transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [params.name])
              return {}
            }
          )
      })
      await app.inject({ method: 'POST', url: '/things/a', headers: { 'idempotency-key': 'a' } })
      const operations = ['b', 'a'].map((name) => ({ method: 'POST', path: `/things/${name}/late` }))
      t.equal((await sendAll('k', operations, true)).statuses, 500)
      await things.database.query(`DELETE FROM ${things.table} RETURNING NULL AS json`)
      t.strictSame(
        [(await sendAll('k', operations, true)).statuses, await things.names()],
        [
          [200, 200],
          ['a', 'b']
        ]
      )
    })
  })
}

t.test('the loser of a conflict gets 503, and succeeds when it sends its batch again with the same key [B1] [I3]', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL', { options: '-c deadlock_timeout=20ms' })
  const { send, sendAll } = await batchService(t, things, { routes: routesOn(things) })
  await send('things', ['a', 'b'])
  const rival = await other(t)
  await rival.query('BEGIN')
  await rival.query(`SELECT FROM ${things.table} WHERE name = 'b' FOR UPDATE`)
  const losing = sendAll('k', [lockOf('a'), lockOf('b')], true)
  await waiting(things)
  const winning = rival.query(`SELECT FROM ${things.table} WHERE name = 'a' FOR UPDATE`)
  const lost = await losing
  t.strictSame(lost.statuses, [424, 503])
  t.match(lost.outcomes[1]?.body, { code: 'TRANSACTION_CONFLICT' })
  await winning
  await rival.query('ROLLBACK')
  const again = await sendAll('k', [lockOf('a'), lockOf('b')], true)
  t.strictSame([again.statuses, again.isReplayed], [[200, 200], false])
  t.ok((await sendAll('k', [lockOf('a'), lockOf('b')], true)).isReplayed)
})

t.test('a row that stays locked fails an operation, and a retry of its batch executes that operation', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL', { options: '-c lock_timeout=100ms' })
  const { send, sendAll } = await batchService(t, things, { routes: routesOn(things) })
  await send('things', ['a', 'b'])
  const rival = await other(t)
  await rival.query('BEGIN')
  await rival.query(`SELECT FROM ${things.table} WHERE name = 'b' FOR UPDATE`)
  for (const atomic of [true, false]) {
    const operations = [lockOf('a'), lockOf('b')]
    const key = `atomic-${atomic}`
    t.strictSame((await sendAll(key, operations, atomic)).statuses, [atomic ? 424 : 200, 500])
    await rival.query('ROLLBACK')
    t.strictSame((await sendAll(key, operations, atomic)).statuses, [200, 200])
    await rival.query('BEGIN')
    await rival.query(`SELECT FROM ${things.table} WHERE name = 'b' FOR UPDATE`)
  }
})

t.test('when the connection is lost during COMMIT, a retry executes no operation twice', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL')
  const { pool } = connect(t)
  let isLost = true
  // The server has committed, and its response does not arrive.
  const database = watched(pool, async (sql, response) => {
    const result = await response()
    if (sql !== 'COMMIT' || !isLost) return result
    isLost = false
    throw new Error('Connection terminated unexpectedly')
  })
  const runs: string[] = []
  const { send, sendAll } = await batchService(t, things, { database, routes: routesOn(things, new Set(), runs) })
  t.equal((await send('keyed', ['a', 'b'], { atomic: true })).statuses, 503)
  const retry = await send('keyed', ['a', 'b'], { atomic: true })
  t.match(retry.outcomes, [
    { status: 201, headers: { 'idempotency-replayed': 'true' } },
    { status: 201, headers: { 'idempotency-replayed': 'true' } }
  ])
  isLost = true
  const first = await sendAll('unkeyed', [change('c'), change('d')], true)
  const second = await sendAll('unkeyed', [change('c'), change('d')], true)
  t.strictSame(
    [first.statuses, second.response.body, second.isReplayed],
    [503, first.response.body, true],
    'it has no key, so it is not repeated'
  )
  isLost = true
  t.strictSame((await sendAll('alone', [change('e')])).statuses, [503])
  t.strictSame((await sendAll('alone', [change('e')])).statuses, [503])
  t.strictSame(
    [runs, await things.names()],
    [
      ['c', 'd', 'e'],
      ['a', 'b', 'c', 'd', 'e']
    ]
  )
})

t.test(
  'when the end of an operation of an atomic batch responds too late, the operation gets 503, and a retry executes the batch',
  onServer,
  async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const { pool } = connect(t)
    let isLate = true
    const database = watched(pool, async (sql, response) => {
      const result = await response()
      if (!sql.includes('RELEASE SAVEPOINT') || !isLate) return result
      isLate = false
      throw new Error('Query read timeout')
    })
    const { send } = await batchService(t, things, { database, routes: routesOn(things) })
    const late = await send('late', ['a', 'b'], { atomic: true })
    t.strictSame(late.statuses, [503, 424])
    t.strictSame(await things.names(), [])
    t.strictSame((await send('late', ['a', 'b'], { atomic: true })).statuses, [201, 201])
    t.strictSame(await things.names(), ['a', 'b'])
  }
)

t.test('atomic batches in opposite orders in two processes all take effect, each at its first attempt [B1]', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL')
  const runs: string[] = []
  const routes = routesOn(things, new Set(), runs)
  const here = await batchService(t, things, { routes })
  const there = await batchService(t, things, { database: connect(t).database, routes })
  await here.send('things', ['a', 'b'])
  const pairs = Array.from({ length: 12 }, (_, n) => [
    here.sendAll(`here-${n}`, [lockOf('a'), lockOf('b')], true),
    there.sendAll(`there-${n}`, [lockOf('b'), lockOf('a')], true)
  ])
  for (const { statuses } of await Promise.all(pairs.flat())) t.strictSame(statuses, [200, 200])
  t.equal(runs.length, 48)
})

/** Resolves when a transaction waits for the lock of a thing. */
async function waiting({ database, table }: Things) {
  const sql = `SELECT count(*)::text AS json FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'SELECT FROM ${table}%'`
  while ((await database.query<number>(sql))[0] === 0);
}

t.test('an atomic batch that waits too long for one of another process leaves its key free', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL')
  const holder = await batchService(t, things, { routes: routesOn(things) })
  const patient = await batchService(t, things, {
    database: connect(t, { options: '-c statement_timeout=200ms' }).database,
    routes: routesOn(things)
  })
  await holder.send('things', ['a', 'b'])
  const rival = await other(t)
  await rival.query('BEGIN')
  await rival.query(`SELECT FROM ${things.table} WHERE name = 'a' FOR UPDATE`)
  const held = holder.sendAll('held', [lockOf('a')], true)
  await waiting(things)
  const refused = await patient.sendAll('k', [lockOf('b')], true)
  t.match(refused.response.json(), { statusCode: 503, code: 'TRANSACTION_CONFLICT' })
  t.equal(refused.response.headers['retry-after'], '1')
  await rival.query('ROLLBACK')
  t.strictSame([(await held).statuses, (await patient.sendAll('k', [lockOf('b')], true)).statuses], [[200], [200]])
})
