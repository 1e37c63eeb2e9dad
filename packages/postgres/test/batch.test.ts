import batch from '@concordat/batch'
import idempotency from '@concordat/idempotency'
import { migrate } from '@concordat/postgres'
import { idempotencyMigrations } from '@concordat/postgres/idempotency'
import { postgresStores } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { kinds, thingsOn } from './unit-of-work.ts'

interface ReadOutcome {
  readonly status: number
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

/** Starts a service with the plugins in the order of the preset, on a pool of one connection. */
async function service(t: Test, kind: 'PGlite' | 'PostgreSQL') {
  const things = await thingsOn(t, kind, { max: 1, connectionTimeoutMillis: 2000 })
  const { database, table } = things
  const schema = table.split('.')[0] as string
  await migrate(database, idempotencyMigrations, { schema })
  const { idempotency: store } = postgresStores(database, { schema })
  const { register, runAsOne, transactionOf } = postgresTransactions(database)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(batch, {
    transactions: {
      run: runAsOne,
      includes: (request) => transactionOf(request) !== undefined,
      isRolledBack: (request) => transactionOf(request)?.isRolledBack === true
    },
    idempotency: (request) => request.idempotency
  })
  await register(app, { handlerTimeoutSeconds: 20 })
  await app.register(idempotency, { scope: () => 'a client', store, transaction: transactionOf })
  app.post<{ Params: { name: string } }>(
    '/things/:name',
    { config: { transaction: true, idempotency: 'required' } },
    async (request, reply) => {
      await request.transaction.query(`INSERT INTO ${table} VALUES ($1)`, [request.params.name])
      return reply.code(request.params.name.startsWith('bad') ? 409 : 201).send({ name: request.params.name })
    }
  )
  app.get('/things', async () => (await database.client.query(`SELECT name FROM ${table} ORDER BY name`)).rows)
  app.batch('/batches', { paths: ['/things'], atomic: 'byRequest', config: { idempotency: 'required' } })
  await app.ready()

  async function send(key: string, names: readonly string[], more: { atomic?: boolean; last?: readonly object[] } = {}) {
    const operations = [...names.map((name) => ({ method: 'POST', path: `/things/${name}` })), ...(more.last ?? [])]
    const response = await app.inject({
      method: 'POST',
      url: '/batches',
      headers: { 'idempotency-key': key },
      payload: { operations: operations.map((operation, index) => ({ id: `n${index}`, ...operation })), atomic: more.atomic ?? false }
    })
    const outcomes = response.json<ReadOutcome[]>()
    return { response, outcomes, statuses: response.statusCode === 200 ? outcomes.map(({ status }) => status) : response.statusCode }
  }
  const records = async () => (await database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.idempotency_keys`))[0]
  return { send, things, records }
}

const list = { method: 'GET', path: '/things' }

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('runs each operation of a batch in its own transaction, so that one connection is enough [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      const { statuses, outcomes } = await send('k', ['a', 'bad', 'b'], { last: [list] })
      t.strictSame(statuses, [201, 409, 201, 200])
      t.strictSame(outcomes[3]?.body, [{ name: 'a' }, { name: 'b' }])
      t.strictSame([await things.names(), await records()], [['a', 'b'], 4])
    })

    t.test('commits an atomic batch in one transaction, with the keys of its operations [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      const first = await send('k', ['a', 'b'], { atomic: true })
      t.strictSame(first.statuses, [201, 201])
      t.strictSame([await things.names(), await records()], [['a', 'b'], 3])
      const again = await send('k', ['a', 'b'], { atomic: true })
      t.strictSame([again.response.body, again.response.headers['idempotency-replayed']], [first.response.body, 'true'])
      t.strictSame(await things.names(), ['a', 'b'])
    })

    t.test('rolls back an atomic batch when one operation fails, including the keys of its operations [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      t.strictSame((await send('k', ['a', 'bad', 'b'], { atomic: true })).statuses, [424, 409, 424])
      t.strictSame([await things.names(), await records()], [[], 1])
      t.strictSame((await send('l', ['a', 'a'], { atomic: true })).statuses, [424, 500], 'a violated constraint')
      t.strictSame((await send('m', ['a'], { atomic: true, last: [list] })).statuses, [424, 409], 'an operation outside the transaction')
      t.strictSame(await things.names(), [])
      t.strictSame((await send('n', ['a', 'b'], { atomic: true })).statuses, [201, 201])
      t.strictSame(await things.names(), ['a', 'b'])
    })

    t.test('does not repeat operations that were done before a crash when the batch is sent again', async (t) => {
      const { send, things } = await service(t, kind)
      await send('k', ['a', 'b'])
      // The state that a process leaves when it ends before the response of the batch is stored.
      const schema = things.table.split('.')[0] as string
      await things.database.query(`UPDATE ${schema}.idempotency_keys SET status = NULL, lease_until = now() - interval '1 second'
        WHERE key = (SELECT key FROM ${schema}.idempotency_keys ORDER BY token LIMIT 1) RETURNING NULL AS json`)
      const { outcomes } = await send('k', ['a', 'b'])
      t.match(outcomes, [
        { status: 201, headers: { 'idempotency-replayed': 'true' } },
        { status: 201, headers: { 'idempotency-replayed': 'true' } }
      ])
      t.strictSame(await things.names(), ['a', 'b'])
    })
  })
}
