import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore } from '@concordat/idempotency'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { transactionErrors } from './errors.ts'
import { idempotencyMigrations, postgresIdempotency } from './idempotency/index.ts'
import type { Migration } from './migrations.ts'
import type { Postgres, StoreOptions } from './postgres.ts'
import unitOfWork, { type EnclosingTransaction, enclosingTransaction, runAsOne } from './unit-of-work/index.ts'

// Where handlers are not limited by the preset.
const longestMilliseconds = 30_000

/** What the preset takes as `stores`: keys of idempotency, and the transactions that their answers are kept in. */
export interface PostgresStores {
  readonly idempotency: IdempotencyStore
  readonly unitOfWork: {
    readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
    readonly transactionOf: (request: FastifyRequest) => EnclosingTransaction | undefined
    readonly runAsOne: (request: FastifyRequest, work: () => Promise<void>) => Promise<void>
    readonly errors: ErrorList
  }
}

/** The tables of {@link postgresStores}, for `migrate`. */
export const storeMigrations: readonly Migration[] = idempotencyMigrations

/** The stores of the preset in one database. */
export function postgresStores(database: Postgres, options: StoreOptions = {}): PostgresStores {
  let timeoutMilliseconds = longestMilliseconds
  return {
    idempotency: postgresIdempotency(database, options),
    unitOfWork: {
      register(app, settings) {
        timeoutMilliseconds = (settings.handlerTimeoutSeconds ?? 0) * 1000 || longestMilliseconds
        return app.register(unitOfWork, { database, ...settings })
      },
      transactionOf: enclosingTransaction,
      runAsOne: (request, work) => runAsOne({ database, timeoutMilliseconds, onFault: (error) => request.log.error(error) }, work),
      errors: transactionErrors
    }
  }
}
