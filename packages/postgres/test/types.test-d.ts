import type { ApiKeyStore, LoginAttemptStore, RefreshTokenStore, RevocationStore } from '@concordat/authentication'
import { fromPGlite, fromPool, type Migration, migrate, type Postgres } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeys } from '@concordat/postgres/api-keys'
import { loginAttemptMigrations, postgresLoginAttempts } from '@concordat/postgres/login-attempts'
import { postgresRateLimits, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokens, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocations, revocationMigrations } from '@concordat/postgres/revocations'
import type { RateLimitStore } from '@concordat/rate-limiting'
import { PGlite } from '@electric-sql/pglite'
import { expectTypeOf } from 'expect-type'
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
// @ts-expect-error an address is no pool
fromPool('postgres://127.0.0.1')
// @ts-expect-error a pool is wrapped first
postgresRefreshTokens(new Pool())
// @ts-expect-error a schema is a text
postgresRevocations(database, { schema: 5 })
