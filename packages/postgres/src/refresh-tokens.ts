import type { RefreshFamily, RefreshOutcome, RefreshTokenStore } from '@concordat/token-issuing'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { expiredRows } from './sweep.ts'

/** The migrations that create the table of {@link postgresRefreshTokenStore}; pass them to `migrate`. */
export const refreshTokenMigrations: readonly Migration[] = migrationsOf('refresh-tokens', [
  `CREATE TABLE {schema}.refresh_families (
        handle text PRIMARY KEY,
        id text NOT NULL UNIQUE,
        subject text NOT NULL,
        client_id text,
        began_at double precision NOT NULL,
        expires_at double precision NOT NULL,
        idle_expires_at double precision NOT NULL,
        newest text NOT NULL,
        replaced text,
        replaced_at double precision,
        revoked boolean NOT NULL DEFAULT false
      )`,
  `CREATE INDEX refresh_families_subject ON {schema}.refresh_families (subject)`,
  `CREATE INDEX refresh_families_expires_at ON {schema}.refresh_families (expires_at)`
])

const family = `jsonb_strip_nulls(jsonb_build_object('id', id, 'handle', handle, 'subject', subject, 'clientId', client_id,
  'beganAt', began_at, 'expiresAt', expires_at))`
// How long an expired family is still distinguished from one that never existed.
const remembered = 86_400_000

/** Creates a store of refresh tokens in PostgreSQL. Each method is one statement, and each use locks the row of its family. */
export function postgresRefreshTokenStore(database: Postgres, options: StoreOptions = {}): RefreshTokenStore {
  const table = `${schemaOf(options)}.refresh_families`

  return {
    async begin({ handle, id, subject, clientId, beganAt, expiresAt }, secret, idleExpiresAt) {
      await database.query(
        `WITH over AS (
          DELETE FROM ${table} WHERE ${expiredRows(table, 'expires_at', `$5::double precision - ${remembered}`, '100')}
        )
        INSERT INTO ${table} (handle, id, subject, client_id, began_at, expires_at, newest, idle_expires_at)
        VALUES ($1, $2, $3, $4, $5::double precision, $6, $7, $8)`,
        [handle, id, subject, clientId ?? null, beganAt, expiresAt, secret, idleExpiresAt]
      )
    },
    async use({ handle, secret, successor, clientId, now, reuseGraceMs, idleMs }) {
      // A second use of the family waits for the row, and then reads it as the first use left it.
      const [outcome] = await database.query<RefreshOutcome>(
        `WITH found AS (SELECT * FROM ${table} WHERE handle = $1 FOR UPDATE),
        judged AS (
          SELECT *, CASE
            WHEN revoked THEN 'revoked'
            WHEN $5::double precision >= LEAST(expires_at, idle_expires_at) THEN 'expired'
            WHEN client_id IS DISTINCT FROM $4::text THEN 'reused'
            WHEN newest = $2::text THEN 'rotated'
            WHEN replaced = $2::text AND $5::double precision - replaced_at < $6::double precision THEN 'repeated'
            ELSE 'reused' END AS outcome
          FROM found
        ),
        changed AS (
          UPDATE ${table} AS stored SET
            revoked = judged.outcome = 'reused',
            newest = CASE judged.outcome WHEN 'rotated' THEN $3::text ELSE judged.newest END,
            replaced = CASE judged.outcome WHEN 'rotated' THEN judged.newest ELSE judged.replaced END,
            replaced_at = CASE judged.outcome WHEN 'rotated' THEN $5::double precision ELSE judged.replaced_at END,
            idle_expires_at = CASE judged.outcome WHEN 'rotated' THEN $5::double precision + $7::double precision ELSE judged.idle_expires_at END
          FROM judged WHERE stored.handle = judged.handle AND judged.outcome IN ('rotated', 'reused')
        )
        SELECT jsonb_strip_nulls(jsonb_build_object('outcome', outcome, 'family', ${family}, 'newest',
          CASE outcome WHEN 'rotated' THEN $3::text WHEN 'repeated' THEN newest END))::text AS json
        FROM judged`,
        [handle, secret, successor, clientId ?? null, now, reuseGraceMs, idleMs]
      )
      return outcome ?? { outcome: 'unknown' }
    },
    async revokeHandle(handle) {
      const [revoked] = await database.query<RefreshFamily>(
        `UPDATE ${table} SET revoked = true WHERE handle = $1 RETURNING ${family}::text AS json`,
        [handle]
      )
      return revoked
    },
    async revokeFamily(id) {
      await database.query(`UPDATE ${table} SET revoked = true WHERE id = $1`, [id])
    },
    async revokeSubject(subject) {
      await database.query(`UPDATE ${table} SET revoked = true WHERE subject = $1 AND NOT revoked`, [subject])
    },
    async revokeAll() {
      await database.query(`UPDATE ${table} SET revoked = true WHERE NOT revoked`)
    }
  }
}
