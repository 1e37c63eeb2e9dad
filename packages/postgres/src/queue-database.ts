import type { Transaction } from '@concordat/work-queue'
import { type Db, fromPglite } from 'pg-boss'
import type { PoolLike } from './pool.ts'
import type { PoolClientLike } from './pool-session.ts'

/** The part of a PGlite that a queue uses. */
export interface WorkQueuePGlite extends Transaction {
  exec(sql: string): Promise<{ rows: unknown[] }[]>
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

/** The database in which a queue stores its jobs. */
export interface QueueDatabase {
  readonly backend: 'postgres' | 'pglite'
  readonly statements: Db
  /**
   * Runs the statement that fetches jobs; all values of the statement must be numbers. It reads as many jobs as it takes, and not the whole queue.
   */
  readonly taking: Db
  /** Returns a `Db` whose statements are part of the transaction. */
  join(transaction: Transaction): Db
  /** Runs the work in a transaction. Commits when it resolves, and rolls back when it throws. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

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

  // With a callback: a connection that is killed immediately emits its error before a promise could return it.
  function checkOut() {
    return new Promise<PoolClientLike>((resolve, reject) => {
      pool.connect((error, client) => {
        if (client === undefined) return reject(error)
        client.on('error', onError)
        resolve(client)
      })
    })
  }

  async function onConnection<Result>(work: (client: PoolClientLike) => Promise<Result>) {
    const client = await checkOut()
    let broken = true
    try {
      const result = await work(client)
      broken = false
      return result
    } finally {
      client.removeListener('error', onError)
      // A connection in an unknown state is not reused. Closing it rolls back.
      client.release(broken)
    }
  }

  const executeSql: Db['executeSql'] = (text, values) =>
    preparations.length === 0 ? pool.query(text, values) : onConnection((client) => join(client).executeSql(text, values))

  return {
    backend: 'postgres',
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
      onConnection(async (client) => {
        await client.query('BEGIN')
        await work(client)
        // After a failure that the work ignored, PostgreSQL rolls back at COMMIT.
        const { command } = await client.query('COMMIT')
        if (command !== 'COMMIT')
          throw new Error(
            'postgres: the outcome of a job was rolled back because a failed statement in its transaction was ignored. Let the error of the statement reach the queue.'
          )
      })
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
  const written = text.replaceAll(/\$(\d+)/g, (_, position) => String(Number(values[position - 1])))
  return `${planByIndex}; ${written}`
}
