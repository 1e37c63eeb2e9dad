import type { ApiKeyStore, LoginAttemptStore, RefreshTokenStore, RevocationStore } from '@concordat/authentication'
import type { IdempotencyOptions, IdempotencyStore } from '@concordat/idempotency'
import { fromPGlite, fromPool, type Migration, migrate, type Postgres } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeys } from '@concordat/postgres/api-keys'
import { idempotencyMigrations, postgresIdempotency } from '@concordat/postgres/idempotency'
import { loginAttemptMigrations, postgresLoginAttempts } from '@concordat/postgres/login-attempts'
import { postgresRateLimits, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokens, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations, revocationMigrations } from '@concordat/postgres/revocations'
import unitOfWork, { type Answer, currentTransaction, enclosingTransaction, type Transaction } from '@concordat/postgres/unit-of-work'
import type { RateLimitStore } from '@concordat/rate-limiting'
import { PGlite } from '@electric-sql/pglite'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'
import { Pool } from 'pg'

const database = fromPool(new Pool())
expectTypeOf(database).toEqualTypeOf<Postgres>()
expectTypeOf(fromPGlite(new PGlite())).toEqualTypeOf<Postgres>()
expectTypeOf(postgresRefreshTokens(database, { schema: 'orders' })).toEqualTypeOf<RefreshTokenStore>()
expectTypeOf(postgresRevocations(database)).toEqualTypeOf<RevocationStore>()
expectTypeOf(postgresApiKeys(database)).toEqualTypeOf<ApiKeyStore>()
expectTypeOf(postgresLoginAttempts(database)).toEqualTypeOf<LoginAttemptStore>()
expectTypeOf(postgresRateLimits(database, { schema: 'orders' })).toEqualTypeOf<RateLimitStore>()
expectTypeOf([...apiKeyMigrations, ...loginAttemptMigrations, ...rateLimitMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf([...refreshTokenMigrations, ...revocationMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf(migrate(database, [])).toEqualTypeOf<Promise<void>>()
// @ts-expect-error an address is not a pool
fromPool('postgres://127.0.0.1')
// @ts-expect-error a pool must be wrapped first
postgresRefreshTokens(new Pool())
// @ts-expect-error a schema must be a string
postgresRevocations(database, { schema: 5 })

expectTypeOf([...idempotencyMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf(postgresIdempotency(database, { schema: 'orders', timeoutSeconds: 2 })).toEqualTypeOf<IdempotencyStore>()
expectTypeOf(enclosingTransaction).toExtend<NonNullable<IdempotencyOptions['transaction']>>()
expectTypeOf(currentTransaction()).toEqualTypeOf<Transaction | undefined>()

const app = Fastify()
await app.register(unitOfWork, { database, handlerTimeoutSeconds: 30 })
app.get('/', { config: { transaction: { isolation: 'serializable', retries: 2, readOnly: true } } }, async ({ transaction }) => {
  expectTypeOf(transaction).toEqualTypeOf<Transaction>()
  // The type of a client in runSql of pagination-query.
  expectTypeOf(transaction).toExtend<{ query(text: string, values: unknown[]): Promise<{ rows: object[] }> }>()
  expectTypeOf(await transaction.query<{ id: string }>('SELECT $1', [1])).toEqualTypeOf<Answer<{ id: string }>>()
  expectTypeOf(await database.client.query('SELECT 1')).toEqualTypeOf<Answer>()
  return {}
})
// @ts-expect-error PostgreSQL does not have this isolation level
app.get('/', { config: { transaction: { isolation: 'chaos' } } }, async () => ({}))
// @ts-expect-error a pool must be wrapped first
await app.register(unitOfWork, { database: new Pool() })
// @ts-expect-error the database is required
await app.register(unitOfWork)
