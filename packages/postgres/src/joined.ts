import type { Transaction } from '@concordat/work-queue'
import { type Postgres, parseRows, type Queries } from './postgres.ts'

/** Runs statements in the transaction, or on their own if there is none. */
export function joined(database: Postgres, transaction: Transaction | undefined): Queries {
  if (transaction === undefined) return database
  return { query: async (sql, params = []) => parseRows((await transaction.query(sql, [...params])).rows) }
}
