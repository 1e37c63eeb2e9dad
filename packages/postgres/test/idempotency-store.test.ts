import type { IdempotencyStore } from '@concordat/idempotency'
import { idempotencyStoreContract } from '@concordat/idempotency/testing'
import { contractOf, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import { migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { idempotencyHttpContract } from '@concordat/test-harness/idempotency-http-contract'
import Fastify from 'fastify'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, onServer, watched } from './database.ts'

// Cases with leases wait for them, and each case has its own key.
const casesAtOnce = 4

type Work = (transaction: RequestTransaction) => Promise<'commit' | 'rollback'>

/** Returns a function that runs work in the transaction of a route. */
async function transactions(t: Test, database: Postgres) {
  const app = Fastify({ handlerTimeout: 30_000 })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  const works = new Map<string, { work: Work; failed: (error: unknown) => void }>()
  app.get<{ Params: { id: string } }>('/:id', { config: { transaction: true } }, async (request, reply) => {
    const found = works.get(request.params.id)
    const ending = await found?.work(contractOf(app, 'transactions')?.transactionOf(request) as RequestTransaction).catch(found.failed)
    return reply.code(ending === 'commit' ? 200 : 500).send({})
  })
  let count = 0
  return async (work: Work) => {
    const id = String((count += 1))
    const errors: unknown[] = []
    works.set(id, { work, failed: (error) => void errors.push(error) })
    await app.inject({ url: `/${id}` })
    if (errors.length > 0) throw errors[0]
  }
}

// The times of the contract are too short for a busy machine. Here they are longer, and pass by changing the times in the table.
const stretch = 100

function stretched(store: IdempotencyStore): IdempotencyStore {
  return {
    ...store,
    async begin(key, fingerprint, terms) {
      const { leaseMs, lifetimeMs } = terms
      const longer = { leaseMs: leaseMs * stretch, lifetimeMs: lifetimeMs * stretch }
      const outcome = await store.begin(key, fingerprint, { ...terms, ...longer })
      if (outcome.state === 'exceeded') return { ...outcome, retryMs: outcome.retryMs / stretch }
      return outcome.state === 'busy' ? { ...outcome, leaseMs: outcome.leaseMs / stretch } : outcome
    },
    renew: (claim, milliseconds) => store.renew(claim, milliseconds * stretch),
    complete: (claim, response, milliseconds) => store.complete(claim, response, milliseconds * stretch)
  }
}

const moved = (column: string) => `${column} = ${column} - $1::integer * interval '1 millisecond'`

function passing(database: Postgres, schema: string) {
  return async (milliseconds: number) => {
    await database.query(`UPDATE ${schema}.idempotency_keys SET ${moved('lease_until')}, ${moved('expires_at')}`, [milliseconds * stretch])
    await database.query(`UPDATE ${schema}.idempotency_sizes SET ${moved('expires_at')}`, [milliseconds * stretch])
  }
}

/** Tests the behaviour over HTTP, with claims as leases and with claims in the transaction of their route. */
function overHttp(t: Test, database: Postgres, store: IdempotencyStore) {
  // The contract closes the store with each service.
  const open = { ...store, close: async () => {} }
  t.test('satisfies the contract over HTTP, with leases', async (t) =>
    idempotencyHttpContract(casesOf(t, casesAtOnce), () => ({ server: Fastify(), store: open }))
  )
  t.test('satisfies the contract over HTTP, in transactions', async (t) =>
    idempotencyHttpContract(
      casesOf(t),
      async () => {
        const server = Fastify({ handlerTimeout: 30_000 })
        await server.register(unitOfWork, { database })
        return { server, store: open }
      },
      { routeConfig: { transaction: true }, isTransactional: true }
    )
  )
}

t.test('the store on PostgreSQL, with two pools', onServer, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [connect(t, { max: 20 }), connect(t, { max: 20 })]
  await migrate(one.database, idempotencyMigrations, { schema })
  const [first, second] = [one, two].map(({ database }) => postgresIdempotencyStore(database, { schema })) as [
    IdempotencyStore,
    IdempotencyStore
  ]
  t.teardown(() => Promise.all([first.close?.(), second.close?.()]))
  idempotencyStoreContract(casesOf(t), () => stretched(first), {
    createSecond: () => stretched(second),
    pass: passing(one.database, schema),
    transact: await transactions(t, one.database)
  })
  overHttp(t, one.database, first)
})

