import type { ApiKeyStore, RevocationStore } from '@concordat/authentication'
import type { IdempotencyStore } from '@concordat/idempotency'
import { fromPGlite, fromPool, type Migration, migrate, type Postgres, type QueryResult } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeyStore } from '@concordat/postgres/api-keys'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import { loginAttemptMigrations, postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import { postgresRateLimitStore, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore, revocationMigrations } from '@concordat/postgres/revocations'
import { table } from '@concordat/postgres/table'
import { transactionPool } from '@concordat/postgres/transaction-pool'
import unitOfWork, { currentTransaction, type Transaction } from '@concordat/postgres/unit-of-work'
import type { RateLimitStore } from '@concordat/rate-limiting'
import type { LoginAttemptStore, RefreshTokenStore } from '@concordat/token-issuing'
import { PGlite } from '@electric-sql/pglite'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'
import { Pool } from 'pg'

const database = fromPool(new Pool())
expectTypeOf(database).toEqualTypeOf<Postgres>()
expectTypeOf(fromPGlite(new PGlite())).toEqualTypeOf<Postgres>()
expectTypeOf(postgresRefreshTokenStore(database, { schema: 'orders' })).toEqualTypeOf<RefreshTokenStore>()
expectTypeOf(postgresRevocationStore(database)).toEqualTypeOf<RevocationStore>()
expectTypeOf(postgresApiKeyStore(database)).toEqualTypeOf<ApiKeyStore>()
expectTypeOf(postgresLoginAttemptStore(database)).toEqualTypeOf<LoginAttemptStore>()
expectTypeOf(postgresRateLimitStore(database, { schema: 'orders' })).toEqualTypeOf<RateLimitStore>()
expectTypeOf([...apiKeyMigrations, ...loginAttemptMigrations, ...rateLimitMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf([...refreshTokenMigrations, ...revocationMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf(migrate(database, [])).toEqualTypeOf<Promise<void>>()
// @ts-expect-error an address is not a pool
fromPool('postgres://127.0.0.1')
// @ts-expect-error a pool must be wrapped first
postgresRefreshTokenStore(new Pool())
// @ts-expect-error a schema must be a string
postgresRevocationStore(database, { schema: 5 })

expectTypeOf([...idempotencyMigrations]).toEqualTypeOf<Migration[]>()
expectTypeOf(postgresIdempotencyStore(database, { schema: 'orders' })).toEqualTypeOf<IdempotencyStore>()
expectTypeOf(currentTransaction()).toEqualTypeOf<Transaction | undefined>()

const app = Fastify()
await app.register(unitOfWork, { database })
app.get('/', { config: { transaction: { isolation: 'serializable', maxRetries: 2, readOnly: true } } }, async ({ transaction }) => {
  expectTypeOf(transaction).toEqualTypeOf<Transaction>()
  // The type of a client in runSql of pagination-query.
  expectTypeOf(transaction).toExtend<{ query(text: string, values: unknown[]): Promise<{ rows: object[] }> }>()
  expectTypeOf(transactionPool(transaction)).toEqualTypeOf<Pool>()
  expectTypeOf(await transaction.query<{ id: string }>('SELECT $1', [1])).toEqualTypeOf<QueryResult<{ id: string }>>()
  expectTypeOf(await database.client.query('SELECT 1')).toEqualTypeOf<QueryResult>()
  return {}
})
// @ts-expect-error PostgreSQL does not have this isolation level
app.get('/', { config: { transaction: { isolation: 'chaos' } } }, async () => ({}))
// @ts-expect-error a pool must be wrapped first
await app.register(unitOfWork, { database: new Pool() })
// @ts-expect-error the database is required
await app.register(unitOfWork)

interface Tree {
  readonly id: string
  readonly note?: string
}
declare const rows: Parameters<ReturnType<typeof table<Tree>>['find']>[0]
const fields = new Set(['id', 'note'])
const trees = table<Tree>({ name: 'trees', fields })
declare const treeCollection: Parameters<typeof table<Tree>>[0]
const owned = table(treeCollection, { columns: { owner: 'owner_id' } })
expectTypeOf(trees.find(rows, { id: 'a', note: null })).toEqualTypeOf<Promise<(Tree & { readonly version: string | number }) | undefined>>()
owned.find(rows, { id: 'a', owner: 'b' })
// @ts-expect-error every row would have an empty key
trees.find(rows, {})
// @ts-expect-error an id is never null
trees.find(rows, { id: null })
// @ts-expect-error the table has no such column
trees.find(rows, { id: 'a', owner: 'b' })
