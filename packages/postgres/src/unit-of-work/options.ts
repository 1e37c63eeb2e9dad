import type { Postgres } from '../postgres.ts'
import type { Isolation } from '../session.ts'

const isolations: readonly string[] = ['read committed', 'repeatable read', 'serializable']
const mostRetries = 10

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
  /** @default the default of the database, usually 'read committed' */
  readonly isolation?: Isolation | undefined
  /**
   * How often the handler is run again when PostgreSQL could not serialize its transaction with others (SQLSTATE 40001, 40P01). Use it only
   * for a handler whose effects are all in the transaction.
   * @default 0: the response is 503 `TRANSACTION_CONFLICT` with Retry-After
   */
  readonly retries?: number | undefined
  /** Refuses writes. @default false */
  readonly readOnly?: boolean | undefined
}

/** The validated transaction options of a route. */
export interface UnitSettings {
  readonly isolation: Isolation | undefined
  readonly retries: number
  readonly readOnly: boolean
  /** The timeout of the handler. */
  readonly timeoutMilliseconds: number
}

/** Validates the options. Throws a `TypeError` for an invalid database or timeout. */
export function resolveOptions({ database, handlerTimeoutSeconds }: UnitOfWorkOptions): UnitOfWorkOptions {
  if (typeof database?.open !== 'function') {
    throw new TypeError('unit-of-work: options.database is not a database. Create it with fromPool or fromPGlite.')
  }
  if (handlerTimeoutSeconds !== undefined && !(Number.isFinite(handlerTimeoutSeconds) && handlerTimeoutSeconds > 0)) {
    throw new TypeError(`unit-of-work: options.handlerTimeoutSeconds is ${handlerTimeoutSeconds}. It must be a positive number of seconds.`)
  }
  return { database, handlerTimeoutSeconds }
}

/** Validates `config.transaction` of a route. Throws a `TypeError` that names the route. */
export function resolveRoute(route: string, wish: true | RouteTransaction, timeoutMilliseconds: number): UnitSettings {
  const refuse = (reason: string) => new TypeError(`unit-of-work: ${route}: ${reason}`)
  if (wish !== true && (typeof wish !== 'object' || wish === null)) {
    throw refuse(`config.transaction is ${String(wish)}. It must be true, or an object with isolation, retries and readOnly.`)
  }
  const { isolation, retries = 0, readOnly = false, ...others } = wish === true ? {} : wish
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refuse(`config.transaction.${unknown} is unknown. Use only isolation, retries and readOnly.`)
  if (isolation !== undefined && !isolations.includes(isolation)) {
    throw refuse(`config.transaction.isolation is "${isolation}". It must be one of: ${isolations.join(', ')}.`)
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > mostRetries) {
    throw refuse(`config.transaction.retries is ${String(retries)}. It must be an integer from 0 to ${mostRetries}.`)
  }
  if (typeof readOnly !== 'boolean') throw refuse(`config.transaction.readOnly is ${String(readOnly)}. It must be true or false.`)
  if (!(timeoutMilliseconds > 0)) {
    throw refuse('config.transaction requires a handler timeout: a handler that hangs would never end it. Set handlerTimeout.')
  }
  return { isolation, retries, readOnly, timeoutMilliseconds }
}
