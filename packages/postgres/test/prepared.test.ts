// Statements that the suite generates are prepared, and no request notices when PostgreSQL refuses what it has prepared.
import idempotency from '@concordat/idempotency'
import type { ListQuery } from '@concordat/pagination-query'
import { runSql } from '@concordat/pagination-query/sql'
import { fromPool, migrate } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import { postgresRateLimitStore, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { statementsOn } from '@concordat/postgres/rows'
import { table } from '@concordat/postgres/table'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { freshSchema, onServer, server } from './database.ts'

interface Tree {
  readonly id: string
  readonly height: number
}
const trees = table<Tree>({ name: 'trees', fields: new Set(['id', 'height']) }, { hasVersion: false })
const page = (conditions: ListQuery<Tree>['conditions'] = [], perPage = 2): ListQuery<Tree> => ({
  name: 'trees',
  id: 'id',
  fields: ['id', 'height'],
  conditions,
  order: [{ field: 'id', kind: 'string', nullable: false, descending: false }],
  perPage,
  reverse: false,
  offset: 0,
  ranges: [{ equal: [] }],
  count: 'none'
})

/** Starts a service on a database with a single connection, which `admin` uses too. */
async function start(t: Test) {
  const schema = freshSchema(t)
  const pool = new Pool({ connectionString: server, max: 1, options: `-c search_path=${schema}` })
  t.teardown(() => pool.end())
  const database = fromPool(pool)
  await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE trees (id text PRIMARY KEY, height integer NOT NULL DEFAULT 1, note text)`)
  await pool.query(`INSERT INTO trees SELECT 'tree ' || n FROM generate_series(1, 3) AS n`)
  await migrate(database, [...idempotencyMigrations, ...rateLimitMigrations], { schema })
  const store = postgresIdempotencyStore(database, { schema })
  const limits = postgresRateLimitStore(database, { schema })
  const rows = statementsOn(database.client)
  const app = Fastify({ handlerTimeout: 30_000 })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  await app.register(idempotency, { scope: () => 'a client', store })
  const inTransaction = { config: { transaction: true, idempotency: 'accepted' } } as const
  app.get('/outside', async () => trees.find(rows, { id: 'tree 1' }))
  app.get('/page', async () => ({ rows: (await runSql(database.client, page())).rows }))
  app.get('/limit', async () => limits.add('key', 1, 10, 60_000))
  app.post('/first', inTransaction, async ({ transaction }) => trees.update(statementsOn(transaction), { id: 'tree 1' }, { height: 2 }))
  app.post('/list', inTransaction, async ({ transaction }) => ({ rows: (await runSql(transaction, page())).rows }))
  app.post('/second', inTransaction, async ({ transaction }) => {
    await transaction.query(`UPDATE trees SET note = 'seen' WHERE id = 'tree 2'`)
    return trees.update(statementsOn(transaction), { id: 'tree 1' }, { height: 2 })
  })
  app.post('/own', inTransaction, async ({ transaction }) => {
    await transaction.query('DEALLOCATE ALL')
    return trees.update(statementsOn(transaction), { id: 'tree 1' }, { height: 3 })
  })
  let keys = 0
  const send = async (method: string, url: string) => {
    const headers = url.endsWith('+key') ? { 'idempotency-key': `key-${(keys += 1)}` } : {}
    const response = await app.inject({ method: method as 'GET', url: url.replace('+key', ''), headers })
    return [response.statusCode, response.body]
  }
  const prepared = async (part: string) => {
    const { rows } = await pool.query<{ statement: string }>('SELECT statement FROM pg_prepared_statements')
    return rows.filter(({ statement }) => statement.includes(part)).length
  }
  return { pool, database, rows, send, prepared }
}

const requests = [
  ['GET', '/outside'],
  ['GET', '/page'],
  ['GET', '/limit'],
  ['POST', '/first'],
  ['POST', '/first+key'],
  ['POST', '/list'],
  ['POST', '/list+key'],
  ['POST', '/second'],
  ['POST', '/second+key'],
  ['POST', '/own'],
  ['POST', '/own+key']
] as const

const changes = {
  'all of them were deallocated': ['DEALLOCATE ALL'],
  'the type of a column was changed': [
    'ALTER TABLE trees ALTER COLUMN height TYPE bigint',
    'ALTER TABLE trees ALTER COLUMN height TYPE integer'
  ],
  'a column was added': ['ALTER TABLE trees ADD COLUMN crown integer', 'ALTER TABLE trees DROP COLUMN crown'],
  'the session was reset': ['DISCARD ALL']
}

t.test('requests do not notice that what was prepared is refused', onServer, async (t) => {
  const { pool, send } = await start(t)
  const { rows } = await pool.query('SHOW search_path')
  for (const [change, statements] of Object.entries(changes)) {
    for (const [method, url] of requests) {
      for (const statement of statements) {
        for (let n = 0; n < 3; n += 1) await send(method, url)
        const before = await send(method, url)
        await pool.query(statement)
        if (statement === 'DISCARD ALL') await pool.query(`SET search_path = ${rows[0].search_path}`)
        const [status, body] = await send(method, url)
        t.equal(status, 200, `${method} ${url} after ${statement}: ${change}: ${body}`)
        if (url !== '/limit') t.equal(String(body).replaceAll(/"(\d)"/g, '$1'), String(before[1]).replaceAll(/"(\d)"/g, '$1'))
      }
    }
  }
})

t.test(
  'tables, pages without conditions and the stores are prepared; conditions, own statements and what follows in a transaction are not',
  onServer,
  async (t) => {
    const { database, rows, send, prepared } = await start(t)
    for (const [method, url] of requests.slice(0, 6)) await send(method, url)
    t.equal(await prepared('FROM "trees" WHERE'), 1, 'a row')
    t.equal(await prepared('UPDATE "trees"'), 1, 'the first statement of a transaction')
    t.equal(await prepared('membera'), 1, 'a page')
    t.equal(await prepared('.rate_limits'), 1, 'a store')
    const contains = { field: 'id', kind: 'string', operator: 'contains', value: 'x' } as const
    const before = await prepared('')
    for (const condition of [contains, { ...contains, operator: 'eq' } as const]) await runSql(database.client, page([condition]))
    await rows.query('SELECT 1 AS own')
    t.equal(await prepared(''), before)
    await rows.prepared('SELECT 2 AS own')
    t.equal(await prepared('AS own'), 1, 'on request')
  }
)

t.test('a connection prepares at most 200 texts of queries, and sends others as text', onServer, async (t) => {
  const { rows, prepared } = await start(t)
  for (let n = 0; n < 220; n += 1) t.strictSame(await rows.prepared(`SELECT $1::integer AS n${n}`, [n]), [{ [`n${n}`]: n }])
  t.equal(await prepared('$1::integer AS n'), 200)
})

t.test('errors of a prepared statement are those of the statement, and a failed connection is reported', onServer, async (t) => {
  const { rows, pool } = await start(t)
  for (let n = 0; n < 2; n += 1) {
    await t.rejects(rows.prepared('INSERT INTO trees (id) VALUES ($1)', ['tree 1']), { code: '23505' })
    await t.rejects(rows.prepared('SELECT $1::integer', ['x']), { code: '22P02' })
    await t.rejects(rows.prepared('SELEC 1'), { code: '42601' })
  }
  t.strictSame(await rows.prepared('SELECT 1 AS one'), [{ one: 1 }])
  const failing = new Pool({ connectionString: server.replace(/:\d+\//, ':1/'), max: 1 })
  t.teardown(() => failing.end())
  await t.rejects(statementsOn(fromPool(failing).client).prepared('SELECT 1'), { code: 'SERVICE_UNAVAILABLE' })
  await pool.query('SELECT 1')
})

t.test('without a client that prepares, prepared statements are ordinary ones', async (t) => {
  t.strictSame(await statementsOn({ query: async () => ({ rows: [{ id: 1 }], rowCount: 1 }) } as never).prepared('SELECT 1'), [{ id: 1 }])
})
