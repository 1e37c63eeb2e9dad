import type { JsonSchema } from '@concordat/json-schema'
import type { Collection } from '../collection.ts'
import type { RequestedList } from '../query/requested-list.ts'
import type { Page } from './page.ts'
import { spanOf } from './span.ts'

/** The field `_meta.pagination` (rule E3). */
export interface PaginationMeta {
  /**
   * The number of the page, from 1. With the style `cursor` it is counted from the first page, or back from the last; absent where neither is
   * known because the collection is not counted.
   */
  readonly page?: number | undefined
  readonly perPage: number
  readonly totalPages?: number | undefined
  readonly totalItems?: number | undefined
  /** `false` if the total, and therefore the number of pages, is capped or estimated. */
  readonly totalItemsExact?: false | undefined
}

/** Returns the page number, the size and the totals of a page. */
export function paginationMeta(requested: RequestedList, response: Page): PaginationMeta {
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

function pageNumber(requested: RequestedList, response: Page) {
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
