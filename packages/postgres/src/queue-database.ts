import type { Transaction } from '@concordat/work-queue'
import { type Db, fromPglite } from 'pg-boss'
import type { PoolLike } from './pool.ts'
import type { PoolClientLike } from './pool-session.ts'

/** A PGlite, as far as a queue uses it. */
export interface QueuePGlite extends Transaction {
  exec(sql: string): Promise<{ rows: unknown[] }[]>
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

/** Where a queue keeps its jobs. */
export interface QueueDatabase {
  readonly backend: 'postgres' | 'pglite'
  readonly statements: Db
  /** For the statement that takes jobs, whose values are numbers: it reads as many as it takes, and not the whole queue. */
  readonly taking: Db
  /** What is run through it becomes part of the transaction. */
  join(transaction: Transaction): Db
  /** Commits what the work did, or nothing of it when it throws. */
  transaction(work: (transaction: Transaction) => Promise<void>): Promise<void>
}

// What the statistics say of a queue was true when it was empty, or full. By them, all of it would be read and sorted at each look, instead
// of the head of an index that is in order. Sent together, statements are one transaction, at whose end this is forgotten.
const planByIndex = `SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`

export function queueOnPool(pool: PoolLike, onError: (error: unknown) => void): QueueDatabase {
  // An idle connection that breaks would otherwise end the process.
  pool.on('error', onError)
  // With the clock of a test, each connection has to be told that it is not the time of the machine.
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

  // By callback: a connection that is killed at once says so before a promise could hand it over.
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
      // One in an unknown state is not used again; ending it rolls back.
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
        const answers = await executeSql(plannedByIndex(text, values))
        return (answers as unknown as readonly { rows: unknown[] }[])[1] as { rows: unknown[] }
      }
    },
    join,
    transaction: (work) =>
      onConnection(async (client) => {
        await client.query('BEGIN')
        await work(client)
        // After a failure that the work swallowed, PostgreSQL answers COMMIT by rolling back.
        const { command } = await client.query('COMMIT')
        if (command !== 'COMMIT') throw new Error('postgres: an outcome was rolled back, because a failed statement in it was ignored.')
      })
  }
}

export function queueOnPGlite(database: QueuePGlite): QueueDatabase {
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

// Several statements in one message have no values beside them.
function plannedByIndex(text: string, values: readonly unknown[] = []) {
  const written = text.replaceAll(/\$(\d+)/g, (_, position) => String(Number(values[position - 1])))
  return `${planByIndex}; ${written}`
}
