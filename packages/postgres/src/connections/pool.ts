import { callback, describeOptions, duration, type OptionsOf, value } from '@concordat/plugin-kit/options'
import { ConnectionGate } from './connection-gate.ts'
import { handlerContexts, requireOutside } from './handler-context.ts'
import { listenOn } from './listening.ts'
import { type CheckedOut, checkOut, openOnClient, type PoolLike } from './pool-session.ts'
import { type Postgres, runIn, type SqlClient, storedValues } from './postgres.ts'
import type { Opening } from './session.ts'

/** The description of {@link PoolOptions}. @readme */
export const poolOptions = describeOptions('postgres', {
  /** A second pool of about five connections for revocations, readiness checks and deletions, which requests that wait for a locked table would stop. */
  background: value<PoolLike>(),
  /** How long to wait for a connection when all are in use. Operators raise it while the server is slow. */
  maxWaitSeconds: duration({ default: 2, min: 0.001, max: 600 }),
  /** Called with the error of each lost connection, which the pool replaces. */
  onError: callback<(error: unknown) => void>('receives an error', { default: () => {} })
})

/** Options of {@link fromPool}. */
export interface PoolOptions extends OptionsOf<typeof poolOptions> {}

/** Creates a `Postgres` from a connection pool of `pg`. You must end the pools yourself. */
export function fromPool(pool: PoolLike, options: PoolOptions = {}): Postgres {
  const { background: second, maxWaitMs, onError } = poolOptions.read(options)
  const background = second && fromPool(second, { ...options, background: undefined })
  const gate = new ConnectionGate(pool.options?.max ?? Number.POSITIVE_INFINITY, maxWaitMs)
  // An idle connection that is lost would otherwise end the process.
  pool.on('error', onError)

  async function enter(broken: (error?: unknown) => void, route?: object): Promise<CheckedOut> {
    const leave = await gate.enter(route)
    try {
      const { client, release } = await checkOut(pool, broken)
      return { client, release: (reusable) => (release(reusable), leave()) }
    } catch (error) {
      leave()
      throw error
    }
  }

  async function query(sql: string, params: readonly unknown[]) {
    const leave = await gate.enter(currentRoute())
    return pool.query(sql, [...params]).finally(leave)
  }

  async function open(opening: Opening) {
    return openOnClient(await enter(onError, opening.route ?? currentRoute()), opening)
  }

  const self: Postgres = {
    isEmbedded: false,
    query: (sql, params = []) => storedValues(query(sql, params)),
    transaction: (work) => runIn(open({}), work),
    open,
    client: {
      async query(text, values = []) {
        // A handler that has one connection would take a second: as many requests as the pool has connections could block each other.
        requireOutside(self)
        const { rows, rowCount } = await query(text, values)
        return { rows, rowCount: rowCount ?? rows.length }
      }
    } as SqlClient,
    isCongested: (route) => gate.isCongested(route),
    get connections() {
      return pool.options?.max === undefined ? undefined : gate.load
    },
    listen:
      background === undefined
        ? (channel, listener) => listenOn(enter, channel, listener, onError)
        : (channel, listener) => background.listen(channel, listener),
    get background() {
      return background ?? self
    }
  }
  return self
}

function currentRoute() {
  return handlerContexts.getStore()?.route
}
