import { isApiError } from '@concordat/api-error'
import type { Postgres, SqlClient } from '@concordat/postgres'
import type { FastifyRequest } from 'fastify'
import type { Queries } from './database.ts'
import { isFailure, unavailable } from './errors.ts'
import { withoutNulls } from './rows.ts'

/** Returns queries that run on a client and return rows in the form that the service uses. */
export function queriesOn(client: SqlClient): Queries {
  return {
    async query<Row extends object>(sql: string, params?: readonly unknown[]) {
      try {
        return withoutNulls((await client.query<Row>(sql, params)).rows)
      } catch (error) {
        if ((isFailure(error) && error.severity !== 'FATAL') || isApiError(error) || error instanceof TypeError) throw error
        // The statement was not refused, and this is not a bug: the connection failed or was refused, or the result is overdue.
        throw unavailable(error)
      }
    }
  }
}

/** The option `config.transaction` of routes whose effects are all in the transaction: a transaction that loses a race runs again. */
export const transaction = { retries: 2 }

/** Returns the transaction of a route with `config.transaction`. */
export function transactionOf(request: FastifyRequest): Queries {
  return queriesOn(request.transaction)
}

/** Runs the work in a transaction, and rolls it back when the work throws. For work that is not part of a request. */
export async function inTransaction<Result>(postgres: Postgres, work: (transaction: Queries) => Promise<Result>): Promise<Result> {
  const { session } = await postgres.open({})
  try {
    const client = { query: (text: string, values: readonly unknown[] = []) => session.query(text, values) }
    const result = await work(queriesOn(client as SqlClient))
    await session.commit()
    return result
  } catch (error) {
    await session.rollback()
    throw error
  }
}
