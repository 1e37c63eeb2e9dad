import { type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { quoted, snakeCase } from './columns.ts'
import { pageSql } from './page.ts'
import { conditionSql } from './parts.ts'
import type { SqlSource, SqlText } from './source.ts'

/** Returns the statement that fetches the rows of a page, in the form that `keyedRows` reads. */
export function pageStatement(query: ListQuery, source: SqlSource): SqlText {
  const { columns: selected, ranges, end, page } = pageSql(query, source.columns ?? {})
  const each = ranges.map((met) => fragment`(select ${selected} ${fromSql(query, source, met)} order by ${end})`)
  const rows = joined(each, ' union all ')
  return render(source, page ? fragment`select ${page.columns} from (${rows}) as page order by ${page.end}` : rows)
}

/** Returns the statement that counts the rows, up to a limit if there is one. */
export function countStatement(query: ListQuery, source: SqlSource, limit: number | undefined): SqlText {
  const from = fromSql(query, source, [])
  const counted = limit === undefined ? from : fragment`from (select ${from} limit ${raw(String(limit))}) as counted`
  return render(source, fragment`select count(*)::text as items ${counted}`)
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
