import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-options'
import type { VersionClient, VersionUsageStore } from '@concordat/versioning'
import { type Migration, migrationsOf } from './migration.ts'
import { type Postgres, requireSchema, storeOptions } from './postgres.ts'
import { sweeper } from './sweep.ts'

/** The migrations that create the table of {@link postgresVersionUsageStore}; pass them to `migrate`. */
export const versionUsageMigrations: readonly Migration[] = migrationsOf('version-usage', [
  // The client is JSON, because no column of PostgreSQL can store every string. Half-empty pages let a row be updated within its page.
  `CREATE TABLE {schema}.version_usage (
        key text PRIMARY KEY,
        version text NOT NULL,
        client text NOT NULL,
        day date NOT NULL,
        requests bigint NOT NULL,
        last_used_at double precision NOT NULL
      ) WITH (fillfactor = 50)`,
  `CREATE INDEX version_usage_day ON {schema}.version_usage (day)`
])

const versionUsageOptions = describeOptions('postgres', {
  ...storeOptions.members,
  /** How many days of requests the table retains. */
  retentionDays: integer({ default: 90, min: 1 })
})

/** Options of {@link postgresVersionUsageStore}. */
export interface VersionUsageOptions extends OptionsOf<typeof versionUsageOptions> {}

const maxClients = 10_000
const dayMs = 86_400_000

/** Creates a store that counts for all processes together who uses the versions of an API: a row per version, client and day. */
export function postgresVersionUsageStore(database: Postgres, options: VersionUsageOptions = {}): VersionUsageStore {
  const { schema, retentionDays } = versionUsageOptions.read(options)
  const table = `${requireSchema(schema)}.version_usage`
  const sweep = sweeper(database, table, 'day', '$1::date')

  return {
    async add(uses) {
      const rows = uses.map(({ client, ...use }) => ({
        ...use,
        key: JSON.stringify([use.version, client, use.day]),
        client: JSON.stringify(client)
      }))
      // In the order of the keys, so that two processes wait for each other instead of a deadlock.
      await database.background.query(
        `WITH given AS (
          SELECT * FROM json_to_recordset($1::json)
            AS one (key text, version text, client text, day date, requests bigint, "lastUsedAt" double precision)
        ),
        added AS (
          INSERT INTO ${table} AS stored (key, version, client, day, requests, last_used_at)
          SELECT key, version, client, day, requests, "lastUsedAt" FROM given ORDER BY key
          ON CONFLICT (key) DO UPDATE SET
            requests = stored.requests + excluded.requests,
            last_used_at = greatest(stored.last_used_at, excluded.last_used_at)
          RETURNING 1
        )
        SELECT count(*)::text AS json FROM added`,
        [JSON.stringify(rows)]
      )
      const latest = Math.max(...uses.map(({ lastUsedAt }) => lastUsedAt))
      sweep(new Date(latest - retentionDays * dayMs).toISOString().slice(0, 10))
    },
    list: () =>
      database.query<VersionClient>(
        `SELECT json_build_object('version', version, 'client', client::json, 'requests', sum(requests), 'lastUsedAt', max(last_used_at),
          'days', json_agg(json_build_object('day', day, 'requests', requests) ORDER BY day))::text AS json
        FROM ${table} GROUP BY version, client ORDER BY max(last_used_at) DESC, version, client LIMIT ${maxClients}`
      )
  }
}
