// A small service for the soak tests: one process of several on one Redis. Each request appends a line to a file, which no store can undo.
import { appendFile } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import idempotency from '@concordat/idempotency'
import { fromIoredis } from '@concordat/redis'
import { redisIdempotencyStore } from '@concordat/redis/idempotency'
import Fastify from 'fastify'
import { Redis } from 'ioredis'

const { REDIS_URL = '', PREFIX: prefix, LEDGER = '', LEASE_MILLISECONDS, PORT: port } = process.env
const client = new Redis(REDIS_URL, { retryStrategy: () => 50 }).on('error', () => {})
const app = Fastify()
await app.register(idempotency, {
  scope: () => 'soak',
  store: redisIdempotencyStore(fromIoredis(client), { prefix }),
  leaseSeconds: Number(LEASE_MILLISECONDS) / 1000,
  // A restart of Redis may take this long on a busy machine.
  storeTimeoutSeconds: 20
})
app.post('/orders', { config: { idempotency: { key: 'required', waitSeconds: 5 } } }, async ({ idempotency: run }, reply) => {
  await delay(Math.random() * 10)
  const id = `${run?.token}`
  await appendFile(LEDGER, `${run?.key} ${id}\n`)
  await delay(Math.random() * 10)
  return reply.code(201).header('location', `/orders/${id}`).send({ id })
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
// A process that is killed does not write its compile cache at exit.
flushCompileCache()
process.stdout.write('ready\n')
