import { randomUUID } from 'node:crypto'
import auditTrail, { type AuditRecord } from '@concordat/audit-trail'
import { auditTrailStoreContract } from '@concordat/audit-trail/testing'
import type { Metric, Observer } from '@concordat/plugin-kit/observer'
import { publish } from '@concordat/plugin-kit/wiring'
import { migrate, type Postgres } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { proxyOf } from '@concordat/test-harness/proxy'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import type { QueryResult } from 'pg'
import t, { type Test } from 'tap'
import { batchService } from './batch-service.ts'
import { connect, freshSchema, inMemory, onServer, server, watched } from './database.ts'
import { kinds, type Things, thingsOn } from './unit-of-work.ts'

const transaction = { config: { transaction: true } } as const
const schemaOf = ({ table }: Things) => table.split('.')[0] as string

function recordAt(occurredAt: string): AuditRecord {
  const resource = { permissions: [], method: 'POST', route: '/orders', resource: '/orders', path: '/orders' }
  return { id: randomUUID(), occurredAt, requestId: 'r', ...resource, outcome: 'committed', status: 200 }
}

/** Starts a service with an audit trail on this database. `of` returns the records of a path. */
async function audited(t: Test, things: Things, database: Postgres = things.database, routes?: (app: FastifyInstance) => void) {
  const schema = schemaOf(things)
  await migrate(things.database, auditTrailMigrations, { schema })
  const auditTrail = postgresAuditTrailStore(database, { schema })
  const service = await batchService(t, things, { database, auditTrail, ...(routes && { routes }) })
  const all = () =>
    things.database.query<AuditRecord & { readonly error_code: string | null }>(
      `SELECT to_json(audit_records)::text AS json FROM ${schema}.audit_records ORDER BY occurred_at`
    )
  const of = async (path: string) => (await all()).filter((record) => record.path === path).map(({ outcome, status }) => [outcome, status])
  return { ...service, schema, all, of }
}

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('passes the store contract', async (t) => {
      const { database, schema } = kind === 'PGlite' ? await inMemory() : { ...connect(t), schema: freshSchema(t) }
      await migrate(database, auditTrailMigrations, { schema })
      auditTrailStoreContract(casesOf(t), () => postgresAuditTrailStore(database, { schema }))
    })

    t.test('a request and its record are committed together, and a replay has none', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, of } = await audited(t, things)
      const send = (name: string, key: string) =>
        app.inject({ method: 'POST', url: `/things/${name}`, headers: { 'idempotency-key': key } })
      t.equal((await send('oak', 'k')).statusCode, 201)
      t.strictSame(await of('/things/oak'), [['committed', 201]], 'stored when the response is there')
      t.equal((await send('oak', 'k')).headers['idempotency-replayed'], 'true')
      t.equal((await send('bad', 'l')).statusCode, 409)
      t.equal((await send('bad', 'l')).headers['idempotency-replayed'], 'true')
      t.equal((await send('oak', 'm')).statusCode, 500, 'a violated constraint')
      t.equal((await send('ash', 'm')).statusCode, 201, 'a retry that executes')
      await app.close()
      t.strictSame(await of('/things/bad'), [['refused', 409]])
      t.strictSame(await of('/things/oak'), [
        ['committed', 201],
        ['failed', 500]
      ])
      t.strictSame(await of('/things/ash'), [['committed', 201]])
      t.strictSame(await things.names(), ['ash', 'oak'])
    })

    t.test('a handler that runs again after a conflict has one record', async (t) => {
      const things = await thingsOn(t, kind)
      let runs = 0
      const { app, of } = await audited(t, things, things.database, (app) => {
        app.post('/races', { config: { transaction: { maxRetries: 2 } } }, async (request) => {
          await request.transaction.query(`INSERT INTO ${things.table} VALUES ('elm')`)
          runs += 1
          if (runs < 3) throw Object.assign(new Error('conflict'), { code: '40001' })
          return {}
        })
      })
      t.equal((await app.inject({ method: 'POST', url: '/races' })).statusCode, 200)
      await app.close()
      t.strictSame([runs, await of('/races')], [3, [['committed', 200]]])
    })

    t.test('a refusal without a key rolls back, and is recorded after its response', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, of } = await audited(t, things, things.database, (app) => {
        app.post('/refused', transaction, async (request, reply) => {
          await request.transaction.query(`INSERT INTO ${things.table} VALUES ('elm')`)
          return reply.code(409).send({})
        })
        app.post('/nothing', transaction, async () => ({}))
        app.post('/reads', { config: { transaction: { readOnly: true } } }, async (request) =>
          request.transaction.query(`SELECT name FROM ${things.table}`)
        )
        app.post('/swallows', transaction, async (request) => {
          await request.transaction.query('SELECT missing_column').catch(() => {})
          return {}
        })
      })
      const statuses = []
      for (const url of ['/refused', '/nothing', '/reads', '/swallows'])
        statuses.push((await app.inject({ method: 'POST', url })).statusCode)
      t.strictSame(statuses, [409, 200, 200, 500])
      await app.close()
      t.strictSame(
        [await of('/refused'), await of('/nothing'), await of('/reads'), await of('/swallows')],
        [[['refused', 409]], [['committed', 200]], [['committed', 200]], [['failed', 500]]]
      )
      t.strictSame(await things.names(), [])
    })

    t.test('a request whose record cannot be stored fails, and nothing of it is committed', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, schema } = await audited(t, things)
      await things.database.query(`ALTER TABLE ${schema}.audit_records RENAME TO moved`)
      const response = await app.inject({ method: 'POST', url: '/things/oak', headers: { 'idempotency-key': 'k' } })
      t.equal(response.statusCode, 500)
      t.strictSame(await things.names(), [])
      await things.database.query(`ALTER TABLE ${schema}.moved RENAME TO audit_records`)
      const retry = await app.inject({ method: 'POST', url: '/things/oak', headers: { 'idempotency-key': 'k' } })
      t.equal(retry.statusCode, 201)
    })

    t.test('each operation of a batch is recorded, and the batch only if it was refused as a whole', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, send, sendAll, all } = await audited(t, things)
      await send('k', ['a', 'bad', 'b'])
      await send('k', ['a', 'bad', 'b'])
      await send('l', ['c', 'd'], { atomic: true })
      await send('m', ['e', 'bad2', 'f'], { atomic: true })
      await sendAll('n', [{ method: 'POST', path: '/elsewhere' }])
      await app.close()
      t.strictSame((await all()).map(({ path, outcome, repetitions }) => [path, outcome, repetitions]).toSorted(), [
        ['/batches', 'refused', null],
        ['/things/a', 'committed', null],
        ['/things/b', 'committed', null],
        // With that of bad2, and that of f.
        ['/things/bad', 'refused', 1],
        ['/things/c', 'committed', null],
        ['/things/d', 'committed', null],
        ['/things/e', 'refused', 1]
      ])
      t.strictSame(await things.names(), ['a', 'b', 'c', 'd'])
    })

    t.test('an atomic batch that runs again after conflicts has one record for each operation, of the last run', async (t) => {
      for (const conflicts of [2, 3]) {
        const things = await thingsOn(t, kind)
        let left = conflicts
        const { app, sendAll, all } = await audited(t, things, things.database, (app) => {
          app.post<{ Params: { name: string } }>('/things/:name/races', { config: { transaction: { maxRetries: 2 } } }, async (request) => {
            await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [request.params.name])
            if (request.params.name === 'elm' && left-- > 0)
              await request.transaction.query("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")
            return {}
          })
        })
        const races = ['oak', 'elm'].map((name) => ({ method: 'POST', path: `/things/${name}/races` }))
        const { statuses } = await sendAll('k', races, true)
        await app.close()
        t.strictSame(statuses, conflicts === 2 ? [200, 200] : [424, 503])
        t.strictSame(
          (await all()).map(({ path, outcome, status }) => [path, outcome, status]).toSorted(),
          conflicts === 2
            ? [
                ['/things/elm/races', 'committed', 200],
                ['/things/oak/races', 'committed', 200]
              ]
            : [
                ['/things/elm/races', 'failed', 503],
                ['/things/oak/races', 'refused', 424]
              ]
        )
      }
    })

    t.test('a sweep deletes records beyond the retention, in batches, in one process at a time', async (t) => {
      const { database, schema } = kind === 'PGlite' ? await inMemory() : { ...connect(t), schema: freshSchema(t) }
      await migrate(database, auditTrailMigrations, { schema })
      const other = kind === 'PGlite' ? database : connect(t).database
      const options = { schema, retentionDays: 30 }
      const [here, there] = [postgresAuditTrailStore(database, options), postgresAuditTrailStore(other, options)]
      const old = Array.from({ length: 5 }, () => recordAt('2027-09-04T11:59:59.999Z'))
      await here.add([...old, recordAt('2027-09-04T12:00:00.000Z')])
      const count = async () => (await database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.audit_records`))[0]
      t.equal(await count(), 6, 'an addition deletes nothing')
      const now = Date.parse('2027-10-04T12:00:00.000Z')
      const counts = await Promise.all([here.sweep?.(now, 3), there.sweep?.(now, 3)])
      t.ok(counts.every((deleted) => [0, 2, 3].includes(deleted as number)) && counts.includes(3), counts.join())
      while ((await here.sweep?.(now, 3)) !== 0);
      t.equal(await count(), 1)
      t.throws(() => postgresAuditTrailStore(database, { retentionDays: 0 }), {
        message: 'postgres: options.retentionDays must be an integer from 1 to 36500, but is 0.'
      })
    })
  })
}

t.test('when the connection is lost with COMMIT, exactly one record says what happened', onServer, async (t) => {
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  for (const isCommitted of [true, false]) {
    const { pool } = connect(t)
    const things = await thingsOn(t, 'PostgreSQL')
    const messages: string[] = []
    const database = watched(pool, async (sql, response): Promise<QueryResult> => {
      messages.push(sql)
      if (!sql.endsWith('COMMIT')) return response()
      if (isCommitted) await response()
      throw lost
    })
    const { app, all } = await audited(t, things, database)
    const response = await app.inject({ method: 'POST', url: '/things/oak', headers: { 'idempotency-key': 'k' } })
    t.equal(response.statusCode, 503)
    await app.close()
    t.strictSame(
      (await all()).map(({ outcome, status }) => [outcome, status]),
      [isCommitted ? ['committed', 201] : ['failed', 503]]
    )
    t.strictSame(await things.names(), isCommitted ? ['oak'] : [])
    t.equal(messages.length, 3, 'BEGIN with the claim, the change, and the response and the record with COMMIT')
  }
})

t.test(
  'while the database is down, requests that do not need it still get their responses; what the queue has no place for is counted, the rest is stored later',
  onServer,
  async (t) => {
    const proxy = await proxyOf(t, server)
    const { database } = connect(t, { connectionString: proxy.url, max: 2 })
    const schema = freshSchema(t)
    const direct = connect(t).database
    await migrate(direct, auditTrailMigrations, { schema })
    const lost: string[] = []
    const app = Fastify()
    t.teardown(() => app.close())
    publish(app, { observer: { count: ({ name }: Metric) => void lost.push(name), record: () => {} } as unknown as Observer })
    await app.register(auditTrail, { store: postgresAuditTrailStore(database, { schema }) })
    app.post('/orders', async () => ({}))
    // Nothing arrives from the database, so a request that waited for it would have no response.
    proxy.cut()
    for (let sent = 0; sent < 1003; sent += 1) t.equal((await app.inject({ method: 'POST', url: '/orders' })).statusCode, 200)
    t.strictSame(
      lost,
      Array.from({ length: 3 }, () => 'concordat.audit_trail.lost')
    )
    proxy.heal()
    const count = async () => (await direct.query<number>(`SELECT count(*)::text AS json FROM ${schema}.audit_records`))[0]
    await until(async () => (await count()) === 1000)
  }
)
