import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore } from '@concordat/idempotency'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { transactionErrors } from './errors.ts'
import { idempotencyMigrations, postgresIdempotency } from './idempotency/index.ts'
import type { Migration } from './migrations.ts'
import type { Postgres, StoreOptions } from './postgres.ts'
import unitOfWork, { currentTransaction, type EnclosingTransaction, enclosingTransaction, type Transaction } from './unit-of-work/index.ts'

/** What the preset takes as `stores`: keys of idempotency, and the transactions that their answers are kept in. */
export interface PostgresStores {
  readonly idempotency: IdempotencyStore
  readonly unitOfWork: {
    readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
    readonly transactionOf: (request: FastifyRequest) => EnclosingTransaction | undefined
    readonly currentTransaction: () => Transaction | undefined
    readonly errors: ErrorList
  }
}

/** The tables of {@link postgresStores}, for `migrate`. */
export const storeMigrations: readonly Migration[] = idempotencyMigrations

/** The stores of the preset in one database. */
export function postgresStores(database: Postgres, options: StoreOptions = {}): PostgresStores {
  return {
    idempotency: postgresIdempotency(database, options),
    unitOfWork: {
      register: (app, settings) => app.register(unitOfWork, { database, ...settings }),
      transactionOf: enclosingTransaction,
      currentTransaction,
      errors: transactionErrors
    }
  }
}
