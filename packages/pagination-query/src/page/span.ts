import type { RequestedList } from '../query/requested-list.ts'
import type { Page } from './page.ts'

/** The numbers of items between the beginning of the list and both ends of a page, as far as the client has read. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Returns where a page of a collection with the style `cursor` lies, or undefined if nothing tells. */
export function spanOf({ position, reading }: RequestedList, { rows, hasMore, total }: Page): Span | undefined {
  const { reverse, key, before } = position
  const { perPage } = reading.paging
  const reachesEnd = rows.length > 0 && !hasMore
  // The ends of the list are certain. The numbers in a cursor may be outdated, because items were added or removed since.
  if (reverse && reachesEnd) return { start: 0, end: rows.length }
  if (!reverse && reachesEnd && total?.exact) return { start: total.items - rows.length, end: total.items }
  if (!reverse) {
    const start = key === undefined ? 0 : (before ?? (total && perPage))
    return start === undefined ? undefined : { start, end: start + rows.length }
  }
  // A cursor from before the list was counted has no number, and is taken for that of the second page from either end.
  const end = key === undefined ? total?.items : (before ?? (total && (Math.ceil(total.items / perPage) - 1) * perPage))
  return end === undefined ? undefined : { start: Math.max(0, end - rows.length), end }
}
