import { type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { pageSql, rowsSql, type SelectRows } from './page.ts'
import { conditionSql } from './parts.ts'
import type { RowSource, SqlText } from './source.ts'

/** Returns the function that selects rows of a source. */
export function selectFrom(query: ListQuery, source: RowSource): SelectRows {
  return (columns, met, end) => fragment`(select ${columns} ${fromSql(query, source, met)} order by ${end})`
}

/** Returns the statement that fetches the rows of a page, with all its values. */
export function pageStatement(query: ListQuery, source: RowSource): SqlText {
  const { text, values } = render(source, rowsSql(pageSql(query, source.columns), selectFrom(query, source)))
  return { text, values: [...source.values, ...values] }
}

/** Returns the statement that counts the rows, up to a limit if there is one. */
export function countSql(query: ListQuery, source: RowSource, limit: number | undefined): Fragment {
  const from = fromSql(query, source, [])
  const counted = limit === undefined ? from : fragment`from (select ${from} limit ${raw(String(limit))}) as counted`
  return fragment`select count(*)::text as items ${counted}`
}

function fromSql({ conditions }: ListQuery, { from, columns, where }: RowSource, met: readonly Fragment[]): Fragment {
  const always = where === undefined ? [] : [raw(`(${where})`)]
  const all = [...always, ...conditions.map((condition) => conditionSql(columns, condition)), ...met]
  return all.length === 0 ? raw(`from ${from}`) : fragment`from ${raw(from)} where ${joined(all, ' and ')}`
}

/** Returns a statement with placeholders. Its values follow those of the source, which are not included, because they are others for each client. */
export function render({ values: before }: RowSource, { strings, values }: Fragment): SqlText {
  const text = strings.map((part, index) => (index === 0 ? part : `$${before.length + index}${part}`)).join('')
  return { text, values }
}
