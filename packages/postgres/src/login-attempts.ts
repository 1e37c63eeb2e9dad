import type { LoginAttemptStore } from '@concordat/token-issuing'
import { type Postgres, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { sweeper } from './sweep.ts'

/** The migrations that create the table of {@link postgresLoginAttemptStore}; pass them to `migrate`. */
export const loginAttemptMigrations: readonly Migration[] = migrationsOf('login-attempts', [
  // The column "result" has the result of the last call, because RETURNING does not show the old values of a row.
  `CREATE TABLE {schema}.login_attempts (
        key text PRIMARY KEY,
        forgiven_at double precision NOT NULL,
        result double precision NOT NULL
      )`,
  `CREATE INDEX login_attempts_forgiven_at ON {schema}.login_attempts (forgiven_at)`
])

// The largest difference allowed between the clocks of two services.
const tolerance = 60_000

/** Creates a store that counts sign-in attempts for all processes together. A row has the time at which all its attempts are forgiven (GCRA, ITU-T I.371). */
export function postgresLoginAttemptStore(database: Postgres, options: StoreOptions = {}): LoginAttemptStore {
  const table = `${schemaOf(options)}.login_attempts`
  const sweep = sweeper(database, table, 'forgiven_at', `$1::double precision - ${tolerance}`)
  const next = `GREATEST(stored.forgiven_at, $2::double precision) + $3::double precision`
  const wait = `${next} - $2::double precision - $4::double precision`

  return {
    async take(key, { limit, windowMs }, now) {
      // Shares are fractions of a millisecond and their sums are not exact, so less than one millisecond does not count as a wait.
      const [result = 0] = await database.query<number>(
        `INSERT INTO ${table} AS stored (key, forgiven_at, result) VALUES ($1, $2::double precision + $3::double precision, 0)
        ON CONFLICT (key) DO UPDATE SET
          forgiven_at = CASE WHEN ${wait} >= 1 THEN stored.forgiven_at ELSE ${next} END,
          result = CASE WHEN ${wait} >= 1 THEN ${wait} ELSE 0 END
        RETURNING result::text AS json`,
        [key, now, windowMs / limit, windowMs]
      )
      sweep(now)
      return result
    },
    async giveBack(key, { limit, windowMs }) {
      await database.query(`UPDATE ${table} SET forgiven_at = forgiven_at - $2::double precision WHERE key = $1`, [key, windowMs / limit])
    }
  }
}
