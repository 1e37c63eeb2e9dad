// Fills every growing table with a million rows, half of them expired, and sweeps it as the stores do: no statement reads the whole table or more rows than
// its batch, the expired rows disappear, and nothing else does. The rows have the sizes of a service, and their bytes are in docs/postgres.md.
import { randomUUID } from 'node:crypto'
import { fromPool, type Migration, migrate, type Postgres } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeyStore } from '@concordat/postgres/api-keys'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import { jobMigrations, postgresJobStore } from '@concordat/postgres/jobs'
import { loginAttemptMigrations, postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import { postgresRateLimitStore, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore, revocationMigrations } from '@concordat/postgres/revocations'
import { postgresVersionUsageStore, versionUsageMigrations } from '@concordat/postgres/version-usage'
import { postgresWebhookStore, webhookMigrations } from '@concordat/postgres/webhooks'
import { postgresWorkQueue } from '@concordat/postgres/work-queue'
import { until } from '@concordat/test-harness/until'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, freshSchema, onServer, server } from './database.ts'

t.setTimeout(0)

const rows = 1_000_000
const now = Date.now()
const [minute, day] = [60_000, 86_400_000]
const ago = (milliseconds: number) => now - milliseconds
// Half of the numbers are expired, and mixed with the others, as the rows of a table are.
const numbers = `generate_series(1, ${rows}) AS n`
const isExpired = 'n % 2 = 0'
const either = (past: number, future: number) => `CASE WHEN ${isExpired} THEN ${past} - n % 1000 ELSE ${future} + n % 1000 END`
const eitherTime = (past: number, future: number) => `to_timestamp((${either(past, future)}) / 1000.0)`
const digest = (of: string) => `translate(trim(trailing '=' from encode(sha256((${of})::text::bytea), 'base64')), '+/', '-_')`
// A UUIDv7 with the time of a row.
const timeId = (at: string) => `(lpad(to_hex((${at})::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`

interface Growing {
  readonly title: string
  readonly migrations: readonly Migration[]
  /** The statements that fill the tables, in order, each with the condition of the expired rows. */
  readonly fill: (schema: string) => Readonly<Record<string, readonly [statement: string, expired: string]>>
  /** Returns a call that sweeps one batch, and returns 0 if it found nothing, where it knows that. */
  readonly sweep: (database: Postgres, schema: string) => () => Promise<unknown>
  /** The most rows of a table that a statement may touch. */
  readonly batch: number
  /** How many rows the calls add to the first table, because a sweep is a part of them. */
  readonly adds?: 'one' | 'each'
}

