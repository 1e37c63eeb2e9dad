import type { ErrorList } from '@concordat/api-error'
import type { IdempotencyStore } from '@concordat/idempotency'
import type { JobStore } from '@concordat/jobs'
import type { WebhookStore } from '@concordat/webhooks'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { transactionErrors } from './errors.ts'
import { idempotencyMigrations, postgresIdempotency } from './idempotency/index.ts'
import { jobMigrations, postgresJobs } from './jobs.ts'
import type { Migration } from './migrations.ts'
import type { Postgres, StoreOptions } from './postgres.ts'
import unitOfWork, {
  currentTransaction,
  type EnclosingTransaction,
  enclosingTransaction,
  runAsOne,
  type Transaction
} from './unit-of-work/index.ts'
import { postgresWebhooks, webhookMigrations } from './webhooks/index.ts'

// Used when the preset sets no handler timeout.
const longestMilliseconds = 30_000

/** The `stores` of the preset: idempotency keys, the transactions that store their responses, job records, and webhooks. */
export interface PostgresStores {
  readonly idempotency: IdempotencyStore
  readonly jobs: JobStore
  readonly webhooks: WebhookStore
  readonly unitOfWork: {
    readonly register: (app: FastifyInstance, settings: { readonly handlerTimeoutSeconds: number | undefined }) => PromiseLike<unknown>
    readonly transactionOf: (request: FastifyRequest) => EnclosingTransaction | undefined
    readonly currentTransaction: () => Transaction | undefined
    readonly runAsOne: (request: FastifyRequest, work: () => Promise<void>) => Promise<void>
    readonly errors: ErrorList
  }
}

/** The migrations of the tables of {@link postgresStores}, for `migrate`. */
export const storeMigrations: readonly Migration[] = [...idempotencyMigrations, ...jobMigrations, ...webhookMigrations]

/**
 * Creates the stores of the preset in one database. Jobs and webhooks also need a queue, created by `postgresQueue` or `pgliteQueue` on the
 * same database.
 */
export function postgresStores(database: Postgres, options: StoreOptions = {}): PostgresStores {
  let timeoutMilliseconds = longestMilliseconds
  return {
    idempotency: postgresIdempotency(database, options),
    jobs: postgresJobs(database, options),
    webhooks: postgresWebhooks(database, options),
    unitOfWork: {
      register(app, settings) {
        timeoutMilliseconds = (settings.handlerTimeoutSeconds ?? 0) * 1000 || longestMilliseconds
        return app.register(unitOfWork, { database, ...settings })
      },
      transactionOf: enclosingTransaction,
      currentTransaction,
      runAsOne: (request, work) => runAsOne({ database, timeoutMilliseconds, onFault: (error) => request.log.error(error) }, work),
      errors: transactionErrors
    }
  }
}
