import { type Migration, migrationsOf } from '../migrations/migration.ts'

/** The migrations that create the table of `postgresIdempotencyStore`; pass them to `migrate`. */
export const idempotencyMigrations: readonly Migration[] = migrationsOf(
  'idempotency',
  [
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
  ],
  [
    // The sizes of responses have a table of their own, whose rows are so narrow that those of a client are on few pages.
    `CREATE TABLE {schema}.idempotency_sizes (client text COLLATE "C" NOT NULL, expires_at timestamptz NOT NULL, bytes integer NOT NULL)`,
    `CREATE INDEX idempotency_sizes_client ON {schema}.idempotency_sizes (client, expires_at) INCLUDE (bytes)`,
    `CREATE INDEX idempotency_sizes_expires_at ON {schema}.idempotency_sizes (expires_at)`
  ],
  [
    // Whether the response is the progress of a request that is not finished. Between two attempts, its lease ended in 1970.
    `ALTER TABLE {schema}.idempotency_keys ADD COLUMN is_progress boolean NOT NULL DEFAULT false`
  ],
  [
    // The token with which the body was written as text, which is then read as it is. An earlier release, which may run beside this one, reads the body
    // as bytes, and writes it with another token.
    `ALTER TABLE {schema}.idempotency_keys ADD COLUMN text_token bigint`
  ]
)
