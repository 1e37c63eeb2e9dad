import { type OptionNames, requireKnownNames } from '@concordat/plugin-options'
import type { ListQuery } from './list-query.ts'
import { type Counter, countTotal, plannedRows } from './page/counting.ts'
import { type Page, pageOf, type Total } from './page/page.ts'
import { withRefusals } from './page/refused-values.ts'
import { columnNames, quoted, type SqlColumns, snakeCase } from './sql/columns.ts'
import { type Fragment, fragment, joined, raw } from './sql/fragment.ts'
import { pageSql } from './sql/page.ts'
import { conditionSql } from './sql/parts.ts'
import { keyedRows } from './sql/rows.ts'

export { preparePages } from './sql/prepared-pages.ts'

/** A statement with placeholders, and the values of its parameters. */
export interface SqlText {
  readonly text: string
  readonly values: readonly unknown[]
}

/**
 * The source of the rows: a table, the columns of fields, and a further condition. All of it comes from the author of the service, none of it from
 * a client.
 */
export interface SqlSource {
  /** The table, with its schema before a dot, or the SQL after FROM. @default the collection's name in snake_case */
  readonly table?: string | { readonly sql: string } | undefined
  /** The columns of the resource's fields, by field name. @default the field's name in snake_case */
  readonly columns?: SqlColumns | undefined
  /** A further condition on the rows, for example on their owner, with the placeholders `$1` to `$n` for its values. */
  readonly where?: SqlText | undefined
}

const sourceNames: OptionNames<SqlSource> = { table: { sql: true }, columns: columnNames, where: { text: true, values: true } }

function requireSourceNames(source: SqlSource): void {
  requireKnownNames('pagination-query', source, sourceNames, 'source')
}

/** A client that runs statements: a pool or client of `pg`, or PGlite. */
export interface SqlClient {
  query(text: string, values: unknown[]): Promise<{ rows: object[] }>
}

/**
 * Runs a query on PostgreSQL. The driver determines the values of rows, except that dates and times are strings (RFC 3339, in UTC,
 * with all digits) where the query has their kind. The total costs a second statement, unless the rows of the page determine it.
 */
export async function runSql<Row>(client: SqlClient, query: ListQuery<Row>, source: SqlSource = {}): Promise<Page<Row>> {
  requireSourceNames(source)
  const run = async ({ text, values }: SqlText) => (await client.query(text, [...values])).rows
  return withRefusals(query, async () => {
    const rows = query.ranges.length === 0 ? [] : await run(toSql(query, source))
    return fromSqlRows(query, rows, await countTotal(query, rows.length, counterOf(run, query, source)))
  })
}

/**
 * Returns the statement that fetches the rows of a page, for drivers that `runSql` does not support. `fromSqlRows` reads its rows.
 * Only the rows of the page are converted to text, not the rows that an offset skips.
 */
export function toSql(query: ListQuery, source: SqlSource = {}): SqlText {
  requireSourceNames(source)
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

function counterOf(run: (statement: SqlText) => Promise<object[]>, query: ListQuery, source: SqlSource): Counter {
  const from = fromSql(query, source, [])
  return {
    async count(limit) {
      const counted = limit === undefined ? from : fragment`from (select ${from} limit ${raw(String(limit))}) as counted`
      const [row] = await run(render(source, fragment`select count(*)::text as items ${counted}`))
      return Number((row as { items: string }).items)
    },
    async estimate() {
      return plannedRows(await run(render(source, fragment`explain (format json) select ${from}`)))
    }
  }
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
