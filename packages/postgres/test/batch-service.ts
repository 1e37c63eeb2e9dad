import auditTrail, { type AuditTrailStore } from '@concordat/audit-trail'
import batch from '@concordat/batch'
import idempotency, { type IdempotencyStore } from '@concordat/idempotency'
import { publish } from '@concordat/plugin-kit/wiring'
import { migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations } from '@concordat/postgres/idempotency'
import { postgresStores } from '@concordat/postgres/stores'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Things } from './unit-of-work.ts'

export interface ReadOutcome {
  readonly id: string
  readonly status: number
  readonly headers: Record<string, string>
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

interface Setup {
  /** The connections of this service, if they are not those of `things`. */
  readonly database?: Postgres
  /** A store of keys other than that of the database. */
  readonly store?: IdempotencyStore
  readonly auditTrail?: AuditTrailStore
  readonly routes?: (app: FastifyInstance) => void
}

/** Starts a service with the plugins in the order of the preset. `POST /things/:name` adds a name, and responds with 409 to a bad one. */
export async function batchService(
  t: Test,
  things: Things,
  { database = things.database, store, auditTrail: audited, routes = () => {} }: Setup = {}
) {
  const { table } = things
  const schema = table.split('.')[0] as string
  await migrate(things.database, idempotencyMigrations, { schema })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(batch)
  publish(app, { handlerTimeout: { seconds: 20, release() {} } })
  await app.register(unitOfWork, { database })
  if (audited) await app.register(auditTrail, { store: audited })
  await app.register(idempotency, {
    scope: () => 'a client',
    store: store ?? postgresStores(database, { schema }).idempotency
  })
  app.post<{ Params: { name: string } }>(
    '/things/:name',
    { config: { transaction: true, idempotency: 'required' } },
    async (request, reply) => {
      await request.transaction.query(`INSERT INTO ${table} VALUES ($1)`, [request.params.name])
      return reply.code(request.params.name.startsWith('bad') ? 409 : 201).send({ name: request.params.name })
    }
  )
  app.get('/things', async () => (await database.client.query(`SELECT name FROM ${table} ORDER BY name`)).rows)
  routes(app)
  app.batch('/batches', { paths: ['/things'], atomic: 'byRequest', config: { idempotency: 'required' } })
  await app.ready()

  async function sendAll(key: string, operations: readonly object[], atomic = false) {
    const response = await app.inject({
      method: 'POST',
      url: '/batches',
      headers: { 'idempotency-key': key },
      payload: { operations: operations.map((operation, index) => ({ id: `n${index}`, ...operation })), atomic }
    })
    const outcomes = response.json<ReadOutcome[]>()
    const isReplayed = response.headers['idempotency-replayed'] === 'true'
    return {
      response,
      outcomes,
      isReplayed,
      statuses: response.statusCode === 200 ? outcomes.map(({ status }) => status) : response.statusCode
    }
  }

  function send(key: string, names: readonly string[], more: { atomic?: boolean; last?: readonly object[] } = {}) {
    return sendAll(key, [...names.map((name) => ({ method: 'POST', path: `/things/${name}` })), ...(more.last ?? [])], more.atomic)
  }
  const records = async () => (await things.database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.idempotency_keys`))[0]
  return { app, send, sendAll, records }
}
