import type { ListQuery, SortKey } from './list-query.ts'

/** The keys in the direction of reading: the order of the answer, turned around when the page is read from the end. */
export function readingOrder({ order, reverse }: ListQuery): readonly SortKey[] {
  return reverse ? turned(order) : order
}

/** The opposite of an order. Null stays the largest value, so it changes ends as well. */
export function turned(order: readonly SortKey[]): SortKey[] {
  return order.map((key) => ({ ...key, descending: !key.descending }))
}
