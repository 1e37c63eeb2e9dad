import { isApiError } from '@concordat/api-error'
import type { Postgres, SqlClient } from '@concordat/postgres'
import type { FastifyRequest } from 'fastify'
import type { Queries } from './database.ts'
import { isFailure, unavailable } from './errors.ts'
import { withoutNulls } from './rows.ts'

/** Asks a client, and reads its rows as the service does. */
export function queriesOn(client: SqlClient): Queries {
  return {
    async query<Row extends object>(sql: string, params?: readonly unknown[]) {
      try {
        return withoutNulls((await client.query<Row>(sql, params)).rows)
      } catch (error) {
        if ((isFailure(error) && error.severity !== 'FATAL') || isApiError(error) || error instanceof TypeError) throw error
        // Neither a refused statement nor our mistake: the server ended the connection or took none, or its answer is overdue.
        throw unavailable(error)
      }
    }
  }
}

/** For `config.transaction` of routes whose effects are all in the transaction: they run again when they lost a race against another. */
export const transaction = { retries: 2 }

/** The transaction of a route with `config.transaction`. */
export function transactionOf(request: FastifyRequest): Queries {
  return queriesOn(request.transaction)
}

/** Commits what the work did, or nothing of it when it throws: for what is no request. */
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
