import type { Count, RateLimitStore } from '@concordat/rate-limiting'
import type { Migration } from './migrations.ts'
import { type Postgres, requireSchema, type StoreOptions } from './postgres.ts'
import { sweeper } from './sweep.ts'

/** The table of {@link postgresRateLimits}, for `migrate`. */
export const rateLimitMigrations: readonly Migration[] = [
  {
    component: 'rate-limits',
    version: 1,
    statements: [
      // Unlogged: counts are not worth writing twice, and after a crash of the database they begin anew. Half empty pages let a row
      // change where it is. answer: what the last one to ask was told, since RETURNING does not show what a row was before.
      `CREATE UNLOGGED TABLE {schema}.rate_limits (
        key text PRIMARY KEY,
        count bigint NOT NULL,
        answer bigint NOT NULL,
        ends_at timestamptz NOT NULL
      ) WITH (fillfactor = 50)`,
      `CREATE INDEX rate_limits_ends_at ON {schema}.rate_limits (ends_at)`
    ]
  }
]

/**
 * Requests, counted in PostgreSQL for all processes together, by its clock: one statement a count. In a window that is full it only
 * reads, so that whoever is refused writes nothing.
 */
export function postgresRateLimits(database: Postgres, { schema = 'concordat' }: StoreOptions = {}): RateLimitStore {
  const table = `${requireSchema(schema)}.rate_limits`
  const sweep = sweeper(database, table, 'ends_at < statement_timestamp()')
  const [cost, limit, milliseconds] = ['$2::bigint', '$3::bigint', '$4::double precision']
  const isOver = 'kept.ends_at <= statement_timestamp()'
  // A count never falls within its window: what was too much at the look is too much at any later moment of it.
  const statement = `WITH refused AS (
      SELECT count + ${cost} AS answer, ends_at FROM ${table} AS kept WHERE key = $1 AND NOT ${isOver} AND count + ${cost} > ${limit}
    ),
    counted AS (
      INSERT INTO ${table} AS kept (key, count, answer, ends_at)
      SELECT $1, CASE WHEN ${cost} > ${limit} THEN 0 ELSE ${cost} END, ${cost}, statement_timestamp() + ${milliseconds} * interval '1 ms'
      WHERE NOT EXISTS (SELECT FROM refused)
      ON CONFLICT (key) DO UPDATE SET
        count = CASE WHEN ${isOver} THEN excluded.count WHEN kept.count + ${cost} > ${limit} THEN kept.count ELSE kept.count + ${cost} END,
        answer = CASE WHEN ${isOver} THEN ${cost} ELSE kept.count + ${cost} END,
        ends_at = CASE WHEN ${isOver} THEN excluded.ends_at ELSE kept.ends_at END
      RETURNING answer, ends_at
    )
    SELECT json_build_object('count', answer, 'resetMilliseconds',
      LEAST(${milliseconds}, ceil(extract(epoch FROM ends_at - statement_timestamp()) * 1000)))::text AS json
    FROM (SELECT * FROM refused UNION ALL SELECT * FROM counted) AS either`

  return {
    async add(key, ...numbers) {
      // As JSON, since no column of PostgreSQL holds every text.
      const [count] = await database.query<Count>(statement, [JSON.stringify(key), ...numbers])
      sweep()
      return count as Count
    }
  }
}
