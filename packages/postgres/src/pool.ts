import { type Listener, type Postgres, parseRows, type Queries } from './postgres.ts'

/** A client of `pg`, as far as it is used here. */
export interface PoolClientLike {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: unknown[]; readonly command?: string }>
  release(destroy?: boolean | Error): void
  on(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
  removeListener(event: 'error' | 'end' | 'notification', listener: (what?: unknown) => void): unknown
}

/** A pool of `pg`, as far as it is used here. */
export interface PoolLike {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: unknown[] }>
  connect(): Promise<PoolClientLike>
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

  async function transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const client = await pool.connect()
    client.on('error', onError)
    let broken = true
    try {
      await client.query('BEGIN')
      const result = await work({ query: async (sql, params = []) => parseRows((await client.query(sql, [...params])).rows) })
      // After a failure that the work swallowed, PostgreSQL answers COMMIT by rolling back.
      const { command } = await client.query('COMMIT')
      if (command !== 'COMMIT') throw new Error('postgres: the transaction was rolled back, because a failed statement in it was ignored.')
      broken = false
      return result
    } finally {
      client.removeListener('error', onError)
      // A connection in an unknown state is not used again; ending it rolls back.
      client.release(broken)
    }
  }

  async function listen(channel: string, { heard, lost }: Listener) {
    const client = await pool.connect()
    let over = false
    const end = () => {
      if (over) return false
      over = true
      client.removeListener('notification', notified)
      client.release(true)
      return true
    }
    const notified = (what?: unknown) => {
      if ((what as { readonly channel?: unknown }).channel === channel) heard()
    }
    const gone = (error?: unknown) => {
      if (error !== undefined) onError(error)
      if (end()) lost()
    }
    client.on('notification', notified)
    // They stay: a connection that is being ended may still fail.
    client.on('error', gone)
    client.on('end', gone)
    try {
      await client.query(`LISTEN "${channel}"`)
    } catch (error) {
      end()
      throw error
    }
    return async () => void end()
  }

  return {
    query: async (sql, params = []) => parseRows((await pool.query(sql, [...params])).rows),
    transaction,
    listen
  }
}
