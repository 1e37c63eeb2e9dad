import { hash } from 'node:crypto'
import type { Claim, ClaimTerms, StoredResponse } from '@concordat/idempotency'
import type { Prepared } from '../connections/pg-client.ts'
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
  /**
   * Returns the statements with which a transaction claims a key without a record: they lock it, then read with a snapshot of their own. Nothing is written
   * before the response.
   */
  lockNew(key: string, fingerprint: string, terms: ClaimTerms): readonly [lock: Prepared, look: Prepared]
  /** Returns the statement that claims a key by writing its record. */
  claim(key: string, fingerprint: string, terms: ClaimTerms): Prepared
  /** Returns the statement that reads the record of a key as the claim does, and locks and writes nothing. */
  read(key: string, fingerprint: string): Prepared
  readonly renew: string
  /** Stores the response of a completion, and counts the claims that were still owned. */
  readonly complete: string
  /** Returns the same statement, which fails if the claim is lost. */
  completeOrFail(completion: Completion): Prepared
  /** Returns the statement that inserts the record of a key that is only locked, with its response. */
  insert(fingerprint: string, completion: Completion): Prepared
  readonly release: string
  /** Deletes expired records and sizes. A key whose progress was stored may have several sizes, so the larger number tells whether more is left. */
  readonly sweep: string
  readonly check: string
}

const own = 'key = $1 AND token = $2 AND expires_at > clock_timestamp()'
// A completed record does not change, and neither does one between two attempts.
const isIdle = `lease_until = 'epoch'`
const isOpen = `(status IS NULL OR (is_progress AND NOT ${isIdle}))`
const milliseconds = (value: string) => `${value}::double precision * interval '1 millisecond'`

/** Returns the columns that `outcomeOf` reads, for the record `r`. An expired record counts as missing. */
function outcomeColumns(isFree: string, bytes: string, exceededMs: string, token: string, attempt: string) {
  return `${isFree} AS is_free, ${bytes} AS client_bytes, ${exceededMs} AS exceeded_ms, ${token} AS token, ${attempt} AS attempt,
    CASE WHEN r.expires_at > clock_timestamp() THEN r.fingerprint = $2::text END AS is_same,
    extract(epoch FROM r.lease_until - clock_timestamp()) * 1000 AS lease_ms, r.${isIdle} AS is_idle,
    r.status IS NOT NULL AND NOT r.is_progress AS is_final, r.status, r.headers,
    CASE WHEN r.text_token = r.token THEN convert_from(r.body, 'UTF8') END AS text,
    CASE WHEN r.text_token IS DISTINCT FROM r.token THEN encode(r.body, 'base64') END AS octets`
}

/** Returns the texts of the statements for the tables in this schema. */
function textsFor(schema: string) {
  const table = `${schema}.idempotency_keys`
  const sizes = `${schema}.idempotency_sizes`
  const nextToken = `nextval('${schema}.idempotency_tokens')`
  const counted = (client: string, maximum: string) => `(
      SELECT client_bytes, CASE WHEN client_bytes >= ${maximum}::double precision THEN first_ms END AS exceeded_ms FROM (
        SELECT coalesce(sum(bytes), 0) AS client_bytes, extract(epoch FROM min(expires_at) - statement_timestamp()) * 1000 AS first_ms
        FROM ${sizes} WHERE client = ${client}::text AND expires_at > statement_timestamp()
      ) AS sums) AS counted`
  return {
    lock: 'SELECT pg_try_advisory_xact_lock($1::bigint)',
    // Above READ COMMITTED, the snapshot is older than the lock, and the record itself must be the guard.
    look: `SELECT ${outcomeColumns(
      'true',
      'client_bytes',
      'exceeded_ms',
      `CASE WHEN r.key IS NULL AND exceeded_ms IS NULL AND current_setting('transaction_isolation') = 'read committed' THEN ${nextToken} END`,
      '1'
    )} FROM ${counted('$3', '$4')} LEFT JOIN ${table} AS r ON r.key = $1::text`,
    // Only the lock shows an open transaction, because its record is invisible to others. A claim that does not get the lock does not wait for the record.
    // Leases share the lock, and wait for each other's record, which takes one statement.
    claim: `WITH state AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock_shared($5::bigint) AS is_free, clock_timestamp() AS now, client_bytes, exceeded_ms
        FROM ${counted('$3', '$4')}
      ),
      claimed AS (
        INSERT INTO ${table} AS old (key, fingerprint, token, attempt, lease_until, expires_at)
        SELECT $1::text, $2::text, ${nextToken}, 1, now + ${milliseconds('$6')}, now + ${milliseconds('$7')} FROM state
        WHERE is_free AND exceeded_ms IS NULL
        ON CONFLICT (key) DO UPDATE SET
          fingerprint = excluded.fingerprint, token = excluded.token,
          text_token = CASE WHEN old.text_token = old.token THEN excluded.token END,
          attempt = CASE WHEN old.expires_at <= clock_timestamp() OR old.${isIdle} THEN 1 ELSE old.attempt + 1 END,
          lease_until = excluded.lease_until, expires_at = excluded.expires_at,
          is_progress = old.is_progress AND old.expires_at > clock_timestamp(),
          status = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.status END,
          headers = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.headers END,
          body = CASE WHEN old.is_progress AND old.expires_at > clock_timestamp() THEN old.body END
        WHERE old.expires_at <= clock_timestamp() OR (
          ($8::boolean OR old.${isIdle}) AND (old.status IS NULL OR old.is_progress)
          AND old.fingerprint = excluded.fingerprint AND old.lease_until <= clock_timestamp()
        )
        RETURNING *
      )
      SELECT ${outcomeColumns('is_free', 'client_bytes', 'exceeded_ms', 'CASE WHEN is_claimed THEN r.token END', 'r.attempt')}
      FROM state LEFT JOIN (
        SELECT true AS is_claimed, * FROM claimed
        UNION ALL SELECT false, * FROM ${table} WHERE key = $1::text AND NOT EXISTS (SELECT FROM claimed)
      ) AS r ON true`,
    read: `SELECT ${outcomeColumns('true', '0', 'NULL', 'NULL', 'NULL')} FROM ${table} AS r WHERE key = $1::text`,
    // With the lock, two callers that complete at the same time see each other.
    complete: (result: string) => `WITH stored AS (
        SELECT ${isOpen} AS is_open FROM ${table}
        WHERE key = $1::text AND token = $2::bigint AND expires_at > clock_timestamp() FOR UPDATE
      ),
      done AS (
        UPDATE ${table} SET status = $3::smallint, headers = $4::text::json, body = $5::bytea,
          text_token = CASE WHEN $6::boolean THEN token END, is_progress = $7::boolean,
          expires_at = clock_timestamp() + ${milliseconds('$8')}, lease_until = CASE WHEN $7::boolean THEN 'epoch' ELSE lease_until END
        WHERE key = $1::text AND token = $2::bigint AND EXISTS (SELECT FROM stored WHERE is_open)
        RETURNING expires_at
      ),
      counted AS (INSERT INTO ${sizes} (client, expires_at, bytes) SELECT $9::text, expires_at, $10::integer FROM done WHERE $10::integer IS NOT NULL)
      SELECT ${result} AS json FROM stored`,
    insert: `WITH done AS (
        INSERT INTO ${table} (key, token, status, headers, body, text_token, is_progress, expires_at, fingerprint, attempt, lease_until)
        VALUES ($1::text, $2::bigint, $3::smallint, $4::text::json, $5::bytea, CASE WHEN $6::boolean THEN $2::bigint END, $7::boolean,
          clock_timestamp() + ${milliseconds('$8')}, $11::text, 1, 'epoch')
        RETURNING expires_at
      )
      INSERT INTO ${sizes} (client, expires_at, bytes) SELECT $9::text, expires_at, $10::integer FROM done WHERE $10::integer IS NOT NULL`
  }
}

