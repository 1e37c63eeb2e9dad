import { deletionConditions } from '../declaration/deleted-rows.ts'
import type { SqlText } from '../declaration/sql-source.ts'
import { type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { splitRelated } from '../list/related.ts'
import { columnOf } from './columns.ts'
import { pageSql, rowsSql, type SelectRows } from './page.ts'
import { conditionSql } from './parts.ts'
import type { RowSource } from './source.ts'

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

type Filtered = Pick<ListQuery, 'id' | 'conditions' | 'hasTenant'>

const none: RowSource['related'] = new Map()

/** Returns the FROM and the WHERE of a source, with the conditions of a query and others. */
export function fromSql(query: Filtered, source: RowSource, met: readonly Fragment[]): Fragment {
  const { conditions, hasTenant } = query
  const { from, columns, where, related } = source
  const always = where === undefined ? [] : [raw(`(${where})`)]
  const own = conditions.filter(({ field }) => splitRelated(field, related) === undefined)
  const others = [...related].map(([name, { relation, ...rows }]) => {
    const { target, key, many } = relation
    // A single row of the relation meets all conditions on it. The subquery names no column of the outer query, which may have the same names.
    const met = conditions.flatMap((one) => {
      const [of, field = ''] = splitRelated(one.field, related) ?? []
      return of === name ? [{ ...one, field }] : []
    })
    const [outer, inner] = many ? [query.id, key] : [key, target.id]
    const found = fromSql({ id: target.id, conditions: [...met, ...deletionConditions(target)], hasTenant }, { ...rows, related: none }, [])
    return fragment`${columnOf(columns, outer)} in (select ${columnOf(rows.columns, inner)} ${found})`
  })
  const all = [...always, ...own.map((condition) => conditionSql(columns, condition, query)), ...others, ...met]
  return all.length === 0 ? raw(`from ${from}`) : fragment`from ${raw(from)} where ${joined(all, ' and ')}`
}

/** Returns a statement with placeholders. Its values follow those of the source, which are not included, because they are others for each client. */
export function render({ values: before }: RowSource, { strings, values }: Fragment): SqlText {
  const text = strings.map((part, index) => (index === 0 ? part : `$${before.length + index}${part}`)).join('')
  return { text, values }
}
