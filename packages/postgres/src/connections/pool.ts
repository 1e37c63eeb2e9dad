import { callback, describeOptions, duration, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { preparedQuery } from '@concordat/plugin-kit/wiring'
import { ConnectionGate } from './connection-gate.ts'
import { isOutage } from './failure.ts'
import { handlerContexts, requireOutside } from './handler-context.ts'
import { listenOn } from './listening.ts'
import { type Rows, sendMessage } from './message.ts'
import { type Prepared, withCallback } from './pg-client.ts'
import { type CheckedOut, checkOut, openOnClient, type PoolLike, readOnClient } from './pool-session.ts'
import { available, type Postgres, runIn, type SqlClient, storedValues, unavailable } from './postgres.ts'
import { queryPrepared } from './prepared-query.ts'
import type { Opened, Opening, QueryResult, StatementResult } from './session.ts'
import { currentTenant, requireNoTenant, requireTenantSetting, runAsTenant, tenantStatements } from './tenant.ts'

/** The description of {@link PoolOptions}. @readme */
export const poolOptions = describeOptions('postgres', {
  /** A second pool of about five connections for revocations, readiness checks and deletions, which requests that wait for a locked table would stop. */
  background: value<PoolLike>(),
  /** How long to wait for a connection when all are in use. Operators raise it while the server is slow. */
  maxWaitSeconds: duration({ default: 2, min: 0.001, max: 600 }),
  /** Called with the error of each lost connection, which the pool replaces. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} }),
  /** The setting in which policies find the tenant of a request, such as `app.tenant`. Create the pool with `pipeline: true`. */
  tenantSetting: value<string>()
})

/** Options of {@link fromPool}. */
export interface PoolOptions extends OptionsOf<typeof poolOptions> {}

/** Creates a `Postgres` from a connection pool of `pg`. You must end the pools yourself. */
export function fromPool(pool: PoolLike, options: PoolOptions = {}): Postgres {
  const { background: second, maxWaitMs, onError, tenantSetting: setting } = poolOptions.read(options)
  const tenantSetting = settingOf(pool, setting)
  const background = second && fromPool(second, { ...options, background: undefined, tenantSetting: undefined })
  const gate = new ConnectionGate(pool.options?.max ?? Number.POSITIVE_INFINITY, maxWaitMs)
  const callPool = pool.query.bind(pool) as (...input: unknown[]) => unknown
  // An idle connection that is lost would otherwise end the process.
  pool.on('error', onError)

  function enter(broken: Receive, route: object | undefined, given: (connection: CheckedOut) => void, refused: Receive) {
    gate.enter(route, (leave) => checkOut(pool, broken, given, refused, leave), refused)
  }

  const entered = (broken: Receive, route?: object) => new Promise<CheckedOut>((resolve, reject) => enter(broken, route, resolve, reject))

  function query(sql: string, params: readonly unknown[] = []) {
    return new Promise<StatementResult>((resolve, reject) => {
      const send = (leave: () => void) =>
        withCallback<StatementResult>((done) => callPool(sql, [...params], done), settled(leave, resolve, reject))
      gate.enter(currentRoute(), send, reject)
    })
  }

  function prepared(text: string, values: readonly unknown[] = []) {
    return new Promise<StatementResult>((resolve, reject) => {
      const send = ({ client, release }: CheckedOut) => queryPrepared(client, text, values, settled(release, resolve, reject))
      enter(onError, currentRoute(), send, reject)
    })
  }

  function fields(statement: Prepared) {
    return new Promise<Rows>((resolve, reject) => {
      const refuse = (error: unknown) => reject(unavailable(error))
      const send = ({ client, release }: CheckedOut) =>
        sendMessage(
          client,
          [statement],
          true,
          settled(release, ([rows = []]) => resolve(rows), refuse)
        )
      enter(onError, currentRoute(), send, refuse)
    })
  }

  function open(opening: Opening) {
    return new Promise<Opened>((resolve, reject) => {
      const first = tenantStatements(tenantSetting, opening.tenant ?? currentTenant())
      enter(onError, opening.route ?? currentRoute(), (connection) => openOnClient(connection, opening, first, resolve, reject), reject)
    })
  }

  async function read(tenant: string | undefined, run: typeof query, text: string, values: readonly unknown[] = []) {
    // A handler that has one connection would take a second: as many requests as the pool has connections could block each other.
    requireOutside(self)
    const first = tenantStatements(tenantSetting, tenant)
    if (first.length === 0) return resultOf(await run(text, values))
    return resultOf(await readOnClient(await entered(onError, currentRoute()), first, text, [...values]))
  }

  const clientOf = (read: Read<typeof query>) =>
    ({ query: (...statement) => read(query, ...statement), [preparedQuery]: (...statement) => read(prepared, ...statement) }) as SqlClient

  const self: Postgres = {
    isEmbedded: false,
    tenantSetting,
    query: (sql, params = []) => storedValues(query(sql, params)),
    fields,
    transaction: (work) => runIn(open({}), work),
    open,
    asTenant: (tenant, work) => runAsTenant(self, tenant, work),
    reads: (tenant) => clientOf((run, text, values) => available(read(tenant, run, text, values))),
    client: clientOf(async (run, text, values) => {
      requireNoTenant(self)
      return read(undefined, run, text, values)
    }),
    isCongested: (route) => gate.isCongested(route),
    get connections() {
      return pool.options?.max === undefined ? undefined : gate.load
    },
    listen: background ? background.listen.bind(background) : (channel, listener) => listenOn(entered, channel, listener, onError),
    get background() {
      return background ?? self
    }
  }
  return self
}

type Receive = (error?: unknown) => void
type Read<Run> = (run: Run, text: string, values?: readonly unknown[]) => Promise<QueryResult>

function settingOf(pool: PoolLike, given: string | undefined) {
  const tenantSetting = requireTenantSetting(given)
  if (tenantSetting !== undefined && pool.options?.pipeline !== true)
    throw new TypeError(
      'postgres: options.tenantSetting needs a pool that sends the tenant and a read together. Create it with new Pool({ pipeline: true }), and pg 8.23 or later.'
    )
  return tenantSetting
}

/** Returns what settles a statement that had a connection for itself. */
function settled<Outcome>(leave: (isIntact: boolean) => void, resolve: (outcome: Outcome) => void, reject: (error: unknown) => void) {
  return (error: Error | undefined, outcome?: Outcome) => {
    leave(!(error && isOutage(error)))
    if (error) reject(error)
    else resolve(outcome as Outcome)
  }
}

function resultOf({ rows, rowCount }: StatementResult) {
  return { rows: rows as Record<string, unknown>[], rowCount: rowCount ?? rows.length }
}

function currentRoute() {
  return handlerContexts.getStore()?.route
}
