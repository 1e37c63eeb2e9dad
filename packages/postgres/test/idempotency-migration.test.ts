// The migration of idempotency keys runs while a process of the release before it serves requests; then both run side by side. Of that release, this
// file has the statements of a key in a transaction, on the tables that it created: not its code.
import idempotency, { type IdempotencyStore } from '@concordat/idempotency'
import { migrate } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { scaled } from '@concordat/test-harness/scale'
import { turns, until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import type { Pool } from 'pg'
import t from 'tap'
import { connect, freshSchema, onServer } from './database.ts'

const lanes = 4
const stepsBefore = idempotencyMigrations.filter(({ version }) => version <= 3)

/** What the gate passes to a store for a key. */
interface Digests {
  readonly key: string
  readonly fingerprint: string
  readonly client: string
}

/** Creates the service, whose route inserts a row and responds with its id. */
async function serve(database: Parameters<typeof postgresIdempotencyStore>[0], store: IdempotencyStore, effects: string) {
  const app = Fastify({ handlerTimeout: 30_000 })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  await app.register(idempotency, { scope: () => 'a client', store })
  app.post<{ Headers: { 'idempotency-key': string } }>(
    '/orders',
    { config: { idempotency: 'required', transaction: true } },
    async ({ transaction, headers }, reply) => {
      const name = headers['idempotency-key']
      const { rows } = await transaction.query(`INSERT INTO ${effects} (name, by) VALUES ($1, 'new') RETURNING id`, [name])
      return reply.code(201).send({ id: rows[0]?.['id'], note: 'ñandú' })
    }
  )
  return (name: string) => app.inject({ method: 'POST', url: '/orders', headers: { 'idempotency-key': name } })
}

/** Sends a request to the release before, which has the statements below. Returns the body, or undefined while another owns the key. */
async function sendToEarlier(pool: Pool, schema: string, effects: string, name: string, { key, fingerprint, client }: Digests) {
  const connection = await pool.connect()
  try {
    await connection.query('BEGIN')
    const { rows } = await connection.query(
      `WITH state AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${lockSql(schema)}) AS is_free, clock_timestamp() AS now, client_bytes FROM (
          SELECT coalesce(sum(bytes), 0) AS client_bytes FROM ${schema}.idempotency_sizes WHERE client = $3 AND expires_at > statement_timestamp()
        ) AS counted),
      claimed AS (
        INSERT INTO ${schema}.idempotency_keys AS old (key, fingerprint, token, attempt, lease_until, expires_at)
        SELECT $1, $2, nextval('${schema}.idempotency_tokens'), 1, now + interval '30 seconds', now + interval '1 day' FROM state WHERE is_free
        ON CONFLICT (key) DO UPDATE SET
          fingerprint = excluded.fingerprint, token = excluded.token, attempt = old.attempt + 1, lease_until = excluded.lease_until,
          expires_at = excluded.expires_at, is_progress = false, status = NULL, headers = NULL, body = NULL
        WHERE old.status IS NULL AND old.fingerprint = excluded.fingerprint AND old.lease_until <= clock_timestamp()
        RETURNING token
      )
      SELECT (SELECT token FROM claimed) AS token, (
        SELECT encode(body, 'base64') FROM ${schema}.idempotency_keys WHERE key = $1 AND status IS NOT NULL AND expires_at > now
      ) AS body FROM state`,
      [key, fingerprint, client]
    )
    const [{ token, body }] = rows
    if (body !== null) return Buffer.from(body, 'base64').toString()
    if (token === null) return undefined
    const inserted = await connection.query(`INSERT INTO ${effects} (name, by) VALUES ($1, 'earlier') RETURNING id`, [name])
    const made = JSON.stringify({ id: inserted.rows[0].id, note: 'ñandú' })
    await connection.query(
      `WITH done AS (
        UPDATE ${schema}.idempotency_keys SET status = 201, headers = '{"content-type":"application/json; charset=utf-8"}', body = $3,
          expires_at = clock_timestamp() + interval '1 day', is_progress = false
        WHERE key = $1 AND token = $2 AND status IS NULL RETURNING 1
      ) SELECT 1 / count(*) FROM done`,
      [key, token, Buffer.from(made)]
    )
    await connection.query('COMMIT')
    return made
  } finally {
    await connection.query('ROLLBACK')
    connection.release()
  }
}

// The first 64 bits of the SHA-256 of the schema and the key.
function lockSql(schema: string) {
  return `('x' || encode(substr(sha256(convert_to('${schema} ' || $1::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint`
}

t.test('keys survive the migration under load, and two releases side by side execute each once', onServer, async (t) => {
  const schema = freshSchema(t)
  const effects = `${schema}.effects`
  const [{ pool }, { database }] = [connect(t, { max: lanes }), connect(t, { max: 10 })]
  await migrate(database, stepsBefore, { schema })
  await pool.query(`CREATE TABLE ${effects} (id bigint GENERATED ALWAYS AS IDENTITY, name text NOT NULL, by text NOT NULL)`)
  const store = postgresIdempotencyStore(database, { schema })
  const digests = new Map<string, Digests>()
  let asked: Digests | undefined
  const probe: IdempotencyStore = {
    ...store,
    close: async () => {},
    begin(key, fingerprint, { client }) {
      asked = { key, fingerprint, client }
      return { state: 'mismatch' }
    }
  }
  const ask = await serve(database, probe, effects)
  // The names of requests before the migration, more than are sent until it ends, and of those of both releases.
  const [before, shared] = [namesOf('before', 900), namesOf('shared', scaled(300, 3000))]
  for (const name of [...before, ...shared]) {
    await ask(name)
    digests.set(name, asked as Digests)
  }

  const bodies = { earlier: new Map<string, string>(), new: new Map<string, string>() }
  const earlier = async (name: string) => {
    const known = digests.get(name) as Digests
    for (;;) {
      const body = await sendToEarlier(pool, schema, effects, name, known)
      if (body !== undefined) return void bodies.earlier.set(name, body)
      await turns(1)
    }
  }
  const send = await serve(database, store, effects)
  const current = async (name: string) => {
    for (;;) {
      const { statusCode, body } = await send(name)
      if (statusCode === 201) return void bodies.new.set(name, body)
      if (statusCode !== 409) throw new Error(`${statusCode} ${body}`)
    }
  }
  const inLanes = (names: readonly string[], work: (name: string) => Promise<void>) => {
    const rest = [...names]
    return Promise.all(
      Array.from({ length: lanes }, async () => {
        for (let name = rest.shift(); name !== undefined; name = rest.shift()) await work(name)
      })
    )
  }

  let isOver = false
  const sent: string[] = []
  const underLoad = inLanes(before, async (name) => {
    if (isOver) return
    sent.push(name)
    await earlier(name)
  })
  await until(() => sent.length > 100)
  await migrate(database, idempotencyMigrations, { schema })
  const sentBefore = sent.length
  await until(() => sent.length > sentBefore + 100)
  isOver = true
  await underLoad
  await Promise.all([inLanes(shared, earlier), inLanes(shared.toReversed(), current)])
  await Promise.all([inLanes(shared, current), inLanes(sent, current), inLanes([...sent, ...shared], earlier)])

  const { rows } = await pool.query(
    `SELECT by, count(*)::integer AS all, count(DISTINCT name)::integer AS names FROM ${effects} GROUP BY by`
  )
  const total = rows.reduce((sum, { all }) => sum + all, 0)
  t.equal(total, sent.length + shared.length, 'each request has one effect')
  t.ok(rows.length === 2, `both releases have executed requests: ${JSON.stringify(rows)}`)
  for (const name of [...sent, ...shared]) t.equal(bodies.new.get(name), bodies.earlier.get(name), name)
  t.equal(bodies.new.size, total)
})

function namesOf(kind: string, count: number) {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`)
}
