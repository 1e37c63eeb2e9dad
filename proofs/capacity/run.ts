// `node --conditions=@concordat/source proofs/capacity/run.ts`: what a key, an event and an audit record take on the disk and in the log of PostgreSQL,
// and what requests cost when there are many of them. The tables that it prints are those of docs/capacity.md. A few minutes, on a PostgreSQL of its own,
// whose log nothing else writes. `sizes`, `requests`, `growth` or `processes` measures a part.
import { fork } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import idempotency, { type Claim } from '@concordat/idempotency'
import { fromPool, migrate, type Postgres } from '@concordat/postgres'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { ownPostgres } from '@concordat/test-harness/own-postgres'
import Fastify from 'fastify'
import { Client, Pool } from 'pg'
import { password, products, tokens, username } from '../bench/resources.ts'
import { heading, line, median, taken } from './taken.ts'

const many = 1_000_000
const digest = (value: string) => createHash('sha256').update(value).digest('base64url')
const sqlDigest = (of: string) => `translate(trim(trailing '=' from encode(sha256((${of})::text::bytea), 'base64')), '+/', '-_')`
const terms = { leaseMs: 60_000, lifetimeMs: 86_400_000, takesOver: true, maxClientBytes: 2 ** 50 }
const headers = {
  'content-type': 'application/json; charset=utf-8',
  location: `https://api.example.com/v1/orders/${randomUUID()}`,
  etag: `"${randomUUID()}"`
}
const body = JSON.stringify({ data: { note: 'x'.repeat(1000) } })

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
  if (isChosen('growth')) await growth()
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

/** Returns the sizes that the store writes for so many responses. Its statements go to no table. */
async function storedSizes(database: Postgres, keys: number) {
  const sizes: number[] = []
  const query = async (_: string, values: readonly unknown[] = []) => (values[9] == null || sizes.push(Number(values[9])), [1])
  const store = postgresIdempotencyStore({ ...database, isEmbedded: true, query: query as Postgres['query'] })
  let clientBytes = 0
  for (let n = 0; n < keys; n += 1) {
    const claim: Claim & { clientBytes: number } = { key: digest('key'), client: digest('client'), token: n, attempt: 1, clientBytes }
    const before = sizes.length
    await store.complete(claim, { status: 201, headers, body }, terms.lifetimeMs)
    if (sizes.length > before) clientBytes += sizes.at(-1) as number
  }
  return sizes
}

async function growth() {
  const pool = poolOn(await newDatabase(), 2)
  const database = fromPool(pool)
  await migrate(database, [...idempotencyMigrations, ...auditTrailMigrations])
  heading('Milliseconds of a claim, by the keys of its client')
  for (const keys of [1000, 100_000, many]) {
    await pool.query('TRUNCATE concordat.idempotency_keys, concordat.idempotency_sizes')
    await pool.query(
      `INSERT INTO concordat.idempotency_keys (key, fingerprint, token, attempt, lease_until, expires_at, status, headers, body)
       SELECT ${sqlDigest('n')}, ${sqlDigest('n')}, n, 1, 'epoch', now() + random() * interval '1 day', 201, '{}', 'x' FROM generate_series(1, ${keys}) AS n`
    )
    await pool.query(
      `INSERT INTO concordat.idempotency_sizes SELECT $1, now() + interval '1 hour' + random() * interval '1 day', bytes FROM unnest($2::integer[]) AS bytes`,
      [digest('client'), await storedSizes(database, keys)]
    )
    // Those of other clients, so that an index selects.
    await pool.query(
      `INSERT INTO concordat.idempotency_sizes SELECT ${sqlDigest('n % 1000')}, now() + interval '1 day', 16384 FROM generate_series(1, 100000) AS n`
    )
    await pool.query('VACUUM ANALYZE concordat.idempotency_keys, concordat.idempotency_sizes')
    const times: number[] = []
    const store = postgresIdempotencyStore({
      ...database,
      async fields({ text, values = [] }) {
        const { rows } = await pool.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, [...values])
        times.push(rows[0]['QUERY PLAN'][0]['Execution Time'])
        return [['f', '0', ...Array.from({ length: 11 }, () => null)]]
      }
    })
    for (let n = 0; n < 301; n += 1) await store.begin(digest(randomUUID()), digest('request'), { ...terms, client: digest('client') })
    line(keys.toLocaleString('en'), median(times).toFixed(3))
  }
  heading(`Milliseconds with ${many.toLocaleString('en')} audit records`)
  await pool.query(
    `INSERT INTO concordat.audit_records (occurred_at, id, request_id, subject, client, issuer, permissions, method, route, resource, version, path, outcome, status)
     SELECT now() - n * interval '1 second', md5(n::text)::uuid, md5(n::text), 'user ' || n % 1000, 'shop', 'https://api.example.com', '{orders:write}',
       'PATCH', '/v1/orders/:id', '/orders/:id', 'v1', '/v1/orders/' || n, 'committed', 200 FROM generate_series(1, ${many}) AS n`
  )
  await pool.query('VACUUM ANALYZE concordat.audit_records')
  const order = 'ORDER BY occurred_at DESC, id DESC LIMIT 26'
  for (const [what, sql] of [
    ['a page', `SELECT * FROM concordat.audit_records ${order}`],
    ['a page of a user', `SELECT * FROM concordat.audit_records WHERE subject = 'user 7' ${order}`],
    ['a page a million records back', `SELECT * FROM concordat.audit_records WHERE occurred_at < now() - interval '11 days' ${order}`]
  ] as const) {
    const times: number[] = []
    for (let n = 0; n < 51; n += 1) {
      const begun = performance.now()
      await pool.query(sql)
      times.push(performance.now() - begun)
    }
    line(what, median(times).toFixed(2))
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
