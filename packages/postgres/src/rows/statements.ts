import { isOutage } from '../failure.ts'
import type { SqlClient } from '../postgres.ts'
import { databaseUnavailable } from './errors.ts'

/** Runs the SQL statements of a service and returns their rows without the columns that are NULL. */
export interface Statements {
  /**
   * Runs one statement and returns its rows. `$1` is the first of the values. Rejects with the error of the driver when the server refuses
   * the statement, and with a 503 `SERVICE_UNAVAILABLE` when the connection fails.
   */
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>
  /** A client that returns the same rows, for libraries that expect a `pg` client, for example `runSql` of pagination-query. */
  readonly client: SqlClient
}

/**
 * Creates a {@link Statements} object that runs SQL on a client: `database.client` of a `Postgres`, or `request.transaction` of the unit of work.
 * The values of the rows are those of the driver.
 */
export function statementsOn(client: SqlClient): Statements {
  const checked = {
    async query(sql, values) {
      try {
        const { rows, rowCount } = await client.query(sql, values)
        return { rows: rows.map(withoutNulls), rowCount }
      } catch (error) {
        throw isOutage(error) ? databaseUnavailable(error) : error
      }
    }
  } as SqlClient
  return {
    client: checked,
    async query<Row extends object>(sql: string, values?: readonly unknown[]) {
      return (await checked.query<Row>(sql, values)).rows
    }
  }
}

// Rows without a NULL stay the same objects.
function withoutNulls<Row extends object>(row: Row) {
  const columns = Object.entries(row)
  return columns.some(([, value]) => value === null) ? (Object.fromEntries(columns.filter(([, value]) => value !== null)) as Row) : row
}
