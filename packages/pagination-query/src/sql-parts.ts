import type { KeyRange } from './key-ranges.ts'
import type { Condition, ListQuery, SortKey } from './list-query.ts'
import { readingOrder } from './reading-order.ts'
import { answerText, columnOf, keyText, type SqlColumns, valueOf } from './sql-columns.ts'
import { bound, type Fragment, fragment, joined, raw } from './sql-fragment.ts'

/** A column of a statement. */
export interface SqlSelection {
  readonly name: string
  readonly sql: Fragment
}

/**
 * What columns of statements are called: the member at an index, the text of the sort key, and its value. Never like a column of
 * the table, because ORDER BY would take the answered text for it, which has another order and no index. Of small letters alone,
 * which Kysely's CamelCasePlugin leaves as they are.
 */
export const memberName = (index: number): string => `member${letters(index)}`
export const keyName = (index: number): string => `sortkey${letters(index)}`
const valueName = (index: number): string => `sortvalue${letters(index)}`

function letters(index: number) {
  return String(index).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
}

/** The members and sort keys as the table has them. */
export function storedSelections(query: ListQuery, columns: SqlColumns): SqlSelection[] {
  const members = query.fields.map((field, index) => ({ name: memberName(index), sql: columnOf(columns, field) }))
  return [...members, ...valueSelections(query, columns)]
}

/** The sort keys for an outer query to sort by; of stored selections when there are no columns. */
export function valueSelections(query: ListQuery, columns?: SqlColumns): SqlSelection[] {
  return query.order.map(({ field }, index) => {
    const name = valueName(index)
    return { name, sql: columns ? columnOf(columns, field) : raw(name) }
  })
}

/** The members and the texts of the sort keys as the rows of a page carry them; of stored selections when there are no columns. */
export function answeredSelections(query: ListQuery, columns?: SqlColumns): SqlSelection[] {
  const members = query.fields.map((field, index) => {
    const name = memberName(index)
    return { name, sql: answerText(columns ? columnOf(columns, field) : raw(name), query.kinds?.[field]) }
  })
  const keys = query.order.map(({ field, kind }, index) => {
    return { name: keyName(index), sql: keyText(columns ? columnOf(columns, field) : raw(valueName(index)), kind) }
  })
  return [...members, ...keys]
}

/** A condition that null meets where the operator says so. */
export function conditionSql(columns: SqlColumns, { field, kind, operator, value }: Condition): Fragment {
  const column = columnOf(columns, field)
  const list = [value].flat().map((one) => valueOf(columns, field, kind, String(one))) as [Fragment, ...Fragment[]]
  switch (operator) {
    case 'eq':
      return fragment`${column} = ${list[0]}`
    case 'ne':
      return fragment`${column} is distinct from ${list[0]}`
    case 'gt':
      return fragment`${column} > ${list[0]}`
    case 'gte':
      return fragment`${column} >= ${list[0]}`
    case 'lt':
      return fragment`${column} < ${list[0]}`
    case 'lte':
      return fragment`${column} <= ${list[0]}`
    case 'in':
      return fragment`${column} in (${joined(list, ', ')})`
    case 'nin':
      return fragment`(${column} is null or ${column} not in (${joined(list, ', ')}))`
    case 'null':
      return fragment`${column} is ${raw(value === true ? 'null' : 'not null')}`
    default:
      // A prefix. This takes nothing for a wildcard, and finds the same indexes as LIKE.
      return fragment`starts_with(${column}, ${bound(String(value))}::text)`
  }
}

/** What rows of a range meet: equality and one comparison, so that an index finds its beginning. */
export function rangeSql(columns: SqlColumns, order: readonly SortKey[], range: KeyRange): Fragment[] {
  const { equal, beyond, isNull, notNull } = range
  const column = (index: number) => columnOf(columns, keyAt(index).field)
  const value = (index: number, text: string) => valueOf(columns, keyAt(index).field, keyAt(index).kind, text)
  const met = equal.map((text, index) =>
    text === null ? fragment`${column(index)} is null` : fragment`${column(index)} = ${value(index, text)}`
  )
  const next = equal.length
  if (isNull) met.push(fragment`${column(next)} is null`)
  if (notNull) met.push(fragment`${column(next)} is not null`)
  if (beyond) {
    const left = beyond.values.map((_, index) => column(next + index))
    const right = beyond.values.map((text, index) => value(next + index, text))
    met.push(fragment`(${joined(left, ', ')}) ${raw(beyond.operator)} (${joined(right, ', ')})`)
  }
  return met

  function keyAt(index: number) {
    return order[index] as SortKey
  }
}

/** The order of reading, by the columns themselves. Null is the largest by default, as it must be. */
export function orderSql(query: ListQuery, columns: SqlColumns): Fragment[] {
  return readingOrder(query).map(({ field, descending }) => fragment`${columnOf(columns, field)} ${direction(descending)}`)
}

/** The same order over stored selections. */
export function outerOrderSql(query: ListQuery): Fragment[] {
  return readingOrder(query).map(({ descending }, index) => fragment`${raw(valueName(index))} ${direction(descending)}`)
}

function direction(descending: boolean) {
  return raw(descending ? 'desc' : 'asc')
}
