// node --conditions=@concordat/source packages/postgres/bench/webhook-subscribers.ts [rounds]: how long the transaction of an event takes with 10
// subscribers and with 10,000, on PostgreSQL (TEST_DATABASE_URL). The number of statements is the same, and printed; the rows are not.
import { randomUUID } from 'node:crypto'
import { fromPool, migrate } from '@concordat/postgres'
import { postgresWebhookStore, webhookMigrations } from '@concordat/postgres/webhooks'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import webhooks from '@concordat/webhooks'
import Fastify from 'fastify'
import { Pool } from 'pg'

const [rounds = '5'] = process.argv.slice(2)
const pool = new Pool({ connectionString: process.env['TEST_DATABASE_URL'] })
const schema = `bench_${randomUUID().slice(0, 8)}`
const database = fromPool(pool)
await migrate(database, webhookMigrations, { schema })
const queue = postgresWorkQueue(pool, { schema: `${schema}_queue` })
const app = Fastify()
const eventType = { description: 'Measured.', schema: { type: 'object', properties: { id: { type: 'string' } } }, example: { id: '7' } }
const sizes = [10, 10_000]
const types = sizes.flatMap((size) =>
  [false, true].map((ordered) => ({ size, ordered, type: `${ordered ? 'ordered' : 'plain'}.to${size}` }))
)
await app.register(webhooks, {
  events: Object.fromEntries(types.map(({ type }) => [type, eventType])),
  store: postgresWebhookStore(database, { schema }),
  queue,
  worker: false,
  // As a service checks the current rights of the owners.
  async mayReceive(subscriptions, { transaction }) {
    const owners = subscriptions.map(({ owner }) => owner)
    const { rows } = await (transaction ?? pool).query(`SELECT owner FROM ${schema}.webhook_subscriptions WHERE owner = ANY($1)`, [owners])
    const known = new Set((rows as { owner: string }[]).map(({ owner }) => owner))
    return subscriptions.filter(({ owner }) => known.has(owner))
  }
})
await app.ready()

for (const { size, ordered, type } of types) {
  const subscribe = async (number: number) =>
    app.webhooks.subscribe(`${type} ${number}`, { url: 'https://hooks.example.com', eventTypes: [type], ordered })
  for (let number = 0; number < size; number += 10)
    await Promise.all(Array.from({ length: 10 }, async (_, more) => subscribe(number + more)))
}
await pool.query(`ANALYZE`)

for (const { size, ordered, type } of types) {
  const times: number[] = []
  let statements = 0
  for (let round = 0; round < Number(rounds); round += 1) {
    const client = await pool.connect()
    statements = 0
    const query = async (sql: string, values?: unknown[]) => {
      statements += 1
      return client.query(sql, values)
    }
    const startedAt = performance.now()
    await client.query('BEGIN')
    await app.webhooks.emit(type, { id: '7' }, { transaction: { query } })
    await client.query('COMMIT')
    times.push(performance.now() - startedAt)
    client.release()
  }
  const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
  console.log(`${String(size).padStart(6)} ${ordered ? 'ordered' : 'plain  '} ${statements} statements ${median.toFixed(1)} ms`)
}

await app.close()
await queue.close()
await pool.query(`DROP SCHEMA ${schema} CASCADE; DROP SCHEMA ${schema}_queue CASCADE`)
await pool.end()
