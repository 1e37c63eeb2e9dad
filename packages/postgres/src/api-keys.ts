import type { ApiKeyRecord, ApiKeyStore } from '@concordat/authentication'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { expiredRows } from './sweep.ts'

/** The migrations that create the table of {@link postgresApiKeyStore}; pass them to `migrate`. */
export const apiKeyMigrations: readonly Migration[] = migrationsOf(
  'api-keys',
  [
    `CREATE TABLE {schema}.api_keys (
        id text PRIMARY KEY,
        secret_hash text NOT NULL,
        client text NOT NULL,
        permissions jsonb NOT NULL,
        expires_at double precision
      )`,
    `CREATE INDEX api_keys_expires_at ON {schema}.api_keys (expires_at)`
  ],
  ['ALTER TABLE {schema}.api_keys ADD COLUMN tenant text']
)

// Once the clock of the database is this far past the end of a key, the key has expired by the clock of every service.
const remembered = 86_400_000

/** Creates a store of API keys in PostgreSQL. Each method is one statement. */
export function postgresApiKeyStore(database: Postgres, options: StoreOptions = {}): ApiKeyStore {
  const table = `${schemaOf(options)}.api_keys`

  return {
    async find(id) {
      const [record] = await database.query<ApiKeyRecord>(
        `SELECT jsonb_strip_nulls(jsonb_build_object('id', id, 'secretHash', secret_hash, 'client', client, 'permissions', permissions,
          'tenant', tenant, 'expiresAt', expires_at))::text AS json FROM ${table} WHERE id = $1`,
        [id]
      )
      return record
    },
    async add({ id, secretHash, client, permissions, tenant, expiresAt }) {
      await database.query(
        `WITH over AS (
          DELETE FROM ${table} WHERE ${expiredRows(table, 'expires_at', `extract(epoch FROM now())::double precision * 1000 - ${remembered}`, '100')}
        )
        INSERT INTO ${table} (id, secret_hash, client, permissions, expires_at, tenant) VALUES ($1, $2, $3, $4::text::jsonb, $5, $6)`,
        [id, secretHash, client, JSON.stringify(permissions), expiresAt ?? null, tenant ?? null]
      )
    },
    async remove(id) {
      await database.query(`DELETE FROM ${table} WHERE id = $1`, [id])
    }
  }
}