const tables: readonly Growing[] = [
  {
    title: 'idempotency keys',
    migrations: idempotencyMigrations,
    batch: 1000,
    fill: (schema) => ({
      idempotency_keys: [
        `INSERT INTO ${schema}.idempotency_keys (key, fingerprint, token, attempt, lease_until, expires_at, status, headers, body)
        SELECT ${digest('n')}, ${digest('n + 1')}, n, 1, now(), ${eitherTime(ago(minute), now + day)}, 201,
          '{"content-type":"application/json; charset=utf-8","location":"https://api.example.com/v1/orders/7f0c1c1e"}',
          convert_to(repeat(md5(n::text), 16), 'UTF8') FROM ${numbers}`,
        'expires_at < now()'
      ],
      idempotency_sizes: [
        `INSERT INTO ${schema}.idempotency_sizes (client, expires_at, bytes)
        SELECT ${digest('n % 1000')}, ${eitherTime(ago(minute), now + day)}, 16384 FROM ${numbers}`,
        'expires_at < now()'
      ]
    }),
    sweep(database, schema) {
      const store = postgresIdempotencyStore(database, { schema })
      return async () => store.sweep?.(1000)
    }
  },
  {
    title: 'rate limits',
    migrations: rateLimitMigrations,
    batch: 1000,
    adds: 'one',
    fill: (schema) => ({
      rate_limits: [
        `INSERT INTO ${schema}.rate_limits (key, count, result, ends_at)
        SELECT to_json('address 203.0.113.' || n), 1, 1, ${eitherTime(ago(minute), now + day)} FROM ${numbers}`,
        'ends_at < now()'
      ]
    }),
    sweep(database, schema) {
      const store = postgresRateLimitStore(database, { schema })
      return async () => store.add('one client', 1, rows, day)
    }
  },
  {
    title: 'login attempts',
    migrations: loginAttemptMigrations,
    batch: 1000,
    adds: 'one',
    fill: (schema) => ({
      login_attempts: [
        `INSERT INTO ${schema}.login_attempts (key, forgiven_at, result)
        SELECT ${digest('n')}, ${either(ago(2 * minute), now + day)}, 0 FROM ${numbers}`,
        `forgiven_at < ${now}`
      ]
    }),
    sweep(database, schema) {
      const store = postgresLoginAttemptStore(database, { schema })
      return async () => store.take('one user', { limit: rows, windowMs: day }, now)
    }
  },
  {
    title: 'refresh tokens',
    migrations: refreshTokenMigrations,
    batch: 100,
    adds: 'each',
    fill: (schema) => ({
      refresh_families: [
        `INSERT INTO ${schema}.refresh_families (handle, id, subject, began_at, expires_at, idle_expires_at, newest)
        SELECT ${digest('n')}, md5(n::text)::uuid, md5((n / 3)::text)::uuid, 0, ${either(ago(2 * day), now + day)}, 0, ${digest('n + 1')} FROM ${numbers}`,
        `expires_at < ${now}`
      ]
    }),
    sweep(database, schema) {
      const store = postgresRefreshTokenStore(database, { schema })
      return async () => {
        const family = { handle: randomUUID(), id: randomUUID(), subject: 'one user', beganAt: now, expiresAt: now + day }
        await store.begin(family, 'secret', now + day)
      }
    }
  },
  {
    title: 'API keys',
    migrations: apiKeyMigrations,
    batch: 100,
    adds: 'each',
    fill: (schema) => ({
      api_keys: [
        `INSERT INTO ${schema}.api_keys (id, secret_hash, client, permissions, expires_at)
        SELECT substr(md5(n::text), 1, 16), ${digest('n')}, md5((n / 3)::text)::uuid, '["orders:read","orders:create"]', ${either(ago(2 * day), now + day)} FROM ${numbers}`,
        `expires_at < ${now}`
      ]
    }),
    sweep(database, schema) {
      const store = postgresApiKeyStore(database, { schema })
      return async () => store.add({ id: randomUUID(), secretHash: 'hash', client: 'c1', permissions: [], expiresAt: now + day })
    }
  },
  {
    title: 'revocations',
    migrations: revocationMigrations,
    batch: 100,
    adds: 'each',
    fill: (schema) => ({
      revocations: [
        `INSERT INTO ${schema}.revocations (kind, id, until, changed_by)
        SELECT 'token', md5(n::text)::uuid, ${either(ago(minute), now + day)}, pg_current_xact_id() FROM ${numbers}`,
        `until < ${now}`
      ]
    }),
    sweep(database, schema) {
      const store = postgresRevocationStore(database, { schema })
      return async () => store.revoke({ kind: 'token', id: randomUUID(), until: now + day })
    }
  },
  {
    title: 'jobs and their output',
    migrations: jobMigrations,
    // The pieces of the last job of a batch are read, up to a batch more.
    batch: 2000,
    fill: (schema) => ({
      jobs: [
        `INSERT INTO ${schema}.jobs (id, type, owner, state, attempt, tries, progress, input, result, created_at, expires_at)
        SELECT md5(n::text)::uuid, 'export', md5((n / 3)::text)::uuid, 'completed', 1, 1, 100, '{"from":"2026-01-01","to":"2026-12-31"}',
          '{"url":"https://api.example.com/v1/exports/7"}', 0, ${either(ago(minute), now + day)} FROM ${numbers}`,
        `expires_at < ${now}`
      ],
      job_outputs: [
        `INSERT INTO ${schema}.job_outputs (job_id, number, piece)
        SELECT md5((n % 20000 + 1)::text)::uuid, n / 20000 + 1, repeat(md5(n::text), 8) FROM ${numbers}`,
        `job_id IN (SELECT md5(n::text)::uuid FROM generate_series(2, 20000, 2) AS n)`
      ]
    }),
    sweep(database, schema) {
      const store = postgresJobStore(database, { schema })
      return async () => store.sweep(now, 1000)
    }
  },
  {
    title: 'webhook deliveries, their attempts and messages',
    migrations: webhookMigrations,
    batch: 1000,
    fill: (schema) => ({
      webhook_deliveries: [
        `INSERT INTO ${schema}.webhook_deliveries (id, subscription_id, message_id, event_type, status, attempts, round_start, created_at, ended_at, next_attempt_at)
        SELECT ${timeId(either(ago(40 * day), ago(2 * day)))}, md5((n % 100)::text)::uuid, 'm' || n, 'order.created', 'delivered', 1, 0,
          ${either(ago(40 * day), ago(2 * day))}, ${either(ago(39 * day), ago(day))}, NULL FROM ${numbers}`,
        `ended_at < ${ago(30 * day)}`
      ],
      webhook_attempts: [
        `INSERT INTO ${schema}.webhook_attempts (delivery_id, id, number, started_at, duration_milliseconds, status_code)
        SELECT id, ${timeId(String(ago(day)))}, 1, created_at, 12.5, 200 FROM (SELECT *, row_number() OVER () AS n FROM ${schema}.webhook_deliveries) AS delivery`,
        `started_at < ${ago(30 * day)}`
      ],
      webhook_messages: [
        `INSERT INTO ${schema}.webhook_messages (id, type, happened_at, versions, bodies, deliveries)
        SELECT 'm' || n, 'order.created', 0, '{1}', ARRAY['{"type":"order.created","timestamp":"2026-01-02T03:04:05.678Z","data":' || repeat(md5(n::text), 16) || '}'], 1
        FROM ${numbers}`,
        `substr(id, 2)::integer % 2 = 0`
      ]
    }),
    sweep(database, schema) {
      const store = postgresWebhookStore(database, { schema })
      return async () => store.removeEndedBefore(ago(30 * day), 1000)
    }
  },
  {
    title: 'removed webhook subscriptions',
    migrations: webhookMigrations,
    batch: 1000,
    fill: (schema) => ({
      webhook_removals: [
        `INSERT INTO ${schema}.webhook_removals (subscription_id, removed_at)
        SELECT md5(n::text)::uuid, ${eitherTime(ago(2 * day), ago(minute))} FROM ${numbers}`,
        `removed_at < now() - interval '1 day'`
      ]
    }),
    sweep(database, schema) {
      const store = postgresWebhookStore(database, { schema })
      return async () => store.removeEndedBefore(ago(30 * day), 1000)
    }
  },
  {
    title: 'changes of webhook subscriptions',
    migrations: webhookMigrations,
    batch: 100,
    adds: 'one',
    fill: (schema) => ({
      webhook_changes: [
        `INSERT INTO ${schema}.webhook_changes (owner, times, ends_at)
        SELECT md5(n::text)::uuid, ARRAY[0::float8], ${either(ago(minute), now + day)} FROM ${numbers}`,
        `ends_at < ${now}`
      ]
    }),
    sweep(database, schema) {
      const store = postgresWebhookStore(database, { schema })
      return async () => store.countChange({ owner: 'one owner', now, since: now - minute, limit: rows })
    }
  },
  {
    title: 'the use of versions',
    migrations: versionUsageMigrations,
    batch: 1000,
    fill: (schema) => ({
      version_usage: [
        `INSERT INTO ${schema}.version_usage (key, version, client, day, requests, last_used_at)
        SELECT json_build_array('v1', 'client ' || n, '2026-01-01'), 'v1', to_json('client ' || n), ${eitherTime(ago(120 * day), ago(2 * day))}::date, 100, 0
        FROM ${numbers}`,
        `day < now() - interval '90 days'`
      ]
    }),
    sweep(database, schema) {
      const store = postgresVersionUsageStore(database, { schema })
      return async () => store.sweep?.(now, 1000)
    }
  },
  {
    title: 'audit records',
    migrations: auditTrailMigrations,
    batch: 1000,
    fill: (schema) => ({
      audit_records: [
        `INSERT INTO ${schema}.audit_records (occurred_at, id, request_id, subject, client, issuer, permissions, method, route, version, path, outcome, status)
        SELECT ${eitherTime(ago(366 * day), ago(2 * day))}, md5(n::text)::uuid, md5(n::text)::uuid::text, 'user ' || n % 1000, 'shop',
          'https://api.example.com', '{orders:write}', 'PATCH', '/v1/orders/:id', 'v1', '/v1/orders/' || md5(n::text)::uuid, 'committed', 200
        FROM ${numbers}`,
        `occurred_at < now() - interval '365 days'`
      ]
    }),
    sweep(database, schema) {
      const store = postgresAuditTrailStore(database, { schema })
      return async () => store.sweep?.(now, 1000)
    }
  }
]

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const explained = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_timing=off',
  'auto_explain.log_format=json',
  'auto_explain.log_level=notice',
  'synchronous_commit=off'
]

