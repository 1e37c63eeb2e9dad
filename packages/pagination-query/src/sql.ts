import type { SqlSource, SqlText } from './declaration/sql-source.ts'
import type { ListQuery } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { rowsOf, type SqlClient } from './sql/client.ts'
import { compiledList } from './sql/compiled-list.ts'
import { loadIncluded } from './sql/included.ts'
import { pageSql, rowsSql } from './sql/page.ts'
import { fetchPage } from './sql/rows.ts'
import { readSource } from './sql/source.ts'
import { countSql, render, selectFrom } from './sql/statement.ts'
import { fetchWritten } from './sql/written-page.ts'

export type { SqlSource } from './declaration/sql-source.ts'
export type { SqlClient } from './sql/client.ts'
export { preparePages } from './sql/prepare-pages.ts'

/**
 * Runs a query on PostgreSQL. The driver determines the values of rows, except that dates and times are strings (RFC 3339, in UTC,
 * with all digits) where the query has their kind. The total costs a second statement, unless the rows of the page determine it, or the page is repeated
 * and nothing reads its rows: then one statement fetches it as text.
 *
 * @throws TypeError for SQL of the source whose placeholders are not those of its values, and if the client is one of another database
 */
export async function runSql<Row>(client: SqlClient, query: ListQuery<Row>, source: SqlSource = {}): Promise<Page<Row>> {
  const read = readSource(query, source)
  const { from, columns, where, related, values: before } = read
  // Without a condition of the client, the plan for any values is the plan for these.
  const prepares = query.conditions.every(({ operator }) => operator === 'null')
  const run = ({ text, values }: SqlText) => rowsOf(client, prepares, text, [...before, ...values])
  const key = JSON.stringify([from, columns, where, ...[...related.values()].map((rows) => [rows.from, rows.columns, rows.where])])
  const compiled = compiledList(query, key)
  const select = selectFrom(query, read)
  const page = await fetchPage(
    query,
    () => run((compiled.page ??= render(read, rowsSql(pageSql(query, columns), select)))),
    async (limit) => {
      const [row] = await run((compiled.count ??= render(read, countSql(query, read, limit))))
      return Number((row as { items: string }).items)
    },
    // With relations, the keys of the rows are needed.
    async () => (query.include === undefined ? fetchWritten(query, { key, source: read, select, run, compiled }) : undefined)
  )
  return query.include === undefined
    ? page
    : { ...page, included: await loadIncluded(client, query.include, page.rows as readonly object[], query.id) }
}
