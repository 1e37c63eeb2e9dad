import { contractOf } from '@concordat/plugin-kit/wiring'
import { transactionPool } from '@concordat/postgres/transaction-pool'
import { currentTransaction, type Transaction } from '@concordat/postgres/unit-of-work'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { kinds, serviceOn, thingsOn } from './unit-of-work.ts'

const config = { transaction: true } as const

/** Runs the work in a handler with a pool on its transaction, and returns the names in the table after its response. */
async function namesAfter(t: Test, kind: (typeof kinds)[number], work: (pool: Pool, table: string) => Promise<unknown>, status = 200) {
  const things = await thingsOn(t, kind)
  const app = await serviceOn(t, things, (app) => {
    app.post('/things', { config }, async ({ transaction }, reply) => {
      await work(transactionPool(transaction), things.table)
      return reply.code(status).send({})
    })
  })
  const response = await app.inject({ method: 'POST', url: '/things' })
  t.equal(response.statusCode, status, response.body)
  return things.names()
}

const whatEndsATransaction = [
  'COMMIT',
  'commit work;',
  'END',
  ' ; ROLLBACK TRANSACTION',
  'abort',
  '/* why */ COMMIT',
  '-- why\rCOMMIT',
  '-- why\nCOMMIT',
  'COMMIT AND CHAIN',
  'COMMIT /* why */',
  "PREPARE TRANSACTION 'one'",
  'START TRANSACTION READ ONLY',
  'BEGIN ISOLATION LEVEL SERIALIZABLE',
  '/* /* in */ out */ COMMIT'
]

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('refuses every statement that would end the transaction of the request', async (t) => {
      const names = await namesAfter(
        t,
        kind,
        async (pool, table) => {
          await pool.query(`INSERT INTO ${table} VALUES ('oak')`)
          for (const text of whatEndsATransaction) await t.rejects(pool.query(text), TypeError, text)
          await t.rejects(pool.query('COMMIT'), {
            message:
              'postgres: COMMIT would end the transaction of the request, which ends with its response. Throw an error to roll it back.'
          })
          await t.rejects(pool.query('START TRANSACTION READ ONLY'), {
            message:
              'postgres: "START TRANSACTION READ ONLY" cannot run in the transaction of a request. Set isolation and readOnly in config.transaction of the route.'
          })
          await t.rejects(pool.query('SELECT 1; COMMIT'), { code: '42601' })
        },
        409
      )
      t.strictSame(names, [])
    })

    t.test('maps BEGIN, COMMIT and ROLLBACK to savepoints, and runs transactions one after another', async (t) => {
      const names = await namesAfter(t, kind, async (pool, table) => {
        const inTransaction = async (name: string, ...end: string[]) => {
          const client = await pool.connect()
          await client.query('start transaction;')
          await client.query(`INSERT INTO ${table} VALUES ($1)`, [name])
          await client.query('SAVEPOINT own')
          await client.query(`INSERT INTO ${table} VALUES ($1)`, [`${name} own`])
          await client.query('ROLLBACK WORK TO SAVEPOINT own')
          for (const statement of end) await client.query(statement)
          for (const statement of ['COMMIT', 'ROLLBACK']) await t.rejects(client.query(statement), TypeError, `${statement} without BEGIN`)
          client.release()
        }
        const failed = async () => {
          const client = await pool.connect()
          await client.query('BEGIN')
          await client.query(`INSERT INTO ${table} VALUES ('failed')`)
          await t.rejects(client.query('SELECT missing_column'), { code: '42703' })
          await t.rejects(client.query('COMMIT'), { code: '25P02' })
          client.release()
        }
        await Promise.all([
          inTransaction('oak', 'COMMIT'),
          inTransaction('ash', 'Rollback'),
          failed(),
          inTransaction('elm', 'END', 'BEGIN', 'ABORT', 'BEGIN WORK', 'COMMIT'),
          pool.query(`INSERT INTO ${table} VALUES ('fir')`)
        ])
      })
      t.strictSame(names, ['elm', 'fir', 'oak'])
    })

    t.test('accepts the forms of a statement that pg accepts, except a cursor', async (t) => {
      const names = await namesAfter(
        t,
        kind,
        async (pool, table) => {
          const text = `INSERT INTO ${table} VALUES ($1) RETURNING name, 5::int8 AS size`
          t.match(await pool.query(text, ['oak']), {
            command: 'INSERT',
            rowCount: 1,
            rows: [{ name: 'oak' }],
            fields: [{ name: 'name' }, {}]
          })
          const types = { getTypeParser: (oid: number) => (value: string) => `${oid} ${value}` }
          const { rows } = await pool.query({ text, values: ['ash'], rowMode: 'array', types })
          t.strictSame(rows, [['25 ash', '20 5']])
          const given = Promise.withResolvers<unknown>()
          pool.query(text, ['elm'], (error, result) => given.resolve(error ?? result.rows[0].name))
          t.equal(await given.promise, 'elm')
          const refused = Promise.withResolvers<unknown>()
          pool.query('SELECT missing_column', (error) => refused.resolve(error))
          t.match(await refused.promise, { code: '42703' })
          const client = await pool.connect()
          const read = client.query({ submit: () => {} } as never) as unknown as Promise<unknown>
          await t.rejects(read, { message: 'postgres: a transaction cannot read with a cursor or a stream. Read pages instead.' })
          client.release()
        },
        409
      )
      t.strictSame(names, [])
    })
  })
}

