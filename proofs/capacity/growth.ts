import { createHash, randomUUID } from 'node:crypto'
import type { Claim } from '@concordat/idempotency'
import { fromPool, migrate, type Postgres } from '@concordat/postgres'
import { auditTrailMigrations } from '@concordat/postgres/audit-trail'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import type { Pool } from 'pg'
import { heading, line, median } from './taken.ts'

const many = 1_000_000
const digest = (value: string) => createHash('sha256').update(value).digest('base64url')
const sqlDigest = (of: string) => `translate(trim(trailing '=' from encode(sha256((${of})::text::bytea), 'base64')), '+/', '-_')`
const terms = { leaseMs: 60_000, lifetimeMs: 86_400_000, takesOver: true, maxClientBytes: 2 ** 50 }
/** The header fields and the body of a response of 1 kB. */
export const headers = {
  'content-type': 'application/json; charset=utf-8',
  location: `https://api.example.com/v1/orders/${randomUUID()}`,
  etag: `"${randomUUID()}"`
}
export const body = JSON.stringify({ data: { note: 'x'.repeat(1000) } })

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

/** Prints what requests cost when there are many keys and audit records. */
export async function growth(pool: Pool) {
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
}
