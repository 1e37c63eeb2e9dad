import type { ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { compiledList } from './sql/compiled-list.ts'
import { pageSql, rowsSql } from './sql/page.ts'
import { fetchPage } from './sql/rows.ts'
import { readSource, type SqlSource, type SqlText } from './sql/source.ts'
import { countSql, render, selectFrom } from './sql/statement.ts'
import { fetchWritten } from './sql/written-page.ts'

export { preparePages } from './sql/prepare-pages.ts'

/** A client that runs statements: a pool or client of `pg`, PGlite, or an object that calls another driver or a query builder. */
export interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>
}

/**
 * Runs a query on PostgreSQL. The driver determines the values of rows, except that dates and times are strings (RFC 3339, in UTC,
 * with all digits) where the query has their kind. The total costs a second statement, unless the rows of the page determine it, or the page is repeated
 * and nothing reads its rows: then one statement fetches it as text.
 *
 * @throws TypeError for SQL of the source whose placeholders are not those of its values, and if the client is one of another database
 */
export async function runSql<Row>(client: SqlClient, query: ListQuery<Row>, source: SqlSource = {}): Promise<Page<Row>> {
  const read = readSource(query, source)
  const { from, columns, where, values: before } = read
  const run = async ({ text, values }: SqlText) => (await client.query(text, [...before, ...values])).rows
  const key = JSON.stringify([from, columns, where])
  const compiled = compiledList(query, key)
  const select = selectFrom(query, read)
  return fetchPage(
    query,
    () => run((compiled.page ??= render(read, rowsSql(pageSql(query, columns), select)))),
    async (limit) => {
      const [row] = await run((compiled.count ??= render(read, countSql(query, read, limit))))
      return Number((row as { items: string }).items)
    },
    () => fetchWritten(query, { key, source: read, select, run, compiled })
  )
}