/** Creates a pool whose server sends the plan of every statement that it has executed. */
function explainingPool(t: Test, onPlan: (plan: Plan, text: string) => void) {
  const pool = new Pool({ connectionString: server, max: 5, options: explained.map((setting) => `-c ${setting}`).join(' ') })
  t.teardown(() => pool.end())
  pool.on('connect', (client) =>
    client.on('notice', ({ message = '' }) => {
      if (!message.includes('"Plan"')) return
      const { Plan: plan, 'Query Text': text } = JSON.parse(message.slice(message.indexOf('{')))
      onPlan(plan, text)
    })
  )
  return pool
}

/** Returns the scans of tables in a plan. */
function scansOf(plan: Plan): Plan[] {
  const below = (plan.Plans ?? []).flatMap(scansOf)
  return plan['Relation Name'] !== undefined && plan['Node Type'].includes('Scan') ? [plan, ...below] : below
}

/** Returns the parts of a plan that delete rows. */
function deletionsIn(plan: Plan): Plan[] {
  return plan['Node Type'] === 'ModifyTable' ? [plan] : (plan.Plans ?? []).flatMap(deletionsIn)
}

/** Checks that no statement reads a table as a whole, or more rows of it than a batch has. */
function scanCheck(t: Test, names: readonly string[], batch: number) {
  let worst = 0
  let faults = 0
  return {
    check(plan: Plan, text: string) {
      for (const scan of scansOf(plan)) {
        const { 'Node Type': type, 'Relation Name': table = '', 'Actual Rows': found, 'Rows Removed by Filter': others = 0 } = scan
        if (!names.includes(table)) continue
        const touched = (found + others) * scan['Actual Loops']
        worst = Math.max(worst, touched)
        if (type !== 'Seq Scan' && touched <= batch) continue
        faults += 1
        if (faults === 1) t.fail(`${type} touches ${touched} rows of ${table}`, { text })
      }
    },
    end: () => t.ok(worst > 0 && worst <= batch, `a statement touches up to ${worst} rows of a table`)
  }
}

