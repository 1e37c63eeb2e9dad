// A small service for the soaks: one process of several on one database. DATABASE_URL, SCHEMA and PORT say where.
import { randomUUID } from 'node:crypto'
import idempotency from '@concordat/idempotency'
import { fromPool } from '@concordat/postgres'
import { postgresIdempotency } from '@concordat/postgres/idempotency'
import unitOfWork, { enclosingTransaction } from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { Pool } from 'pg'

const { DATABASE_URL: connectionString, SCHEMA: schema, PORT: port } = process.env
const pool = new Pool({
  connectionString,
  max: 10,
  connectionTimeoutMillis: 5000,
  // A statement of a process that was killed ends soon, and with it its transaction.
  options: '-c client_connection_check_interval=100'
})
const database = fromPool(pool)
const app = Fastify({ handlerTimeout: 20_000 })
await app.register(unitOfWork, { database })
await app.register(idempotency, {
  scope: () => 'soak',
  store: postgresIdempotency(database, { ...(schema && { schema }) }),
  transaction: enclosingTransaction
})

const config = { transaction: true, idempotency: { key: 'required', waitMilliseconds: 2000 } } as const

app.post('/orders', { config }, (request, reply) => makeOrder(request, reply, Math.random() / 100))
app.post('/slow-orders', { config: { ...config, idempotency: 'required' } }, (request, reply) => makeOrder(request, reply, 1))
app.get('/ping', async () => (await database.client.query('SELECT 1 AS pong')).rows[0])

async function makeOrder({ transaction, idempotency: run }: FastifyRequest, reply: FastifyReply, seconds: number) {
  const id = randomUUID()
  await transaction.query(`INSERT INTO ${schema}.orders (id, client_key) VALUES ($1, $2)`, [id, run?.key])
  await transaction.query('SELECT pg_sleep($1)', [seconds])
  await transaction.query(`INSERT INTO ${schema}.events (order_id) VALUES ($1)`, [id])
  return reply.code(201).header('location', `/orders/${id}`).send({ id, by: process.pid, at: Date.now() })
}

await app.listen({ host: '127.0.0.1', port: Number(port) })
process.stdout.write('ready\n')