/** Returns the statements for the tables in this schema. */
export function statementsFor(schema: string): Statements {
  const table = `${schema}.idempotency_keys`
  const sizes = `${schema}.idempotency_sizes`
  const texts = textsFor(schema)
  const [complete, completeOrFail] = [texts.complete('count(*)::text'), texts.complete('(1 / count(*))::text')]

  return {
    lockNew: (key, fingerprint, terms) => [
      { text: texts.lock, values: [lockOf(schema, key)] },
      { text: texts.look, values: [digest(key), digest(fingerprint), ...limits(terms)] }
    ],
    claim(key, fingerprint, terms) {
      const times = [finite(terms.leaseMs), finite(terms.lifetimeMs)]
      const values = [digest(key), digest(fingerprint), ...limits(terms), lockOf(schema, key), ...times, String(terms.takesOver)]
      return { text: texts.claim, values }
    },
    read: (key, fingerprint) => ({ text: texts.read, values: [digest(key), digest(fingerprint)] }),
    renew: `WITH stored AS (
        UPDATE ${table} SET lease_until = clock_timestamp() + ${milliseconds('$3')}
        WHERE ${own} AND ${isOpen} RETURNING 1
      ) SELECT count(*)::text AS json FROM stored`,
    complete,
    completeOrFail: (completion) => ({ text: completeOrFail, values: valuesOf(completion) }),
    insert: (fingerprint, completion) => ({ text: texts.insert, values: [...valuesOf(completion), digest(fingerprint)] }),
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

/** Returns the values of a statement that stores a response. */
export function valuesOf({ key, token, client, response, lifetimeMs, size }: Completion) {
  const { status, headers, body, isProgress = false } = response
  // PostgreSQL has no text with NUL.
  const isText = typeof body === 'string' && !body.includes('\0')
  const octets = body === null ? null : Buffer.from(body as string)
  const fields = JSON.stringify(headers)
  const stored = [digest(key), finite(token), finite(status), fields, octets, isText ? 't' : 'f', isProgress ? 't' : 'f']
  return [...stored, finite(lifetimeMs), digest(client), size === undefined ? null : finite(size)]
}

function limits({ client, maxClientBytes }: ClaimTerms) {
  return [digest(client), finite(maxClientBytes)]
}

function digest(value: string) {
  if (/^[\w-]{43}$/.test(value)) return value
  throw new TypeError('postgres: idempotency keys and fingerprints must be SHA-256 digests in base64url, 43 characters long.')
}

function finite(value: number) {
  if (Number.isFinite(value)) return String(value)
  throw new TypeError(`postgres: ${String(value)} is not a finite number.`)
}

// Advisory locks belong to the whole database, and each schema in it has separate keys.
function lockOf(schema: string, key: string) {
  return String(hash('sha256', `${schema} ${key}`, 'buffer').readBigInt64BE())
}
