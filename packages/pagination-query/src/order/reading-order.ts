import type { ListQuery, SortKey } from '../list-query.ts'
import { opposite } from './sort-order.ts'

/** Returns the keys in the direction of reading: the order of the page, reversed if the page is read from the end. */
export function readingOrder({ order, reverse }: ListQuery): readonly SortKey[] {
  return reverse ? opposite(order) : order
}
