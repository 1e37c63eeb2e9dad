import type { Condition, Key, KeyRange, ListQuery, SortKey } from './list/list-query.ts'
import { operatorOf } from './list/operators.ts'
import { type Page, pageOf, totalOf } from './list/page.ts'
import { readingOrder } from './list/sort-order.ts'
import { orderText, type ValueKind, valueText } from './list/value-text.ts'

/**
 * Runs a query over rows in memory. Nothing is rounded: strings compare by code point, decimals and integers by all their digits,
 * times to the microsecond, and null is the largest value. The other adapters are tested against it.
 *
 * Throws a `TypeError` for a query that filters by a field of a relation, whose rows it does not have.
 *
 * Values can be strings, numbers, bigints, booleans or dates. Absent fields count as null.
 */
export function runArray<Row extends object>(rows: readonly Row[], query: ListQuery<Row>): Page<Row> {
  if (query.related !== undefined)
    throw new TypeError(
      `pagination-query: runArray has no rows of relations to filter by, such as those of ${[...query.related.keys()].join()}. Use runSql, or remove the filter.`
    )
  const order = readingOrder(query)
  const matching = rows.filter((row) => query.conditions.every((condition) => meets(row, condition)))
  const found = matching
    .map((row) => {
      const key = order.map(({ field, kind }) => textAt(row, field, kind))
      return { row, key, sorted: order.map(({ kind }, index) => comparable(kind, key[index] as string | null)) }
    })
    .filter(({ sorted }) => query.ranges.some((range) => isWithin(sorted, range, order)))
    .sort((a, b) => compareKeys(a.sorted, b.sorted, order))
    .slice(query.offset, query.offset + query.perPage + 1)
    .map(({ row, key }) => ({ row: project(row, query.fields), key }))
  return pageOf(query, found, query.count === 'none' ? undefined : totalOf(matching.length, query.count))
}

function meets(row: object, { field, anyOf = [field], kind, operator, value }: Condition): boolean {
  const { takes, meets } = operatorOf[operator]
  const wanted = [value].flat().map((one) => (takes === 'flag' ? String(one) : orderText(kind, String(one))))
  return anyOf.some((name) => meets(comparable(kind, textAt(row, name, kind)), wanted))
}

// Compares as a database does: the first keys that differ decide a comparison of row values, and with a null it is never true.
function isWithin(sorted: Key, { equal, beyond, isNull, notNull }: KeyRange, order: readonly SortKey[]): boolean {
  if (!equal.every((value, index) => sorted[index] === comparable(kindAt(order, index), value))) return false
  const next = sorted[equal.length]
  if (isNull) return next === null
  if (notNull) return next !== null
  if (!beyond) return true
  const { operator, values } = beyond
  for (const [index, value] of values.entries()) {
    const found = sorted[equal.length + index] as string | null
    const wanted = orderText(kindAt(order, equal.length + index), value)
    if (found === null) return false
    if (found !== wanted) return operator.startsWith('>') ? found > wanted : found < wanted
  }
  return operator.endsWith('=')
}

function compareKeys(a: Key, b: Key, order: readonly SortKey[]): number {
  const index = order.findIndex((_, index) => a[index] !== b[index])
  if (index === -1) return 0
  const [left, right] = [a[index] as string | null, b[index] as string | null]
  const larger = left === null || (right !== null && left > right)
  return larger === (order[index] as SortKey).descending ? -1 : 1
}

function comparable(kind: ValueKind, text: string | null): string | null {
  return text === null ? null : orderText(kind, text)
}

function kindAt(order: readonly SortKey[], index: number): ValueKind {
  return (order[index] as SortKey).kind
}

function textAt(row: object, field: string, kind: ValueKind): string | null {
  return valueText(kind, (row as Record<string, unknown>)[field])
}

function project<Row extends object>(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(fields.filter((field) => field in row).map((field) => [field, (row as Record<string, unknown>)[field]])) as Row
}
