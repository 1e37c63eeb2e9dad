import type { Transaction } from '@concordat/work-queue'
import { type Postgres, parseRows, type Queries } from './connections/postgres.ts'

/** Returns queries that run in the transaction, or directly in the database if the transaction is undefined. */
export function joined(database: Postgres, transaction: Pick<Transaction, 'query'> | undefined): Queries {
  if (transaction === undefined) return database
  return { query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) }
}

/** Runs the work in the transaction, or in one of its own if the transaction is undefined. */
export function within<Result>(
  database: Postgres,
  transaction: Transaction | undefined,
  work: (queries: Queries) => Promise<Result>
): Promise<Result> {
  return transaction === undefined ? database.transaction((own) => work(joined(database, own))) : work(joined(database, transaction))
}
