import type { Transaction } from '@concordat/work-queue'
import { type Db, fromPglite } from 'pg-boss'
import { listenOn } from '../connections/listening.ts'
import { checkedOut, checkOut, openOnClient, type PoolLike, sendOn } from '../connections/pool-session.ts'
import { type Listener, runIn } from '../connections/postgres.ts'
import type { WorkQueuePGlite } from './options.ts'

/** The database in which a queue stores its jobs. */
export interface QueueDatabase {
  readonly backend: 'postgres' | 'pglite'
  readonly statements: Db
  /**
   * Runs the statement that fetches jobs; all values of the statement must be numbers or lists of them. It reads as many jobs as it takes, and not the whole queue.
   */
  readonly taking: Db
  /** Returns a `Db` whose statements are part of the transaction. */
  join(transaction: Transaction): Db
  /** Runs the work in a transaction. Commits when it resolves, and rolls back when it throws. */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** Listens to a channel of other processes. `undefined` where no other process can work, or the pool is too small to leave a connection to it. */
  readonly listen?: ((channel: string, listener: Listener) => Promise<() => Promise<void>>) | undefined
}

const poolThatListens = 3

// The statistics of a queue were taken when it was empty, or full. With them, the planner would read and sort the whole queue at each poll
// instead of reading the start of an ordered index. Statements in one message are one transaction, and these settings end with it.
const planByIndex = `SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`

export function queueOnPool(pool: PoolLike, onError: (error: unknown) => void): QueueDatabase {
  // An idle connection that is lost would otherwise end the process.
  pool.on('error', onError)
  // With a test clock, these statements set the time on each connection.
  let preparations: readonly string[] = []

  async function prepare(client: Transaction) {
    for (const statement of preparations) await client.query(statement)
  }

  function join(transaction: Transaction): Db {
    return {
      async executeSql(text, values) {
        await prepare(transaction)
        return transaction.query(text, values)
      }
    }
  }

  const executeSql: Db['executeSql'] = async (text, values) => {
    if (preparations.length === 0) return pool.query(text, values)
    const { client, release } = await checkedOut(pool, onError)
    let isUsable = false
    try {
      const result = await join({ query: (sql, params) => sendOn(client, sql, params) }).executeSql(text, values)
      isUsable = true
      return result
    } finally {
      release(isUsable)
    }
  }

  const canListen = (pool.options?.max ?? poolThatListens) >= poolThatListens
  return {
    backend: 'postgres',
    listen: canListen ? (channel, listener) => listenOn((broken) => checkedOut(pool, broken), channel, listener, onError) : undefined,
    statements: {
      executeSql,
      async setSessionStatements(statements) {
        preparations = statements
      }
    },
    taking: {
      async executeSql(text, values) {
        const results = await executeSql(plannedByIndex(text, values))
        return (results as unknown as readonly { rows: unknown[] }[])[1] as { rows: unknown[] }
      }
    },
    join,
    transaction: (work) =>
      runIn(
        new Promise((resolve, reject) =>
          checkOut(pool, onError, (connection) => openOnClient(connection, {}, [], resolve, reject), reject)
        ),
        work
      )
  }
}

export function queueOnPGlite(database: WorkQueuePGlite): QueueDatabase {
  return {
    backend: 'pglite',
    statements: fromPglite(database as Parameters<typeof fromPglite>[0]),
    taking: {
      async executeSql(text, values) {
        return (await database.exec(plannedByIndex(text, values)))[1] as { rows: unknown[] }
      }
    },
    join: (transaction) => ({ executeSql: (text, values) => transaction.query(text, values) }),
    transaction: (work) => database.transaction((transaction) => work(transaction))
  }
}

// Several statements in one message cannot have parameters, so the values are written into the text.
function plannedByIndex(text: string, values: readonly unknown[] = []) {
  const written = text.replaceAll(/\$(\d+)/g, (_, position) => [values[position - 1]].flat().map(Number).join())
  return `${planByIndex}; ${written}`
}
