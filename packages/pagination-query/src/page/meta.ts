import type { Collection } from '../collection.ts'
import type { JsonSchema } from '../declaration/item-members.ts'
import type { AskedList } from '../query/asked-list.ts'
import type { Page } from './page.ts'

/** The member `_meta.pagination` (rule E3). */
export interface PaginationMeta {
  /** Of collections by page only. */
  readonly page?: number
  readonly perPage: number
  readonly totalPages?: number
  readonly totalItems?: number
  /** Only there when the total is capped or estimated, and the number of pages with it. */
  readonly totalItemsExact?: false
}

/** Says which page it is, and of how many. */
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

/** The schema of `_meta.pagination` for the answers of a collection. */
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
