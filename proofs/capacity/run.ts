// `node --conditions=@concordat/source proofs/capacity/run.ts`: what a key, an event and an audit record take on the disk and in the log of PostgreSQL,
// and what requests cost when there are many of them. The tables that it prints are those of docs/capacity.md. A few minutes, on a PostgreSQL of its own,
// whose log nothing else writes. `sizes`, `requests`, `growth` or `processes` measures a part.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import idempotency from '@concordat/idempotency'
import { fromPool, migrate } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { ownPostgres } from '@concordat/test-harness/own-postgres'
import Fastify from 'fastify'
import { Client, Pool } from 'pg'
import { password, products, tokens, username } from '../bench/resources.ts'
import { body, growth, headers } from './growth.ts'
import { heading, line, median, taken } from './taken.ts'

const isChosen = (part: string) => process.argv.length === 2 || process.argv.includes(part)

const server = await ownPostgres('fsync=off', 'max_connections=100', 'shared_buffers=512MB', 'checkpoint_timeout=1h', 'max_wal_size=8GB')
if (server === undefined) throw new Error('PostgreSQL is not installed. Install it first.')
const { url } = server
try {
  for (const images of isChosen('sizes') ? ['off', 'on'] : []) {
    await administer(`ALTER SYSTEM SET full_page_writes = ${images}`)
    await administer('SELECT pg_reload_conf()')
    await sizes(`What each takes, and writes to the log, with full_page_writes ${images}`)
  }
  if (isChosen('requests')) await requests()
  if (isChosen('growth')) {
    const pool = poolOn(await newDatabase(), 2)
    await growth(pool)
    await pool.end()
  }
  if (isChosen('processes')) await processes()
} finally {
  await server.stop()
}

async function administer(sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

async function newDatabase() {
  const name = `concordat_capacity_${randomUUID().slice(0, 8)}`
  await administer(`CREATE DATABASE ${name}`)
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

function poolOn(connectionString: string, max = 1) {
  // When the server is stopped because something failed, that is the error to show.
  return new Pool({ connectionString, max }).on('error', () => {})
}

async function sizes(title: string) {
  heading(title)
  const pool = poolOn(await newDatabase(), 20)
  const database = fromPool(pool)
  await migrate(database, [...idempotencyMigrations, ...auditTrailMigrations])
  await pool.query('CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text)')
  const app = Fastify({ handlerTimeout: 60_000 })
  await app.register(unitOfWork, { database })
  await app.register(idempotency, { scope: () => 'a client', store: postgresIdempotencyStore(database) })
  const route = { config: { transaction: true, idempotency: 'accepted' } } as const
  app.post('/effects', route, async ({ transaction }, reply) => {
    await transaction.query(`INSERT INTO effects (name) VALUES ('an order')`)
    return reply.code(201).headers(headers).send(body)
  })
  const post = (key?: string) =>
    app.inject({ method: 'POST', url: '/effects', headers: key === undefined ? {} : { 'idempotency-key': key } })
  const keys = ['concordat.idempotency_keys', 'concordat.idempotency_sizes']
  const without = await taken(pool, keys, 10_000, () => post())
  const withKey = await taken(pool, keys, 10_000, (n) => post(`key-${n}`))
  line('a key, response of 1 kB', withKey.bytes, withKey.wal - without.wal)
  const audit = postgresAuditTrailStore(database)
  const record = await taken(pool, ['concordat.audit_records'], 10_000, async () =>
    audit.add([
      {
        id: randomUUID(),
        occurredAt: new Date().toISOString(),
        requestId: randomUUID(),
        subject: randomUUID(),
        client: 'shop',
        issuer: tokens.issuer,
        permissions: ['orders:create'],
        method: 'POST',
        route: '/v1/orders',
        resource: '/orders',
        version: 'v1',
        path: '/v1/orders',
        outcome: 'committed',
        status: 201
      }
    ])
  )
  line('an audit record', record.bytes, record.wal)
  await app.close()
  await pool.end()
}

/** Sends requests to the server of the benchmark, with and without an event for the one subscription of a customer. */
async function requests() {
  heading('Bytes in tables, bytes in the log, and microseconds of PostgreSQL')
  const databaseUrl = await newDatabase()
  const pool = poolOn(databaseUrl)
  for (const events of ['', 'yes']) {
    const { serve } = await import('../bench/ours-postgres.ts')
    const { app, close } = await serve({ databaseUrl, events })
    const session = await app.inject({ method: 'POST', url: '/v1/tokens', payload: { username, password } })
    const authorization = `Bearer ${session.json().data.accessToken}`
    const { rows } = await pool.query(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace::regnamespace::text ~ '^(concordat|public)'`
    )
    const payload = { customer: 'ada', items: [{ productId: randomUUID(), quantity: 1 }] }
    const get = (path: string) => () => app.inject({ url: path, headers: { authorization } })
    const post = (key: string) =>
      app.inject({ method: 'POST', url: '/v1/orders', headers: { authorization, 'idempotency-key': key }, payload })
    const works: Record<string, (n: number) => Promise<{ readonly statusCode: number }>> = {
      ...(events === '' && {
        'an item': get(`/v1/products/${products[0]?.id}`),
        'a page of 25 of 50': get('/v1/products')
      }),
      [events === '' ? 'an order with a new key' : 'the same, with an event to one subscription']: () => post(randomUUID()),
      ...(events === '' && { 'its replay': () => post('one-key') })
    }
    for (const [what, work] of Object.entries(works)) {
      for (let n = 0; n < 200; n += 1) {
        const { statusCode } = await work(n)
        if (statusCode >= 300) throw new Error(`${what} got ${statusCode}.`)
      }
      const { bytes, wal, microseconds } = await taken(
        pool,
        rows.map(({ name }) => name),
        4000,
        work
      )
      line(what, bytes, wal, microseconds)
    }
    await close()
  }
  await pool.end()
}

async function processes() {
  heading('A process in memory, from source: milliseconds of processor time until it listens, heap and resident MB')
  for (const routes of ['5', '995']) {
    const starts: number[] = []
    const [heaps, memory]: [number[], number[]] = [[], []]
    for (let n = 0; n < 3; n += 1) {
      const child = fork(fileURLToPath(new URL('../bench/server.ts', import.meta.url)), ['./ours.ts', JSON.stringify({ routes })], {
        env: { ...process.env, NODE_ENV: 'production' },
        execArgv: ['--conditions=@concordat/source', '--expose-gc']
      })
      const [begun] = await once(child, 'message')
      child.send('collect')
      const [usage] = await once(child, 'message')
      starts.push((begun.start.user + begun.start.system) / 1000)
      heaps.push(usage.heap / 1e6)
      memory.push(usage.rss / 1e6)
      child.disconnect()
      await once(child, 'exit')
    }
    line(`${Number(routes) + 5} routes`, median(starts), median(heaps), median(memory))
  }
}
