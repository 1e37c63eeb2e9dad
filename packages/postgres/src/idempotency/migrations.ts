import type { Migration } from '../migrations.ts'

/** The migrations that create the table of `postgresIdempotencyStore`; pass them to `migrate`. */
export const idempotencyMigrations: readonly Migration[] = [
  {
    component: 'idempotency',
    version: 1,
    statements: [
      // The fencing tokens of all keys come from one sequence, so that they only grow, even after the record of a key was deleted.
      `CREATE SEQUENCE {schema}.idempotency_tokens MAXVALUE ${Number.MAX_SAFE_INTEGER}`,
      `CREATE TABLE {schema}.idempotency_keys (
        key text COLLATE "C" PRIMARY KEY,
        fingerprint text COLLATE "C" NOT NULL,
        token bigint NOT NULL,
        attempt integer NOT NULL,
        lease_until timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        status smallint,
        headers json,
        body bytea
      )`,
      `CREATE INDEX idempotency_keys_expires_at ON {schema}.idempotency_keys (expires_at)`
    ]
  },
  {
    component: 'idempotency',
    version: 2,
    statements: [
      `ALTER TABLE {schema}.idempotency_keys ADD COLUMN client text COLLATE "C", ADD COLUMN counted_bytes bigint NOT NULL DEFAULT 0`,
      // Most records of small responses are not in the index: see the statement that completes a key.
      `CREATE INDEX idempotency_keys_client ON {schema}.idempotency_keys (client, expires_at) INCLUDE (counted_bytes) WHERE counted_bytes > 0`
    ]
  }
]
