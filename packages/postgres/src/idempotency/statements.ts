import { hash } from 'node:crypto'
import type { Claim, ClaimTerms, StoredResponse } from '@concordat/idempotency'
import { expiredRows } from '../sweep.ts'

/** A response to store for a claim. */
export interface Completion extends Pick<Claim, 'key' | 'token' | 'client'> {
  readonly response: StoredResponse
  readonly lifetimeMs: number
  /** The size that is counted for the client, if any. */
  readonly size: number | undefined
}

/** The statements of one store. All times are those of the database. */
export interface Statements {
  /** Returns the statement that claims a key, with its values inlined, so that it can be sent with BEGIN in one message. */
  claim(key: string, fingerprint: string, terms: ClaimTerms): string
  /** Returns the statement that reads the record of a key as the claim does, and locks and writes nothing. */
  read(key: string, fingerprint: string): readonly [sql: string, values: readonly unknown[]]
  readonly renew: string
  /** Returns the statement that stores a response and counts the claims that were still owned. */
  complete(completion: Completion): readonly [sql: string, values: readonly unknown[]]
  /** Returns the same statement with its values inlined, so that it can be sent with COMMIT in one message. It fails if the claim is lost. */
  completeOrFail(completion: Completion): string
  readonly release: string
  /** Deletes expired records and sizes. A key whose progress was stored may have several sizes, so the larger number tells whether more is left. */
  readonly sweep: string
  readonly check: string
}

type Value = string | number | boolean

