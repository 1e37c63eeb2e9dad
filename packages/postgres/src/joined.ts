import type { Transaction } from '@concordat/work-queue'
import { type Postgres, parseRows, type Queries } from './postgres.ts'

/** Returns queries that run in the transaction, or directly in the database if the transaction is undefined. */
export function joined(database: Postgres, transaction: Transaction | undefined): Queries {
  if (transaction === undefined) return database
  return { query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) }
}
