import type { ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { fetchPage } from './sql/rows.ts'
import { type SqlSource, type SqlText, sourceOptions } from './sql/source.ts'
import { countStatement, pageStatement } from './sql/statement.ts'

export { preparePages } from './sql/prepare-pages.ts'

/** A client that runs statements: a pool or client of `pg`, PGlite, or an object that calls another driver. */
export interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>
}

/**
 * Runs a query on PostgreSQL. The driver determines the values of rows, except that dates and times are strings (RFC 3339, in UTC,
 * with all digits) where the query has their kind. The total costs a second statement, unless the rows of the page determine it.
 */
export async function runSql<Row>(client: SqlClient, query: ListQuery<Row>, source: SqlSource = {}): Promise<Page<Row>> {
  sourceOptions.read(source, 'source')
  const run = async ({ text, values }: SqlText) => (await client.query(text, [...values])).rows
  return fetchPage(
    query,
    () => run(pageStatement(query, source)),
    async (limit) => {
      const [row] = await run(countStatement(query, source, limit))
      return Number((row as { items: string }).items)
    }
  )
}
