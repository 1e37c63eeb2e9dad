import type { ListQuery } from './list/list-query.ts'
import { type Page, pageOf, type Total } from './list/page.ts'
import { quoted, snakeCase } from './sql/columns.ts'
import { type Fragment, fragment, joined, raw } from './sql/fragment.ts'
import { pageSql } from './sql/page.ts'
import { conditionSql, keyName } from './sql/parts.ts'
import { fetchPage, keyedRows } from './sql/rows.ts'
import { type SqlSource, type SqlText, sourceOptions } from './sql/source.ts'

export type { SqlSource, SqlText } from './sql/source.ts'

/** A client that runs statements: a pool or client of `pg`, or PGlite. */
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
  return fetchPage(query, () => run(toSql(query, source)), countRows)

  async function countRows(limit?: number) {
    const from = fromSql(query, source, [])
    const counted = limit === undefined ? from : fragment`from (select ${from} limit ${raw(String(limit))}) as counted`
    const [row] = await run(render(source, fragment`select count(*)::text as items ${counted}`))
    return Number((row as { items: string }).items)
  }
}

/**
 * Returns the statement that fetches the rows of a page, for drivers that `runSql` does not support. `fromSqlRows` reads its rows.
 * Only the rows of the page are converted to text, not the rows that an offset skips.
 */
export function toSql(query: ListQuery, source: SqlSource = {}): SqlText {
  const { columns = {} } = source
  const { columns: selected, ranges, end, page } = pageSql(query, columns)
  const each = ranges.map((met) => fragment`(select ${selected} ${fromSql(query, source, met)} ${end})`)
  const rows = joined(each, ' union all ')
  return render(source, page ? fragment`select ${page.columns} from (${rows}) as page ${page.end}` : rows)
}

/** Returns the page for the rows that the statement of `toSql` returned. */
export function fromSqlRows<Row>(query: ListQuery<Row>, rows: readonly object[], total?: Total): Page<Row> {
  return pageOf(query, keyedRows(query, rows), total)
}

function fromSql(query: ListQuery, { table, columns = {}, where }: SqlSource, met: readonly Fragment[]): Fragment {
  const from = typeof table === 'object' ? table.sql : quoted(table ?? snakeCase(query.name))
  const always = where ? [raw(`(${where.text})`)] : []
  const all = [...always, ...query.conditions.map((condition) => conditionSql(columns, condition)), ...met]
  return all.length === 0 ? raw(`from ${from}`) : fragment`from ${raw(from)} where ${joined(all, ' and ')}`
}

// The values of `where` come first, so that its placeholders have the same numbers.
function render({ where }: SqlSource, { strings, values }: Fragment): SqlText {
  const before = where?.values ?? []
  const text = strings.map((part, index) => (index === 0 ? part : `$${before.length + index}${part}`)).join('')
  return { text, values: [...before, ...values] }
}

/** The part of a `pg` client that {@link preparePages} uses. */
export interface PgClient {
  query(...input: never[]): unknown
}

const mostStatements = 100

/**
 * Changes a client so that it uses prepared statements for pages, which PostgreSQL parses and plans once per connection and not for each page.
 * This saves a quarter of the time of a page. Use it with a pool of `pg`, for any adapter: `pool.on('connect', preparePages)`. At most 100
 * statements are prepared per connection; further statements run unprepared.
 *
 * Do not use it behind a pooler that assigns a connection per transaction, unless the pooler supports prepared statements (PgBouncer from 1.21,
 * with `max_prepared_statements`). After a change of a column's type, PostgreSQL rejects the prepared statements until the connection ends.
 */
export function preparePages(client: PgClient): void {
  const query = client.query.bind(client) as (...input: unknown[]) => unknown
  const names = new Map<string, string>()
  client.query = (input: unknown, ...others: unknown[]) => query(named(input), ...others)

  function named(input: unknown): unknown {
    const statement = typeof input === 'string' ? { text: input } : input
    const { text, name, submit } = statement as Readonly<Record<string, unknown>>
    // An object with `submit`, such as a cursor or a stream of rows, must not be copied.
    if (typeof text !== 'string' || name !== undefined || submit !== undefined) return input
    const statementName = names.get(text) ?? keep(text)
    return statementName === undefined ? input : { ...(statement as object), name: statementName }
  }

  function keep(text: string) {
    if (names.size === mostStatements || !text.includes(keyName(0))) return undefined
    const name = `page_${names.size + 1}`
    names.set(text, name)
    return name
  }
}
