import type { Postgres } from '../postgres.ts'
import type { Isolation } from '../session.ts'

const isolations: readonly string[] = ['read committed', 'repeatable read', 'serializable']
const mostRetries = 10

/** What the unit of work can be told. */
export interface UnitOfWorkOptions {
  /** Where the transactions are, by `fromPool` or `fromPGlite`. */
  readonly database: Postgres
  /**
   * After how many seconds a handler is answered for, where that is limited by other means than Fastify's `handlerTimeout`.
   * @default `handlerTimeout` of the route or of the service; a route without any is refused
   */
  readonly handlerTimeoutSeconds?: number | undefined
}

/** How the transaction of a route is. */
export interface RouteTransaction {
  /** @default what the database has as its default, usually 'read committed' */
  readonly isolation?: Isolation | undefined
  /**
   * How often the handler is run again when PostgreSQL could not put it in order with other transactions (SQLSTATE 40001, 40P01). Only for
   * a handler whose effects are all in the transaction.
   * @default 0: answered 503 `TRANSACTION_CONFLICT` with Retry-After
   */
  readonly retries?: number | undefined
  /** Refuses writes. @default false */
  readonly readOnly?: boolean | undefined
}

/** A route's transaction as the plugin works with it. */
export interface UnitSettings {
  readonly isolation: Isolation | undefined
  readonly retries: number
  readonly readOnly: boolean
  /** After which time the handler has been answered for. */
  readonly timeoutMilliseconds: number
}

/** Refuses what is no database or no time. */
export function resolveOptions({ database, handlerTimeoutSeconds }: UnitOfWorkOptions): UnitOfWorkOptions {
  if (typeof database?.open !== 'function') {
    throw new TypeError('unit-of-work: database is none. Give one made by fromPool or fromPGlite.')
  }
  if (handlerTimeoutSeconds !== undefined && !(Number.isFinite(handlerTimeoutSeconds) && handlerTimeoutSeconds > 0)) {
    throw new TypeError(
      `unit-of-work: handlerTimeoutSeconds is ${handlerTimeoutSeconds}. Give the seconds after which a handler is answered for.`
    )
  }
  return { database, handlerTimeoutSeconds }
}

/** What a route has under `config.transaction`, checked. Throws a `TypeError` that names the route. */
export function resolveRoute(route: string, wish: true | RouteTransaction, timeoutMilliseconds: number): UnitSettings {
  const refuse = (reason: string) => new TypeError(`unit-of-work: ${route} ${reason}`)
  if (wish !== true && (typeof wish !== 'object' || wish === null)) {
    throw refuse(`has ${String(wish)} as its transaction. Give true, or an object of isolation, retries and readOnly.`)
  }
  const { isolation, retries = 0, readOnly = false, ...others } = wish === true ? {} : wish
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refuse(`has a transaction with "${unknown}". Give isolation, retries and readOnly only.`)
  if (isolation !== undefined && !isolations.includes(isolation)) {
    throw refuse(`has a transaction of isolation "${isolation}". Give one of: ${isolations.join(', ')}.`)
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > mostRetries) {
    throw refuse(`has a transaction with ${String(retries)} retries. Give a whole number from 0 to ${mostRetries}.`)
  }
  if (typeof readOnly !== 'boolean') throw refuse(`has a transaction with readOnly ${String(readOnly)}. Give true or false.`)
  if (!(timeoutMilliseconds > 0)) {
    throw refuse('has a transaction and no limit of time, so that a handler that hangs would hold it for ever. Set handlerTimeout.')
  }
  return { isolation, retries, readOnly, timeoutMilliseconds }
}