t.test('the store on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, idempotencyMigrations, { schema })
  const store = postgresIdempotencyStore(database, { schema })
  const options = { pass: passing(database, schema), transact: await transactions(t, database) }
  idempotencyStoreContract(casesOf(t), () => stretched(store), options)
  overHttp(t, database, store)
})

t.test('reports a full sweep while expired sizes are left, of which a key whose progress was stored has several', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t)
  await migrate(database, idempotencyMigrations, { schema })
  const store = postgresIdempotencyStore(database, { schema })
  t.teardown(() => store.close?.())
  await pool.query(`INSERT INTO ${schema}.idempotency_sizes SELECT 'c', now() - interval '1 minute', 1 FROM generate_series(1, 25)`)
  const swept = [await store.sweep?.(10), await store.sweep?.(10), await store.sweep?.(10), await store.sweep?.(10)]
  t.strictSame(swept, [10, 10, 5, 0])
})

const keyOf = (letter: string) => letter.repeat(43)

/** Returns the bytes that a statement writes to the log, without images of pages, which depend on the last checkpoint. */
async function loggedBytes(pool: Pool, statement: string, undo: string): Promise<number> {
  for (;;) {
    await pool.query(undo)
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, WAL, TIMING OFF, FORMAT JSON) ${statement}`)
    const { Plan: plan } = rows[0]['QUERY PLAN'][0]
    const nodes = [plan, ...(plan.Plans ?? [])] as readonly Readonly<Record<string, number>>[]
    if (nodes.every((node) => node['WAL FPI'] === 0)) return Math.max(...nodes.map((node) => Number(node['WAL Bytes'])))
  }
}

t.test('a key of a transaction has one version of its record, and less than 900 bytes of the log', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t)
  await migrate(database, idempotencyMigrations, { schema })
  const sent: string[] = []
  const counted = watched(pool, (sql, response) => {
    sent.push(sql)
    return response()
  })
  const store = postgresIdempotencyStore(counted, { schema })
  t.teardown(() => store.close?.())
  const transact = await transactions(t, counted)
  const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client: keyOf('z'), maxClientBytes: 1e9 }
  const response = { status: 201, headers: { 'content-type': 'application/json', location: '/orders/1' }, body: 'x'.repeat(350) }
  await transact(async (transaction) => {
    const outcome = await store.begin(keyOf('a'), keyOf('b'), { ...terms, transaction })
    if (outcome.state === 'claimed') await store.complete(outcome.claim, response, 60_000)
    return 'commit'
  })
  t.strictSame((await pool.query(`SELECT ctid::text FROM ${schema}.idempotency_keys`)).rows, [{ ctid: '(0,1)' }])
  const insertion = String(sent.at(-1)).replace(/;\nCOMMIT$/, '')
  const bytes = await loggedBytes(pool, insertion, `DELETE FROM ${schema}.idempotency_keys`)
  t.ok(bytes > 400 && bytes <= 900, `${bytes} bytes`)
})

t.test('reads the text that an earlier release, which runs beside this one, has replaced by bytes', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t)
  await migrate(database, idempotencyMigrations, { schema })
  const store = postgresIdempotencyStore(database, { schema })
  t.teardown(() => store.close?.())
  const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client: keyOf('z'), maxClientBytes: 1e9 }
  const outcome = await store.begin(keyOf('a'), keyOf('a'), terms)
  if (outcome.state !== 'claimed') return t.fail(outcome.state)
  await store.complete(outcome.claim, { status: 200, headers: {}, body: 'ä' }, 60_000)
  const bodyOf = async () => ((await store.begin(keyOf('a'), keyOf('a'), terms)) as { response: { body: unknown } }).response.body
  t.equal(await bodyOf(), 'ä')
  await pool.query(`UPDATE ${schema}.idempotency_keys SET token = token + 1, body = '\\xff'`)
  return t.strictSame(await bodyOf(), Buffer.from([255]))
})

t.test('a connection whose prepared statements are gone prepares them again', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool, database } = connect(t, { max: 1 })
  await migrate(database, idempotencyMigrations, { schema })
  const store = postgresIdempotencyStore(database, { schema })
  const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client: keyOf('z'), maxClientBytes: 1e9 }
  const stateOf = async (letter: string) => (await store.begin(keyOf(letter), keyOf(letter), terms)).state
  t.strictSame([await stateOf('a'), await stateOf('a')], ['claimed', 'busy'])
  const { rows } = await pool.query(`SELECT count(*)::integer AS prepared FROM pg_prepared_statements WHERE statement LIKE '%${schema}%'`)
  t.strictSame(rows, [{ prepared: 1 }])
  await pool.query('DEALLOCATE ALL')
  t.strictSame([await stateOf('b'), await stateOf('b')], ['claimed', 'busy'])
})

t.test('a store whose database partly fails', onServer, async (t) => {
  const schema = freshSchema(t)
  const other = connect(t)
  await migrate(other.database, idempotencyMigrations, { schema })
  const terms = { leaseMs: 60_000, lifetimeMs: 60_000, takesOver: true, client: keyOf('z'), maxClientBytes: 1e9 }
  const steady = postgresIdempotencyStore(other.database, { schema })
  t.teardown(() => steady.close?.())

  t.test('reads a record again that changes at each read, but not forever', async (t) => {
    const store = postgresIdempotencyStore(
      { ...other.database, fields: async () => [['t', '0', ...Array.from({ length: 11 }, () => null)]] },
      { schema }
    )
    t.equal((await store.begin(keyOf('c'), keyOf('c'), terms)).state, 'busy')
  })

  t.test('keeps requests waiting when LISTEN fails, and listens again when it works', async (t) => {
    let isDeaf = true
    const ears: { onLost: () => void; line: Promise<() => Promise<void>> }[] = []
    const store = postgresIdempotencyStore(
      {
        ...other.database,
        listen: (channel, listener) => {
          if (isDeaf) return Promise.reject(new Error('deaf'))
          const line = other.database.listen(channel, listener)
          ears.push({ onLost: listener.onLost, line })
          return line
        }
      },
      { schema }
    )
    const key = keyOf('d')
    const outcome = await store.begin(key, key, terms)
    if (outcome.state !== 'claimed') return t.fail(outcome.state)
    const local = store.changed?.(key, AbortSignal.timeout(60_000))
    await store.renew(outcome.claim, 60_000)
    isDeaf = false
    const received = store.changed?.(key, AbortSignal.timeout(60_000))
    t.equal(ears.length, 1)
    await (await ears[0]?.line)?.()
    ears[0]?.onLost()
    const again = store.changed?.(key, AbortSignal.timeout(60_000))
    t.equal(ears.length, 2)
    // A notification that is sent before LISTEN is active is lost; a gate would then read the record at its next interval.
    await ears[1]?.line
    await steady.release(outcome.claim)
    await Promise.all([local, received, again])
    const waiting = store.changed?.(key, AbortSignal.timeout(60_000))
    await store.close?.()
    return waiting
  })

  t.test('a request that stops waiting for a key does not take the notification from another one', async (t) => {
    const key = keyOf('g')
    const outcome = await steady.begin(key, key, terms)
    if (outcome.state !== 'claimed') return t.fail(outcome.state)
    const [leave, stay] = [new AbortController(), AbortSignal.timeout(60_000)]
    const [first, second] = [steady.changed?.(key, leave.signal), steady.changed?.(key, stay)]
    leave.abort()
    await first
    await steady.release(outcome.claim)
    await second
    return t.equal(stay.aborted, false)
  })

  t.test('rejects with the error of the database, also in a transaction', async (t) => {
    const transact = await transactions(t, other.database)
    const store = postgresIdempotencyStore(other.database, { schema: 'nowhere_at_all' })
    await t.rejects(async () => store.begin(keyOf('e'), keyOf('e'), terms), { code: '42P01' })
    await t.rejects(
      transact(async (transaction) => {
        await store.begin(keyOf('e'), keyOf('e'), { ...terms, transaction })
        return 'commit'
      }),
      { code: '42P01' }
    )
    await t.rejects(async () => store.begin(keyOf('f'), keyOf('f'), { ...terms, leaseMs: Number.NaN }), TypeError)
    await t.rejects(async () => store.begin(keyOf('f'), keyOf('f'), { ...terms, maxClientBytes: Number.NaN }), TypeError)
  })
})
