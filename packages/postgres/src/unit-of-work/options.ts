import { describeOptions, flag, instance, integer, type OptionsOf, oneOf, required, type SettingsOf } from '@concordat/plugin-kit/options'
import type { Postgres } from '../connections/postgres.ts'

const database = required(instance<Postgres>(['open'], 'Postgres. Create it with fromPool or fromPGlite'))

/** The description of {@link UnitOfWorkOptions}. */
export const unitOfWorkOptions = describeOptions(
  'unit-of-work',
  {
    /** Created by `fromPool` or `fromPGlite`. */
    database
  },
  { handlerTimeoutSeconds: 'Set handlerTimeout of Fastify.' }
)

/** Options of `@concordat/postgres/unit-of-work`. */
export interface UnitOfWorkOptions extends OptionsOf<typeof unitOfWorkOptions> {}

/** The description of {@link RouteTransaction}. */
export const routeTransaction = describeOptions('unit-of-work', {
  /** By default that of the database. */
  isolation: oneOf(['read committed', 'repeatable read', 'serializable'], {}),
  /** How often a handler whose effects are all in the transaction runs again after a conflict. */
  maxRetries: integer({ default: 0, max: 10 }),
  /** Whether PostgreSQL refuses writes. */
  readOnly: flag()
})

/** Options for the transaction of a route. */
export interface RouteTransaction extends OptionsOf<typeof routeTransaction> {}

/** The validated transaction options of a route, with the timeout of its handler. */
export type UnitSettings = SettingsOf<(typeof routeTransaction)['members']> & { readonly timeoutMs: number }

/** Validates `config.transaction` of a route. Throws a `TypeError` that names the route. */
export function resolveRoute(route: string, setting: true | RouteTransaction, timeoutMs: number): UnitSettings {
  if (setting !== true && (typeof setting !== 'object' || setting === null)) {
    throw new TypeError(
      `unit-of-work: ${route}: config.transaction must be true or an object with isolation, maxRetries and readOnly, but is ${String(setting)}.`
    )
  }
  const settings = routeTransaction.read(setting === true ? {} : setting, `${route}: config.transaction`)
  if (timeoutMs > 0) return { ...settings, timeoutMs }
  throw new TypeError(
    `unit-of-work: ${route}: config.transaction requires a handler timeout, because a handler that hangs would never end its transaction. Set handlerTimeout.`
  )
}