async function count(pool: Pool, table: string, condition: string) {
  return Number((await pool.query(`SELECT count(*) FROM ${table} WHERE ${condition}`)).rows[0].count)
}

for (const { title, migrations, fill, sweep, batch, adds } of tables)
  t.test(`sweeps a million rows of ${title} in batches by an index`, onServer, async (t) => {
    const schema = freshSchema(t)
    const { pool, database } = connect(t)
    await migrate(database, migrations, { schema })
    const filled = Object.entries(fill(schema)).map(([name, [statement, expired]]) => ({
      name,
      table: `${schema}.${name}`,
      statement,
      expired
    }))
    for (const { name, table, statement } of filled) {
      await pool.query(statement)
      await pool.query(`VACUUM ANALYZE ${table}`)
      const { rows: sizes } = await pool.query(`SELECT pg_total_relation_size('${table}') / ${rows}.0 AS bytes`)
      t.comment(`${name}: ${Math.round(sizes[0].bytes)} bytes per row with its indexes`)
    }

    const scans = scanCheck(
      t,
      filled.map(({ name }) => name),
      batch
    )
    const once = sweep(fromPool(explainingPool(t, (plan, text) => scans.check(plan, text))), schema)
    let calls = 0
    const isDone = async () => {
      for (let n = 0, found: unknown; n < 200 && found !== 0; n += 1) {
        found = await once()
        calls += 1
      }
      const left = await Promise.all(filled.map(({ table, expired }) => count(pool, table, expired)))
      return left.every((rows) => rows === 0)
    }
    await until(isDone)
    scans.end()
    const added = { one: 1, each: calls, none: 0 }[adds ?? 'none']
    for (const [index, { table, expired }] of filled.entries())
      t.equal(await count(pool, table, `NOT (${expired})`), rows / 2 + (index === 0 ? added : 0), `${table} has all others`)
  })

t.test('deletes a million rows of jobs in batches by the primary key, and leaves what waits', onServer, async (t) => {
  const schema = freshSchema(t)
  const { pool } = connect(t)
  const maker = postgresWorkQueue(pool, { schema })
  await maker.define('exports')
  await maker.close()
  // The table of all queues, of which the others are partitions or views.
  const table = `${schema}.job_common`
  await pool.query(
    `INSERT INTO ${schema}.job (name, data, state, start_after, completed_on, deletion_seconds, keep_until, policy)
    SELECT 'exports', jsonb_build_object('payload', jsonb_build_object('deliveryId', gen_random_uuid())),
      (CASE WHEN ${isExpired} THEN 'completed' ELSE 'created' END)::${schema}.job_state, now() + interval '1 day',
      CASE WHEN ${isExpired} THEN now() - interval '2 days' END, 86400, now() + interval '9 years', 'standard' FROM ${numbers}`
  )
  await pool.query(`VACUUM ANALYZE ${table}`)
  const { rows: sizes } = await pool.query(`SELECT pg_total_relation_size('${table}') / ${rows}.0 AS bytes`)
  t.comment(`job: ${Math.round(sizes[0].bytes)} bytes per row with its indexes`)
  const scans = scanCheck(t, ['job_common'], 10_000)
  const queue = postgresWorkQueue(
    explainingPool(t, (plan, text) => {
      // The first statement of a pass also counts what it leaves, and reads all jobs that have ended for that.
      if (text.includes('walkCursor')) for (const deletion of deletionsIn(plan)) scans.check(deletion, text)
    }),
    { schema }
  )
  await queue.define('exports')
  const stop = queue.work('exports', async () => ({ done: true }), { concurrency: 1 })
  await until(async () => (await count(pool, table, "state = 'completed'")) === 0, 200)
  t.equal(await count(pool, table, "state = 'created'"), rows / 2)
  scans.end()
  await stop()
  await queue.close()
})
