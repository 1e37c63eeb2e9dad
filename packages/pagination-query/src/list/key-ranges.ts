import type { Key, KeyRange, SortKey } from './list-query.ts'

// With the usual `a > x OR (a = x AND b > y)`, a database filters all rows before the position; each of these ranges is a single seek. Null counts as
// the largest value (the default of PostgreSQL), so a plain index serves both directions.
/**
 * Splits the rows after a position into disjoint ranges, nearest first. `order` is in the direction of reading: reversed when reading backward.
 * `inclusive`: the rest includes the row of the position.
 */
export function rangesFrom(order: readonly SortKey[], position: Key, inclusive: boolean): KeyRange[] {
  const ranges: KeyRange[] = []
  for (let end = order.length; end > 0; ) {
    const start = startOfGroup(order, position, end)
    ranges.push(...rangesOfGroup(order, position, start, end, inclusive && end === order.length))
    end = start
  }
  return ranges
}

// Keys of the same direction compare as a single row value, unless a value is null or nulls may follow: an ascending nullable key
// must be the first of its group, because the comparison of a row value never finds its nulls.
function startOfGroup(order: readonly SortKey[], position: Key, end: number): number {
  let start = end - 1
  while (start > 0 && joinsPrevious(start)) start -= 1
  return start

  function joinsPrevious(index: number) {
    const key = order[index] as SortKey
    if (position[index] === null || position[index - 1] === null) return false
    return key.descending === order[index - 1]?.descending && (key.descending || !key.nullable)
  }
}

function rangesOfGroup(order: readonly SortKey[], position: Key, start: number, end: number, inclusive: boolean): KeyRange[] {
  const { descending, nullable } = order[start] as SortKey
  const equal = position.slice(0, start)
  const values = position.slice(start, end)
  if (values[0] === null) return descending ? [{ equal, notNull: true }] : []
  const operator = `${descending ? '<' : '>'}${inclusive ? '=' : ''}` as const
  const beyond: KeyRange = { equal, beyond: { operator, values: values as string[] } }
  return nullable && !descending ? [beyond, { equal, isNull: true }] : [beyond]
}
