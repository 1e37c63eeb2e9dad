import type { SqlColumns } from '../declaration/sql-source.ts'
import { type Fragment, followed, fragment, joined, raw } from '../list/fragment.ts'
import type { Condition, KeyRange, ListQuery, SortKey } from '../list/list-query.ts'
import { operatorOf } from '../list/operators.ts'
import { readingOrder } from '../list/sort-order.ts'
import { columnOf, itemOf, keyText, resultText, valueOf } from './columns.ts'

/** A column in the SELECT list of a statement. */
export interface SqlSelection {
  readonly name: string
  readonly sql: Fragment
}

/** Returns the name of a field in a statement. */
export type ColumnNames = (field: string) => Fragment

// They never equal the name of a table column, because ORDER BY would then use the text in the result, which has another order and no index. Kysely's
// CamelCasePlugin does not change lower-case letters.
/** Returns the names of columns in statements: of the field at an index, of the text of a sort key, and of a table column. */
export const memberName = (index: number): string => `member${letters(index)}`
export const keyName = (index: number): string => `sortkey${letters(index)}`
const storedName = (index: number): string => `stored${letters(index)}`

function letters(index: number): string {
  const last = 'abcdefghijklmnopqrstuvwxyz'.charAt(index % 26)
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last
}

/** Returns the table columns of the fields and sort keys, each once. */
export function storedSelections(query: ListQuery, columns: SqlColumns): SqlSelection[] {
  return storedFields(query).map((field, index) => ({ name: storedName(index), sql: columnOf(columns, field) }))
}

/** Returns a function that returns the name of a field's column in the outer query. */
export function storedNames(query: ListQuery): ColumnNames {
  const fields = storedFields(query)
  return (field) => raw(storedName(fields.indexOf(field)))
}

function storedFields({ fields, order }: ListQuery): string[] {
  return [...new Set([...fields, ...order.map(({ field }) => field)])]
}

/** Returns the columns of the page: the fields and the texts of the sort keys. */
export function typedSelections(query: ListQuery, nameOf: ColumnNames): SqlSelection[] {
  const members = query.fields.map((field, index) => {
    const name = nameOf(field)
    const type = query.numberTexts?.get(field)
    return { name: memberName(index), sql: type ? fragment`${name}::${raw(type)}` : resultText(name, query.kinds?.[field]) }
  })
  const keys = query.order.map(({ field, kind }, index) => ({ name: keyName(index), sql: keyText(nameOf(field), kind) }))
  return [...members, ...keys]
}

/** Returns the SQL of a condition of a query. */
export function conditionSql(columns: SqlColumns, { anyOf, ...condition }: Condition, query: Pick<ListQuery, 'hasTenant'>): Fragment {
  if (anyOf === undefined) return fieldSql(columns, condition, query)
  const each = anyOf.map((field) => fieldSql(columns, { ...condition, field }, query))
  return fragment`(${joined(each, ' or ')})`
}

function fieldSql(
  columns: SqlColumns,
  { field, kind, operator, value }: Condition,
  { hasTenant = false }: Pick<ListQuery, 'hasTenant'>
): Fragment {
  const column = columnOf(columns, field)
  const texts = [value].flat().map(String) as [string, ...string[]]
  const items = texts.map((text) => itemOf(kind, text))
  const given = texts.length === 1 ? valueOf(column, kind, texts[0]) : joined(items, ', ')
  return operatorOf[operator].sql(column, given, texts[0], hasTenant)
}

/** Returns the conditions of a range: equality and a single comparison, so that an index can seek to the start of the range. */
export function rangeSql(columns: SqlColumns, order: readonly SortKey[], range: KeyRange): Fragment[] {
  const { equal, beyond, isNull, notNull } = range
  const keyAt = (index: number) => order[index] as SortKey
  const column = (index: number) => columnOf(columns, keyAt(index).field)
  const value = (index: number, text: string) => valueOf(column(index), keyAt(index).kind, text)
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
}

/** Returns the ORDER BY terms for the direction of reading. In PostgreSQL, null is the largest value by default, as the order requires. */
export function orderSql(query: ListQuery, nameOf: ColumnNames): Fragment[] {
  return readingOrder(query).map(({ field, descending }) => followed(nameOf(field), descending ? ' desc' : ' asc'))
}
