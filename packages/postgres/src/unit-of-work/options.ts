import { optionChecks, requireKnownNames, requirePluginNames } from '@concordat/plugin-options'
import type { Postgres } from '../postgres.ts'
import type { Isolation } from '../session.ts'

const { integer, number, oneOf } = optionChecks('unit-of-work')
const isolations: readonly Isolation[] = ['read committed', 'repeatable read', 'serializable']

/** Options of `@concordat/postgres/unit-of-work`. */
export interface UnitOfWorkOptions {
  /** The database of the transactions, created by `fromPool` or `fromPGlite`. */
  readonly database: Postgres
  /**
   * The timeout of handlers in seconds, for services that enforce it by other means than `handlerTimeout` of Fastify.
   * @default `handlerTimeout` of the route or of the service; a route without a timeout is refused
   */
  readonly handlerTimeoutSeconds?: number | undefined
}

/** Options for the transaction of a route. */
export interface RouteTransaction {
  /** The isolation level. @default the default of the database, usually 'read committed' */
  readonly isolation?: Isolation | undefined
  /**
   * How many times the handler is run again after a serialization failure or a deadlock (SQLSTATE 40001, 40P01). Use it only
   * for a handler whose effects are all in the transaction.
   * @default 0: the response is 503 `TRANSACTION_CONFLICT` with Retry-After
   */
  readonly maxRetries?: number | undefined
  /** Whether the transaction is read-only, so that PostgreSQL rejects writes. @default false */
  readonly readOnly?: boolean | undefined
}

/** The validated transaction options of a route. */
export interface UnitSettings {
  readonly isolation: Isolation | undefined
  readonly maxRetries: number
  readonly readOnly: boolean
  /** The timeout of the handler. */
  readonly timeoutMs: number
}

/** Validates the options. Throws a `TypeError` for an invalid database or timeout. */
export function resolveOptions(options: UnitOfWorkOptions): UnitOfWorkOptions {
  requirePluginNames('unit-of-work', options, { database: true, handlerTimeoutSeconds: true })
  const { database, handlerTimeoutSeconds } = options
  if (typeof database?.open !== 'function') {
    throw new TypeError('unit-of-work: options.database must be created with fromPool or fromPGlite.')
  }
  if (handlerTimeoutSeconds !== undefined) number('options.handlerTimeoutSeconds', handlerTimeoutSeconds, 0.001)
  return { database, handlerTimeoutSeconds }
}

/** Validates `config.transaction` of a route. Throws a `TypeError` that names the route. */
export function resolveRoute(route: string, setting: true | RouteTransaction, timeoutMs: number): UnitSettings {
  const refuse = (reason: string) => new TypeError(`unit-of-work: ${route}: ${reason}`)
  if (setting !== true && (typeof setting !== 'object' || setting === null)) {
    throw refuse(`config.transaction must be true or an object with isolation, maxRetries and readOnly, but is ${String(setting)}.`)
  }
  requireKnownNames('unit-of-work', setting, { isolation: true, maxRetries: true, readOnly: true }, `${route}: config.transaction`)
  const { isolation, maxRetries = 0, readOnly = false } = setting === true ? {} : setting
  if (isolation !== undefined) oneOf(`${route}: config.transaction.isolation`, isolation, isolations)
  integer(`${route}: config.transaction.maxRetries`, maxRetries, 0, 10)
  oneOf(`${route}: config.transaction.readOnly`, readOnly, [true, false])
  if (!(timeoutMs > 0)) {
    throw refuse(
      'config.transaction requires a handler timeout, because a handler that hangs would never end its transaction. Set handlerTimeout.'
    )
  }
  return { isolation, maxRetries, readOnly, timeoutMs }
}
