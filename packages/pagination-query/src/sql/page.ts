import type { SqlColumns } from '../declaration/sql-source.ts'
import { type Fragment, followed, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { columnOf } from './columns.ts'
import { orderSql, rangeSql, type SqlSelection, storedNames, storedSelections, typedSelections } from './parts.ts'

/** The parts of the statement that fetches the rows of a page and one more row. */
export interface PageSql extends SelectSql {
  /** The conditions of the ranges, in addition to the filters. Each range is a separate query. */
  readonly ranges: readonly (readonly Fragment[])[]
  /** The outer query, which selects from the union of the ranges under the alias `page`. Undefined if a single query is the whole statement. */
  readonly page: SelectSql | undefined
}

/** The columns after SELECT, and the terms after ORDER BY, with the limit. */
interface SelectSql {
  readonly columns: Fragment
  readonly end: Fragment
}

// Only the rows of the page are converted to text, not skipped rows or surplus rows of ranges.
/** Returns the parts of the statement that fetches a page, whose columns are converted to their form in a response, or stay as they are stored. */
export function pageSql(query: ListQuery, columns: SqlColumns, areStored = false): PageSql {
  const { offset, perPage } = query
  const ranges = query.ranges.length === 0 ? [[raw('false')]] : query.ranges.map((range) => rangeSql(columns, query.order, range))
  const nameOf = (field: string) => columnOf(columns, field)
  const order = orderSql(query, nameOf)
  const several = ranges.length > 1
  const end = several ? endSql(order, offset + perPage + 1) : endSql(order, perPage + 1, offset)
  const stored = listed(storedSelections(query, columns))
  if (!several && areStored) return { columns: stored, ranges, end, page: undefined }
  if (!several && offset === 0) return { columns: listed(typedSelections(query, nameOf)), ranges, end, page: undefined }
  const outerName = storedNames(query)
  const outerEnd = endSql(orderSql(query, outerName), perPage + 1, several ? offset : 0)
  const page = { columns: areStored ? raw('*') : listed(typedSelections(query, outerName)), end: outerEnd }
  return { columns: stored, ranges, end, page }
}

/** Returns a SELECT in parentheses, with conditions besides those of the source, and the terms after its ORDER BY. */
export type SelectRows = (columns: Fragment, met: readonly Fragment[], end: Fragment) => Fragment

/** Returns the statement of the parts of a page. */
export function rowsSql({ columns, ranges, end, page }: PageSql, select: SelectRows): Fragment {
  const rows = joined(
    ranges.map((met) => select(columns, met, end)),
    ' union all '
  )
  return page ? fragment`select ${page.columns} from (${rows}) as page order by ${page.end}` : rows
}

/** Returns selections as they are listed in a statement. */
export function listed(selections: readonly SqlSelection[]): Fragment {
  const each = selections.map(({ name, sql }) => followed(sql, ` as ${name}`))
  return joined(each, ', ')
}

function endSql(order: readonly Fragment[], limit: number, offset = 0): Fragment {
  return fragment`${joined(order, ', ')} limit ${raw(offset === 0 ? `${limit}` : `${limit} offset ${offset}`)}`
}
