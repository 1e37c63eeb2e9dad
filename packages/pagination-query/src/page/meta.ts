import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { Collection } from '../collection.ts'
import type { Page } from '../list/page.ts'
import type { RequestedList } from '../query/requested-list.ts'

/** The page of a response, without its rows. */
export interface PageFacts extends Omit<Page, 'rows'> {
  /** The number of rows. */
  readonly length: number
}

/** Returns `_meta.pagination` (rule E3). With the style `cursor`, `page` is counted from the first page, or back from the last, as far as it is known. */
export function paginationMeta(requested: RequestedList, response: PageFacts) {
  const { perPage } = requested.reading.paging
  const { total } = response
  const page = pageNumber(requested, response)
  return {
    ...(page !== undefined && { page }),
    perPage,
    ...(total !== undefined && { totalPages: Math.ceil(total.items / perPage), totalItems: total.items }),
    ...(total?.exact === false && { totalItemsExact: false as const })
  }
}

function pageNumber(requested: RequestedList, response: PageFacts) {
  const { page, perPage } = requested.reading.paging
  if (requested.collection.style === 'page') return page
  const span = spanOf(requested, response)
  return span && Math.max(1, Math.ceil(span.end / perPage))
}

// The examples describe a single page with one item, because the example of a list has one.
const count = { type: 'integer', minimum: 0, examples: [1] }
const page = { type: 'integer', minimum: 1, examples: [1] }
const perPage = { type: 'integer', minimum: 1, examples: [25] }

/** Returns the schema of `_meta.pagination` for the responses of a collection. */
export function paginationSchema({ style, count: counted }: Pick<Collection, 'style' | 'count'>): JsonSchema {
  const required = [
    ...(style === 'page' || counted !== 'none' ? ['page'] : []),
    'perPage',
    ...(counted === 'none' ? [] : ['totalPages', 'totalItems'])
  ]
  const properties = {
    page,
    perPage,
    ...(counted !== 'none' && { totalPages: count, totalItems: count }),
    ...(counted !== 'none' && counted !== 'exact' && { totalItemsExact: { type: 'boolean', const: false } })
  }
  return { type: 'object', required, properties }
}

/** The numbers of items between the beginning of the list and both ends of a page, as far as the client has read. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Returns where a page of a collection with the style `cursor` lies, or undefined if nothing tells. */
export function spanOf({ position, reading }: RequestedList, { length, hasMore, total }: PageFacts): Span | undefined {
  const { reverse, key, before } = position
  const { perPage } = reading.paging
  const reachesEnd = length > 0 && !hasMore
  // The ends of the list are certain. The numbers in a cursor may be outdated, because items were added or removed since.
  if (reverse && reachesEnd) return { start: 0, end: length }
  if (!reverse && reachesEnd && total?.exact) return { start: total.items - length, end: total.items }
  if (!reverse) {
    const start = key === undefined ? 0 : (before ?? (total && perPage))
    return start === undefined ? undefined : { start, end: start + length }
  }
  // A cursor from before the list was counted has no number, and is taken for that of the second page from either end.
  const end = key === undefined ? total?.items : (before ?? (total && (Math.ceil(total.items / perPage) - 1) * perPage))
  return end === undefined ? undefined : { start: Math.max(0, end - length), end }
}
