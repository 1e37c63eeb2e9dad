import type { Revocation, RevocationPage, RevocationStore } from '@concordat/authentication'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { expiredRows } from './sweep.ts'

/** The migrations that create the table of {@link postgresRevocationStore}; pass them to `migrate`. */
export const revocationMigrations: readonly Migration[] = migrationsOf('revocations', [
  `CREATE TABLE {schema}.revocations (
        kind text NOT NULL,
        id text NOT NULL,
        issued_before double precision,
        until double precision NOT NULL,
        changed_by xid8 NOT NULL,
        PRIMARY KEY (kind, id)
      )`,
  `CREATE INDEX revocations_changed_by ON {schema}.revocations (changed_by)`,
  `CREATE INDEX revocations_until ON {schema}.revocations (until)`
])

/** Creates a store of token revocations in PostgreSQL 13 or later that announces new revocations with NOTIFY. */
export function postgresRevocationStore(database: Postgres, options: StoreOptions = {}): RevocationStore {
  const schema = schemaOf(options)
  const table = `${schema}.revocations`
  const channel = `${schema}_revocations`

  return {
    async revoke({ kind, id, issuedBefore, until }: Revocation) {
      // The notification is sent with the commit.
      await database.query(
        `WITH over AS (
          DELETE FROM ${table} WHERE (kind, id) <> ($1, $2) AND ${expiredRows(table, 'until', '$5', '100')}
        ),
        stored AS (
          INSERT INTO ${table} AS old (kind, id, issued_before, until, changed_by)
          VALUES ($1, $2, $3, $4, pg_current_xact_id())
          ON CONFLICT (kind, id) DO UPDATE SET
            issued_before = GREATEST(old.issued_before, excluded.issued_before),
            until = GREATEST(old.until, excluded.until),
            changed_by = excluded.changed_by
          RETURNING 1
        )
        SELECT 'true' AS json FROM stored, pg_notify($6, '')`,
        [kind, id, issuedBefore ?? null, until, Date.now(), channel]
      )
    },
    // The cursor is the oldest transaction that was still running: numbers from a sequence would skip one that was numbered early and committed late.
    async read(cursor = '0') {
      const since = /^\d{1,19}$/.test(cursor) ? cursor : '0'
      const [page] = await database.background.query<RevocationPage>(
        // A cursor from the future belongs to another database, of which this one is an older copy.
        `WITH snapshot AS (
          SELECT pg_snapshot_xmin(pg_current_snapshot()) AS next,
            CASE WHEN $1::text::xid8 > pg_snapshot_xmax(pg_current_snapshot()) THEN '0'::xid8 ELSE $1::text::xid8 END AS since
        )
        SELECT json_build_object('cursor', (SELECT next FROM snapshot)::text, 'revocations', COALESCE((
          SELECT json_agg(jsonb_strip_nulls(jsonb_build_object('kind', kind, 'id', id, 'issuedBefore', issued_before, 'until', until)))
          FROM ${table} WHERE changed_by >= (SELECT since FROM snapshot) AND until > $2
        ), '[]'))::text AS json`,
        [since, Date.now()]
      )
      return page as RevocationPage
    },
    subscribe: (wake, lost) => database.listen(channel, { onMessage: wake, onLost: lost })
  }
}
