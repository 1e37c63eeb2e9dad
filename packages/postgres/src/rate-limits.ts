import type { Count, RateLimitStore } from '@concordat/rate-limiting'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { sweeper } from './sweep.ts'

/** The migrations that create the table of {@link postgresRateLimitStore}; pass them to `migrate`. */
export const rateLimitMigrations: readonly Migration[] = migrationsOf('rate-limits', [
  // Unlogged: counts are not worth writing twice, and they start again after a crash of the database. Half-empty pages let a row be
  // updated within its page. The column "result" has the result of the last call, because RETURNING does not show the old values.
  `CREATE UNLOGGED TABLE {schema}.rate_limits (
        key text PRIMARY KEY,
        count bigint NOT NULL,
        result bigint NOT NULL,
        ends_at timestamptz NOT NULL
      ) WITH (fillfactor = 50)`,
  `CREATE INDEX rate_limits_ends_at ON {schema}.rate_limits (ends_at)`
])

/** Creates a store that counts requests for all processes together, by the clock of the database. A refused request writes nothing. */
export function postgresRateLimitStore(database: Postgres, options: StoreOptions = {}): RateLimitStore {
  const table = `${schemaOf(options)}.rate_limits`
  const sweep = sweeper(database, table, 'ends_at', 'statement_timestamp()')
  const [cost, limit, milliseconds] = ['$2::bigint', '$3::bigint', '$4::double precision']
  const isOver = 'stored.ends_at <= statement_timestamp()'
  // A count never decreases within its window: a request that exceeds the limit when it is read exceeds it until the window ends.
  const statement = `WITH refused AS (
      SELECT count + ${cost} AS result, ends_at FROM ${table} AS stored WHERE key = $1 AND NOT ${isOver} AND count + ${cost} > ${limit}
    ),
    counted AS (
      INSERT INTO ${table} AS stored (key, count, result, ends_at)
      SELECT $1, CASE WHEN ${cost} > ${limit} THEN 0 ELSE ${cost} END, ${cost}, statement_timestamp() + ${milliseconds} * interval '1 ms'
      WHERE NOT EXISTS (SELECT FROM refused)
      ON CONFLICT (key) DO UPDATE SET
        count = CASE WHEN ${isOver} THEN excluded.count WHEN stored.count + ${cost} > ${limit} THEN stored.count ELSE stored.count + ${cost} END,
        result = CASE WHEN ${isOver} THEN ${cost} ELSE stored.count + ${cost} END,
        ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE stored.ends_at END
      RETURNING result, ends_at
    )
    SELECT json_build_object('count', result, 'resetMs',
      LEAST(${milliseconds}, ceil(extract(epoch FROM ends_at - statement_timestamp()) * 1000)))::text AS json
    FROM (SELECT * FROM refused UNION ALL SELECT * FROM counted) AS either`

  return {
    async add(key, ...numbers) {
      // As JSON, because no column of PostgreSQL can store every string.
      const [row] = await database.fields({ text: statement, values: [JSON.stringify(key), ...numbers.map(String)] })
      sweep()
      return JSON.parse(row?.[0] as string) as Count
    }
  }
}
