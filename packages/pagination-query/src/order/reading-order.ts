import type { ListQuery, SortKey } from '../list-query.ts'
import { opposite } from './sort-order.ts'

/** Returns the sort keys in the direction of reading: reversed if the page is read from the end. */
export function readingOrder({ order, reverse }: ListQuery): readonly SortKey[] {
  return reverse ? opposite(order) : order
}
