import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import type { VersionClient, VersionUsageStore } from '@concordat/versioning'
import { type Postgres, requireSchema, storeOptions } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { retention } from './sweep.ts'

/** The migrations that create the table of {@link postgresVersionUsageStore}; pass them to `migrate`. */
export const versionUsageMigrations: readonly Migration[] = migrationsOf(
  'version-usage',
  [
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
  ],
  [
    `CREATE TABLE {schema}.version_usage_days (
        day date PRIMARY KEY,
        first_report_at double precision NOT NULL,
        last_report_at double precision NOT NULL
      )`
  ]
)

const versionUsageOptions = describeOptions('postgres', {
  ...storeOptions.members,
  /** How many days of requests the table retains. */
  retentionDays: integer({ default: 90, min: 1, max: 36_500 })
})

/** Options of {@link postgresVersionUsageStore}. */
export interface VersionUsageOptions extends OptionsOf<typeof versionUsageOptions> {}

/** A day in UTC on which a process reported to the store, whether there were requests or not. */
export interface CountedDay {
  readonly day: string
  /** Milliseconds since the Unix epoch. */
  readonly firstReportAt: number
  readonly lastReportAt: number
}

const maxClients = 10_000
const dayMs = 86_400_000

/**
 * Creates a store that counts for all processes together who uses the versions of an API: a row per version, client and day. `countedDays` returns the days of
 * the retention on which the use was counted, oldest first: of any other day, nothing is known.
 */
export function postgresVersionUsageStore(
  database: Postgres,
  options: VersionUsageOptions = {}
): VersionUsageStore & { readonly countedDays: () => Promise<readonly CountedDay[]> } {
  const { schema, retentionDays } = versionUsageOptions.read(options)
  const table = `${requireSchema(schema)}.version_usage`
  const countedTable = `${table}_days`
  const deleteUses = retention(database, table, 'day', 'date')
  const deleteDays = retention(database, countedTable, 'day', 'date')

  return {
    async add(uses, at = Date.now()) {
      const rows = uses.map(({ client, ...use }) => ({
        ...use,
        key: JSON.stringify([use.version, client, use.day]),
        client: JSON.stringify(client)
      }))
      const reports = [...uses.map(({ day, lastUsedAt }) => ({ day, at: lastUsedAt })), { day: dayOf(at), at }]
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
        ),
        counted AS (
          INSERT INTO ${countedTable} AS stored (day, first_report_at, last_report_at)
          SELECT day, min(at), max(at) FROM json_to_recordset($2::json) AS one (day date, at double precision) GROUP BY day ORDER BY day
          ON CONFLICT (day) DO UPDATE SET
            first_report_at = least(stored.first_report_at, excluded.first_report_at),
            last_report_at = greatest(stored.last_report_at, excluded.last_report_at)
        )
        SELECT count(*)::text AS json FROM added`,
        [JSON.stringify(rows), JSON.stringify(reports)]
      )
    },
    list: () =>
      database.query<VersionClient>(
        `SELECT json_build_object('version', version, 'client', client::json, 'requests', sum(requests), 'lastUsedAt', max(last_used_at),
          'days', json_agg(json_build_object('day', day, 'requests', requests) ORDER BY day))::text AS json
        FROM ${table} GROUP BY version, client ORDER BY max(last_used_at) DESC, version, client LIMIT ${maxClients}`
      ),
    countedDays: () =>
      database.query<CountedDay>(
        `SELECT json_build_object('day', day, 'firstReportAt', first_report_at, 'lastReportAt', last_report_at)::text AS json
        FROM ${countedTable} ORDER BY day`
      ),
    async sweep(now, maximum) {
      const before = now - retentionDays * dayMs
      // One more, which shows that the first retained day was counted from its beginning.
      await deleteDays(dayOf(before - dayMs), maximum)
      return deleteUses(dayOf(before), maximum)
    }
  }
}

function dayOf(time: number) {
  return new Date(time).toISOString().slice(0, 10)
}
