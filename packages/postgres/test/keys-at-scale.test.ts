// What the keys of one client cost, and how many the default limits allow, on a table that is filled instead of a day of requests.
import { createHash, randomUUID } from 'node:crypto'
import idempotency, { type Claim, type IdempotencyStore } from '@concordat/idempotency'
import { migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { scaled } from '@concordat/test-harness/scale'
import { until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, freshSchema, onServer } from './database.ts'

t.setTimeout(300_000)

const digest = (value: string) => createHash('sha256').update(value).digest('base64url')
const sqlDigest = (of: string) => `translate(trim(trailing '=' from encode(sha256((${of})::text::bytea), 'base64')), '+/', '-_')`
const terms = { leaseMs: 60_000, lifetimeMs: 86_400_000, takesOver: true, maxClientBytes: 2 ** 50 }
const headers = {
  'content-type': 'application/json; charset=utf-8',
  location: 'https://api.example.com/v1/orders/01911062-dc00-7000-8000-0000000000f5',
  etag: '"01911062-dc00-7000-8000-0000000000f5"',
  link: '<https://api.example.com/v1/orders>; rel="collection"'
}
const kilobyte = JSON.stringify({ data: { note: 'x'.repeat(1000) } })
const response = { status: 201, headers, body: kilobyte }
const keysOfADay = 5 * 86_400

async function tables(t: Test) {
  const schema = freshSchema(t)
  const { pool, database } = connect(t, { max: 20 })
  await migrate(database, idempotencyMigrations, { schema })
  const open = (through: Postgres = database) => {
    const store = postgresIdempotencyStore(through, { schema })
    t.teardown(() => store.close?.())
    return store
  }
  return { schema, pool, database, open }
}

/** Returns the sizes that the store writes for so many responses of a client. Its statements go to no table. */
async function sizesOf(database: Postgres, open: (through: Postgres) => IdempotencyStore, keys: number): Promise<number[]> {
  const sizes: number[] = []
  const query = async (_: string, values: readonly unknown[] = []) => (values[9] == null || sizes.push(Number(values[9])), [1])
  const store = open({ ...database, isEmbedded: true, query: query as Postgres['query'] })
  let clientBytes = 0
  for (let n = 0; n < keys; n += 1) {
    const claim: Claim & { clientBytes: number } = { key: digest('key'), client: digest('client'), token: n, attempt: 1, clientBytes }
    const before = sizes.length
    await store.complete(claim, response, terms.lifetimeMs)
    if (sizes.length > before) clientBytes += sizes.at(-1) as number
  }
  return sizes
}

/** Writes what a client has stored, as often as `times`, and the keys, whose bodies are short so that a table fills in seconds. */
async function fill(
  pool: Pool,
  schema: string,
  client: string,
  { sizes, keys, times = 1 }: { sizes: readonly number[]; keys: number; times?: number }
) {
  await pool.query(
    `INSERT INTO ${schema}.idempotency_sizes (client, expires_at, bytes)
     SELECT $1, now() + interval '1 hour' + random() * interval '1 day', bytes FROM unnest($2::integer[]) AS bytes, generate_series(1, $3)`,
    [client, sizes, times]
  )
  await pool.query(
    `INSERT INTO ${schema}.idempotency_keys (key, fingerprint, token, attempt, lease_until, expires_at, status, headers, body)
     SELECT ${sqlDigest('n')}, ${sqlDigest('n')}, n, 1, 'epoch', now() + random() * interval '1 day', 201, '{}', 'x'
     FROM generate_series(1, ${keys}) AS n`
  )
  await pool.query(`VACUUM ANALYZE ${schema}.idempotency_keys, ${schema}.idempotency_sizes`)
}

t.test('a key counts with about what it takes on the disk', onServer, async (t) => {
  const { schema, pool, open } = await tables(t)
  const [store, client, keys] = [open(), digest('client'), 3000]
  const lane = async () => {
    for (let n = 0; n < keys / 20; n += 1) {
      const outcome = await store.begin(digest(randomUUID()), digest('request'), { ...terms, client })
      if (outcome.state === 'claimed') await store.complete(outcome.claim, response, terms.lifetimeMs)
    }
  }
  await Promise.all(Array.from({ length: 20 }, lane))
  const { rows } = await pool.query(
    `SELECT pg_table_size('${schema}.idempotency_keys') + pg_indexes_size('${schema}.idempotency_keys')
      + pg_total_relation_size('${schema}.idempotency_sizes') AS bytes, (SELECT sum(bytes) FROM ${schema}.idempotency_sizes) AS counted`
  )
  // A claim that is a lease writes its record twice, until PostgreSQL uses the space of the first version again. The index grows with spare space.
  const [taken, counted] = [Number(rows[0].bytes) / keys, Number(rows[0].counted) / keys]
  t.comment(`${Math.round(taken)} bytes are taken for a key, ${Math.round(counted)} are counted`)
  t.ok(counted > taken / 2 && counted < taken * 1.5, `${counted} bytes are counted for ${taken}`)
})

t.test(
  'with the default limits, a client sends 5 requests with keys a second for a day, and all are replayed whole',
  onServer,
  async (t) => {
    const { schema, pool, database, open } = await tables(t)
    const store = open()
    const scope = 'a backend'
    const app = Fastify({ handlerTimeout: 30_000 })
    t.teardown(() => app.close())
    await app.register(unitOfWork, { database })
    await app.register(idempotency, { scope: () => scope, store: { ...store, close: async () => {} } })
    app.post('/orders', { config: { idempotency: 'required', transaction: true } }, async (_request, reply) =>
      reply.code(201).headers(headers).send(kilobyte)
    )
    const times = scaled(20, 1)
    await fill(pool, schema, digest(scope), { sizes: await sizesOf(database, open, keysOfADay / times), keys: 1000, times })
    for (let n = 0; n < 20; n += 1) {
      const send = () => app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': `key-${n}` } })
      const [first, retry] = [await send(), await send()]
      t.strictSame([first.statusCode, first.body], [201, kilobyte])
      t.strictSame(
        [retry.statusCode, retry.body, retry.headers['idempotency-replayed'], retry.headers['idempotency-status']],
        [201, kilobyte, 'true', undefined]
      )
    }
  }
)

t.test('a claim reads about as much when its client has 1,000,000 keys as when it has 1,000', onServer, async (t) => {
  const keys = scaled(20_000, 1_000_000)
  const many = scaled(60_000, 1_000_000)
  const { schema, pool, database, open } = await tables(t)
  const [small, large] = [digest('a few keys'), digest('many keys')]
  await fill(pool, schema, small, { sizes: await sizesOf(database, open, 1000), keys: 0 })
  await fill(pool, schema, large, { sizes: await sizesOf(database, open, many), keys })
  const plans: { readonly rows: number; readonly blocks: number }[] = []
  const explained = open({
    ...database,
    async fields({ text, values = [] }) {
      const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [...values])
      const [{ Plan: plan }] = rows[0]['QUERY PLAN']
      plans.push({ rows: sizeRowsIn(plan), blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] })
      throw new Error('The claim is only explained.')
    }
  })
  for (const client of [small, large])
    await t.rejects(async () => explained.begin(digest(randomUUID()), digest('request'), { ...terms, client }), {
      message: 'The claim is only explained.'
    })
  const [few, most] = plans as [(typeof plans)[number], (typeof plans)[number]]
  t.comment(`with 1,000 keys ${few.rows} rows and ${few.blocks} blocks, with ${many} keys ${most.rows} and ${most.blocks}`)
  t.ok(few.rows > 0, 'the sizes are read')
  t.ok(most.rows < 450, `${most.rows} sizes are added up`)
  t.ok(most.blocks < 60, `${most.blocks} blocks are read`)
})

