import type { JsonSchema } from '@concordat/json-schema'
import type { Collection } from '../collection.ts'
import type { RequestedList } from '../query/requested-list.ts'
import type { Page } from './page.ts'

/** The field `_meta.pagination` (rule E3). */
export interface PaginationMeta {
  /** The number of the page, only with the style `page`. */
  readonly page?: number | undefined
  readonly perPage: number
  readonly totalPages?: number | undefined
  readonly totalItems?: number | undefined
  /** `false` if the total, and therefore the number of pages, is capped or estimated. */
  readonly totalItemsExact?: false | undefined
}

/** Returns the page number, the size and the totals of a page. */
export function paginationMeta({ collection, reading }: RequestedList, { total }: Page): PaginationMeta {
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