/** Returns the statements for the tables in this schema. */
export function statementsFor(schema: string): Statements {
  const table = `${schema}.idempotency_keys`
  const sizes = `${schema}.idempotency_sizes`
  const own = 'key = $1 AND token = $2 AND expires_at > clock_timestamp()'
  const response = `json_build_object('status', status, 'headers', headers, 'body', encode(body, 'base64'))`
  // A completed record does not change, and neither does one between two attempts.
  const isIdle = `lease_until = 'epoch'`
  const isOpen = `(status IS NULL OR (is_progress AND NOT ${isIdle}))`
  // With the lock, two callers that complete at the same time see each other.
  const completed = ([key, token, status, headers, body, lifetimeMs, isProgress, client, size]: readonly Value[], result: string) =>
    `WITH stored AS (
        SELECT ${isOpen} AS is_open FROM ${table} WHERE key = ${key} AND token = ${token} AND expires_at > clock_timestamp() FOR UPDATE
      ),
      done AS (
        UPDATE ${table} SET status = ${status}, headers = ${headers}, body = ${body},
          expires_at = clock_timestamp() + ${lifetimeMs}::double precision * interval '1 millisecond',
          is_progress = ${isProgress}::boolean, lease_until = CASE WHEN ${isProgress}::boolean THEN 'epoch' ELSE lease_until END
        WHERE key = ${key} AND token = ${token} AND EXISTS (SELECT FROM stored WHERE is_open)
        RETURNING expires_at
      )
      ${size === undefined ? '' : `, counted AS (INSERT INTO ${sizes} (client, expires_at, bytes) SELECT ${client}, expires_at, ${size} FROM done)`}
      SELECT ${result} AS json FROM stored`
  const state = (key: Value, fingerprint: Value) => `(
          SELECT json_build_object('isSame', fingerprint = ${fingerprint}, 'leaseMs', extract(epoch FROM lease_until - now) * 1000,
            'isIdle', ${isIdle}, 'response', CASE WHEN status IS NOT NULL AND NOT is_progress THEN ${response} END)
          FROM ${table} WHERE key = ${key} AND expires_at > now
        )`

  return {
    claim(key, fingerprint, { leaseMs, lifetimeMs, takesOver, client, maxClientBytes, transaction }) {
      const [k, f, c] = [quoted(key), quoted(fingerprint), quoted(client)]
      const [lease, lifetime] = [leaseMs, lifetimeMs].map((ms) => `${finite(ms)} * interval '1 millisecond'`)
      // Only the lock shows an open transaction, because its row is invisible to others. A claim that does not get the lock does not wait
      // for the row. Leases share the lock, and wait for each other's row, which takes one statement.
      const lock = transaction ? 'pg_try_advisory_xact_lock' : 'pg_try_advisory_xact_lock_shared'
      return `WITH state AS MATERIALIZED (
        SELECT ${lock}(${lockOf(schema, key)}) AS is_free, clock_timestamp() AS now, client_bytes,
          CASE WHEN client_bytes >= ${finite(maxClientBytes)} THEN first_ms END AS exceeded_ms
        FROM (
          SELECT coalesce(sum(bytes), 0) AS client_bytes, extract(epoch FROM min(expires_at) - statement_timestamp()) * 1000 AS first_ms
          FROM ${sizes} WHERE client = ${c} AND expires_at > statement_timestamp()
        ) AS counted),
      claimed AS (
        INSERT INTO ${table} AS old (key, fingerprint, token, attempt, lease_until, expires_at)
        SELECT ${k}, ${f}, nextval('${schema}.idempotency_tokens'), 1, now + ${lease}, now + ${lifetime} FROM state
        WHERE is_free AND exceeded_ms IS NULL
        ON CONFLICT (key) DO UPDATE SET
          fingerprint = excluded.fingerprint, token = excluded.token,
          attempt = CASE WHEN old.expires_at <= clock_timestamp() OR old.${isIdle} THEN 1 ELSE old.attempt + 1 END,
          lease_until = excluded.lease_until, expires_at = excluded.expires_at,
          is_progress = old.is_progress AND old.expires_at > clock_timestamp(),
          status = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.status END,
          headers = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.headers END,
          body = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.body END
        WHERE old.expires_at <= clock_timestamp() OR (
          (${takesOver} OR old.${isIdle}) AND (old.status IS NULL OR old.is_progress)
          AND old.fingerprint = excluded.fingerprint AND old.lease_until <= clock_timestamp()
        )
        RETURNING token, attempt, is_progress, ${response} AS response
      )
      SELECT json_build_object(
        'isFree', is_free,
        'exceededMs', exceeded_ms,
        'clientBytes', client_bytes,
        'claim', (SELECT json_build_object('token', token, 'attempt', attempt) FROM claimed),
        'progress', (SELECT response FROM claimed WHERE is_progress),
        'stored', ${state(k, f)}
      )::text AS json FROM state`
    },
    read: (key, fingerprint) => [`SELECT ${state('$1', '$2')}::text AS json FROM clock_timestamp() AS now`, [key, fingerprint]],
    renew: `WITH stored AS (
        UPDATE ${table} SET lease_until = clock_timestamp() + $3::double precision * interval '1 millisecond'
        WHERE ${own} AND ${isOpen} RETURNING 1
      ) SELECT count(*)::text AS json FROM stored`,
    complete({ key, token, client, response: { status, headers, body, isProgress = false }, lifetimeMs, size }) {
      const values = [
        key,
        token,
        status,
        JSON.stringify(headers),
        typeof body === 'string' ? Buffer.from(body) : body,
        lifetimeMs,
        isProgress
      ]
      const all = size === undefined ? values : [...values, client, size]
      return [
        completed(
          all.map((_, index) => `$${index + 1}` as const),
          'count(*)::text'
        ),
        all
      ]
    },
    completeOrFail({ key, token, client, response: { status, headers, body, isProgress = false }, lifetimeMs, size }) {
      const values = [
        quoted(key),
        finite(token),
        finite(status),
        `convert_from(${bytes(JSON.stringify(headers))}, 'UTF8')::json`,
        body === null ? 'NULL' : bytes(body),
        finite(lifetimeMs),
        isProgress
      ]
      return completed(size === undefined ? values : [...values, quoted(client), finite(size)], '(1 / count(*))::text')
    },
    release: `WITH gone AS (DELETE FROM ${table} WHERE ${own} AND status IS NULL RETURNING 1),
      idle AS (UPDATE ${table} SET lease_until = 'epoch' WHERE ${own} AND is_progress AND NOT ${isIdle} RETURNING 1)
      SELECT count(*)::text AS json FROM (SELECT FROM gone UNION ALL SELECT FROM idle) AS released`,
    sweep: `WITH gone AS (
        DELETE FROM ${table} WHERE ${expiredRows(table, 'expires_at', 'statement_timestamp()', '$1')} RETURNING 1
      ),
      uncounted AS (
        DELETE FROM ${sizes} WHERE ${expiredRows(sizes, 'expires_at', 'statement_timestamp()', '$1')} RETURNING 1
      ) SELECT greatest((SELECT count(*) FROM gone), (SELECT count(*) FROM uncounted))::text AS json`,
    check: `SELECT json_build_object(
        'table', (SELECT relpersistence FROM pg_class WHERE oid = to_regclass('${table}')),
        'synchronousCommit', current_setting('synchronous_commit'), 'fsync', current_setting('fsync'),
        'checkInterval', current_setting('client_connection_check_interval', true)
      )::text AS json`
  }
}

function quoted(digest: string) {
  if (/^[\w-]{43}$/.test(digest)) return `'${digest}'`
  throw new TypeError('postgres: idempotency keys and fingerprints must be SHA-256 digests in base64url, 43 characters long.')
}

// The alphabet of base64 needs no quotes, whatever the settings of the connection are.
function bytes(value: string | Uint8Array) {
  return `decode('${Buffer.from(value as string).toString('base64')}', 'base64')`
}

function finite(value: number) {
  if (Number.isFinite(value)) return value
  throw new TypeError(`postgres: ${String(value)} is not a finite number.`)
}

// Advisory locks belong to the whole database, and each schema in it has separate keys.
function lockOf(schema: string, key: string) {
  return hash('sha256', `${schema} ${key}`, 'buffer').readBigInt64BE()
}
