import { requireOutside } from './open-transaction.ts'
import { openOnClient, type PoolAnswer, type PoolClientLike } from './pool-session.ts'
import { type Listener, type Postgres, parseRows, type SqlClient } from './postgres.ts'
import { runIn } from './run-in.ts'
import type { Opening } from './session.ts'

/** A pool of `pg`, as far as it is used here. */
export interface PoolLike {
  query(sql: string, params?: unknown[]): Promise<PoolAnswer>
  connect(given: (error: Error | undefined, client: PoolClientLike | undefined) => void): void
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What else `fromPool` can be told. */
export interface PoolOptions {
  /** Is told of connections that broke, for the log; the pool replaces them. @default nobody is told */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * A database by a pool of `pg`. Hearing a channel takes one connection of the pool for as long as it lasts; behind a PgBouncer that pools
 * transactions nothing can be heard, and the stores that listen look at fixed times only. The pool stays yours to end.
 */
export function fromPool(pool: PoolLike, { onError = () => {} }: PoolOptions = {}): Postgres {
  // An idle connection that breaks would otherwise end the process.
  pool.on('error', onError)

  // By callback: a connection that is killed at once says so before a promise could hand it over, and an error that nobody hears
  // ends the process.
  function checkOut(broken: (error?: unknown) => void) {
    return new Promise<PoolClientLike>((resolve, reject) => {
      pool.connect((error, client) => {
        if (client === undefined) return reject(error)
        client.on('error', broken)
        resolve(client)
      })
    })
  }

  async function open(opening: Opening) {
    const client = await checkOut(onError)
    const release = (reusable: boolean) => {
      client.removeListener('error', onError)
      // A connection in an unknown state is not used again; ending it rolls back.
      client.release(!reusable)
    }
    return openOnClient({ client, release }, opening)
  }

  async function listen(channel: string, { heard, lost }: Listener) {
    // Whatever the order in which a connection breaks, is released and is heard.
    const line: { over: boolean; begun: boolean; client?: PoolClientLike } = { over: false, begun: false }
    const gone = (error?: unknown) => {
      if (error !== undefined) onError(error)
      if (end() && line.begun) lost()
    }
    function end() {
      if (line.over) return false
      line.over = true
      line.client?.release(true)
      return true
    }
    const client = await checkOut(gone)
    if (line.over) client.release(true)
    line.client = client
    try {
      client.on('end', gone)
      client.on('notification', (what) => {
        const notice = what as { readonly channel?: unknown; readonly payload?: string }
        if (!line.over && notice.channel === channel) heard(notice.payload ?? '')
      })
      await client.query(`LISTEN "${channel}"`)
      if (line.over) throw new Error('postgres: the connection broke as soon as it listened.')
      line.begun = true
    } catch (error) {
      end()
      throw error
    }
    return async () => void end()
  }

  const self: Postgres = {
    isEmbedded: false,
    query: async (sql, params = []) => parseRows((await pool.query(sql, [...params])).rows),
    transaction: (work) => runIn(open({}), work),
    open,
    client: {
      async query(text, values = []) {
        // It would take a second connection while it holds one: as many requests as the pool has connections then wait for each other.
        requireOutside(self)
        const { rows, rowCount } = await pool.query(text, [...values])
        return { rows, rowCount: rowCount ?? rows.length }
      }
    } as SqlClient,
    listen
  }
  return self
}