t.test('other processes learn of keys that end at about the same time by one notification', onServer, async (t) => {
  const { schema, pool, open } = await tables(t)
  const [store, client] = [open(), digest('client')]
  const listener = await pool.connect()
  t.teardown(() => listener.release())
  const payloads: string[] = []
  listener.on('notification', ({ payload = '' }) => payloads.push(payload))
  await listener.query(`LISTEN ${schema}_idempotency`)
  const keys = Array.from({ length: 100 }, () => digest(randomUUID()))
  const claimAndRelease = async (key: string) => {
    const outcome = await store.begin(key, digest('request'), { ...terms, client })
    if (outcome.state === 'claimed') await store.release(outcome.claim)
  }
  await Promise.all(keys.map(claimAndRelease))
  await store.close?.()
  const noticed = () => new Set(payloads.flatMap((payload) => payload.split(',')))
  await until(() => noticed().size === keys.length)
  t.strictSame([...noticed()].toSorted(), keys.toSorted())
  t.ok(payloads.length < keys.length / 2, `${payloads.length} notifications are sent`)
})

interface Plan {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly Plans?: readonly Plan[]
}

function sizeRowsIn(plan: Plan): number {
  const own = plan['Relation Name'] === 'idempotency_sizes' ? plan['Actual Rows'] : 0
  return own + (plan.Plans ?? []).reduce((sum, inner) => sum + sizeRowsIn(inner), 0)
}