t.test('recognizes the conflict behind another error of the handler, until the handler runs again', async (t) => {
  const things = await thingsOn(t, 'PGlite')
  const runs: string[] = []
  const app = await serviceOn(t, things, (app) => {
    app.post<{ Params: { end: string } }>('/:end', { config: { transaction: { maxRetries: 1 } } }, async ({ params, transaction }) => {
      const { end } = params
      runs.push(end)
      if (runs.length > 1) throw new Error('a mistake')
      await t.rejects(transactionPool(transaction).query(`DO 'BEGIN RAISE SQLSTATE ''40001''; END'`), { code: '40001' })
      throw end === 'other' ? Object.assign(new Error('taken'), { statusCode: 409 }) : new Error('the error of a data layer')
    })
  })
  t.equal((await app.inject({ method: 'POST', url: '/again' })).statusCode, 500)
  t.strictSame(runs.splice(0), ['again', 'again'])
  t.equal((await app.inject({ method: 'POST', url: '/other' })).statusCode, 409)
  t.strictSame(runs, ['other'])
})

t.test('runs in the savepoint of a request that a handler injects', async (t) => {
  const things = await thingsOn(t, 'PGlite')
  const app = await serviceOn(t, things, (app) => {
    app.post<{ Params: { status: string } }>('/inner/:status', { config }, async ({ params, transaction }, reply) => {
      await transactionPool(transaction).query(`INSERT INTO ${things.table} VALUES ($1)`, [params.status])
      return reply.code(Number(params.status)).send({})
    })
    app.post('/outer', { config }, async ({ transaction }) => {
      await transactionPool(transaction).query(`INSERT INTO ${things.table} VALUES ('outer')`)
      for (const status of [201, 409]) await app.inject({ method: 'POST', url: `/inner/${status}` })
      return {}
    })
  })
  t.equal((await app.inject({ method: 'POST', url: '/outer' })).statusCode, 200)
  t.strictSame(await things.names(), ['201', 'outer'])
})

t.test('returns one pool for each transaction of a request, and refuses other objects', async (t) => {
  const seen: unknown[] = []
  await namesAfter(t, 'PGlite', async (pool) => seen.push(pool === transactionPool(currentTransaction() as Transaction)))
  await namesAfter(t, 'PGlite', async (pool) => seen.push(pool))
  t.equal(seen[0], true)
  const things = await thingsOn(t, 'PGlite')
  const app = await serviceOn(t, things, (app) => {
    app.post('/things', { config }, async (request) => {
      transactionPool(contractOf(app, 'transactions')?.transactionOf(request) as never)
    })
  })
  const { statusCode, body } = await app.inject({ method: 'POST', url: '/things' })
  t.match(
    [statusCode, body],
    [500, 'postgres: the transaction does not belong to the unit of work. Pass request.transaction or currentTransaction().']
  )
})
