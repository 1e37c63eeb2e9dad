import type { Condition, ListQuery, SortKey } from './list-query.ts'

// As the first key of a row comparison, a key with a single value would make a database filter all rows before a position instead of seeking it.
/** Returns the keys that decide the order of rows that meet the conditions: not those that a condition sets to a single value. */
export function decidingKeys(order: readonly SortKey[], conditions: readonly Condition[]): readonly SortKey[] {
  const equal = conditions.filter(({ operator }) => operator === 'eq')
  if (equal.length === 0) return order
  return order.filter((key, index) => index === order.length - 1 || !equal.some(({ field }) => field === key.field))
}

/** Returns the order with the direction of each key reversed. */
export function opposite(order: readonly SortKey[]): readonly SortKey[] {
  return order.map((key) => ({ ...key, descending: !key.descending }))
}

/** Returns the sort keys in the direction of reading: reversed if the page is read from the end. */
export function readingOrder({ order, reverse }: ListQuery): readonly SortKey[] {
  return reverse ? opposite(order) : order
}
