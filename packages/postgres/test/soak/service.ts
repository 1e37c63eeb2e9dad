// A small service for the soak tests: one process of several on one database, configured by DATABASE_URL, SCHEMA and PORT.
import { randomUUID } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import idempotency from '@concordat/idempotency'
import { fromPool } from '@concordat/postgres'
import { postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

const { DATABASE_URL: connectionString, SCHEMA: schema, PORT: port } = process.env
const pool = new Pool({
  connectionString,
  max: 10,
  connectionTimeoutMillis: 5000,
  // Soon ends the statement of a killed process, and with it the transaction.
  options: '-c client_connection_check_interval=100'
})
const database = fromPool(pool)
const app = Fastify({ handlerTimeout: 60_000 })
await app.register(unitOfWork, { database })
await app.register(idempotency, {
  scope: () => 'soak',
  store: postgresIdempotencyStore(database, { ...(schema && { schema }) })
})

const waiting = (waitSeconds: number) => ({ transaction: true, idempotency: { key: 'required', waitSeconds } }) as const

app.post('/orders', { config: waiting(2) }, (request, reply) => makeOrder(request, reply, 'SELECT pg_sleep($1)', Math.random() / 100))
// Waits while another session has the lock that is named by the schema.
app.post('/held-orders', { config: waiting(50) }, (request, reply) =>
  makeOrder(request, reply, 'SELECT pg_advisory_xact_lock(hashtext($1))', schema)
)
// Hangs at the place in a header, which a retry does not repeat: in the middle of a statement, or between two.
app.post('/hanging-orders', { config: waiting(50) }, async (request, reply) => {
  const { 'x-hangs-in': place } = request.headers
  if (place !== undefined) await request.transaction.query('SELECT pg_sleep($1)', [place === 'statement' ? 60 : 0])
  if (place === 'transaction') await new Promise(() => {})
  return makeOrder(request, reply, 'SELECT $1::integer', 1)
})
app.get('/ping', async () => (await database.client.query('SELECT 1 AS pong')).rows[0])

async function makeOrder({ transaction, idempotency: run }: FastifyRequest, reply: FastifyReply, pause: string, value: unknown) {
  const id = randomUUID()
  await transaction.query(`INSERT INTO ${schema}.orders (id, client_key) VALUES ($1, $2)`, [id, run?.key])
  await transaction.query(pause, [value])
  await transaction.query(`INSERT INTO ${schema}.events (order_id) VALUES ($1)`, [id])
  return reply.code(201).header('location', `/orders/${id}`).send({ id, by: process.pid, at: Date.now() })
}

await app.listen({ host: '127.0.0.1', port: Number(port) })
// A process that is killed does not write its compile cache at exit.
flushCompileCache()
process.stdout.write('ready\n')
