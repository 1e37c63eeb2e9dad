import type { ListQuery } from '../list-query.ts'
import type { Key } from '../order/key-ranges.ts'

/** How many rows there are in all, and whether that is the exact number. */
export interface Total {
  readonly items: number
  readonly exact: boolean
}

/** One page of a list, as an adapter gives it to `reply.page`. */
export interface Page<Row = unknown> {
  /** In the order of the collection, at most `perPage`. */
  readonly rows: readonly Row[]
  /** The sort keys of the first and the last row; undefined when there is no row. */
  readonly first: Key | undefined
  readonly last: Key | undefined
  /** More rows lie beyond, in the direction of reading. */
  readonly hasMore: boolean
  /** Undefined when the collection is not counted. */
  readonly total: Total | undefined
}

/** A row as fetched, with its sort keys as text. */
export interface KeyedRow<Row> {
  readonly row: Row
  readonly key: Key
}

/**
 * Makes the page of what an adapter fetched: up to `perPage + 1` rows in the direction of reading. The surplus row, the farthest
 * one, tells that there is more; rows that were read backward are turned around.
 */
export function pageOf<Row>(query: ListQuery<Row>, fetched: readonly KeyedRow<Row>[], total?: Total): Page<Row> {
  const kept = fetched.slice(0, query.perPage)
  if (query.reverse) kept.reverse()
  return {
    rows: kept.map(({ row }) => row),
    first: kept[0]?.key,
    last: kept.at(-1)?.key,
    hasMore: fetched.length > query.perPage,
    total
  }
}
