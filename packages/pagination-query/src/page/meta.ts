import type { Collection } from '../collection.ts'
import type { JsonSchema } from '../declaration/item-members.ts'
import type { AskedList } from '../query/asked-list.ts'
import type { Page } from './page.ts'

/** The field `_meta.pagination` (rule E3). */
export interface PaginationMeta {
  /** Only with the style `page`. */
  readonly page?: number
  readonly perPage: number
  readonly totalPages?: number
  readonly totalItems?: number
  /** Present only if the total, and with it the number of pages, is capped or estimated. */
  readonly totalItemsExact?: false
}

/** Returns the page number, the size and the totals of a page. */
export function paginationMeta({ collection, reading }: AskedList, { total }: Page): PaginationMeta {
  const { page, perPage } = reading.paging
  return {
    ...(collection.style === 'page' && { page }),
    perPage,
    ...(total !== undefined && { totalPages: Math.ceil(total.items / perPage), totalItems: total.items }),
    ...(total?.exact === false && { totalItemsExact: false as const })
  }
}

const count = { type: 'integer', minimum: 0 }
const positive = { type: 'integer', minimum: 1 }

/** Returns the schema of `_meta.pagination` for the responses of a collection. */
export function paginationSchema({ style, count: counted }: Pick<Collection, 'style' | 'count'>): JsonSchema {
  const required = [...(style === 'page' ? ['page'] : []), 'perPage', ...(counted === 'none' ? [] : ['totalPages', 'totalItems'])]
  const properties = {
    ...(style === 'page' && { page: positive }),
    perPage: positive,
    ...(counted !== 'none' && { totalPages: count, totalItems: count }),
    ...(counted !== 'none' && counted !== 'exact' && { totalItemsExact: { type: 'boolean', const: false } })
  }
  return { type: 'object', required, properties }
}
