import type { Count, Key, ListQuery } from './list-query.ts'
import type { IncludedRows } from './related.ts'

/** The total number of rows, and whether it is exact. */
export interface Total {
  readonly items: number
  readonly exact: boolean
}

/** A page of a list, as an adapter returns it for `reply.page`. */
export interface Page<Row = unknown> {
  /** The rows in the order of the collection, at most `perPage`. */
  readonly rows: readonly Row[]
  /** The sort keys of the first row. Undefined if the page has no rows. */
  readonly first: Key | undefined
  readonly last: Key | undefined
  /** Whether more rows follow in the direction of reading. */
  readonly hasMore: boolean
  /** The total; undefined if the collection is not counted. */
  readonly total: Total | undefined
  /** The relations of each row that the query includes, by name: an object or null, or `{ items, more }`. */
  readonly included?: readonly IncludedRows[] | undefined
}

/** A fetched row with its sort keys as text. */
export interface KeyedRow<Row> {
  readonly row: Row
  readonly key: Key
}

/** Returns the page for the rows that an adapter fetched: up to `perPage + 1` in the direction of reading, of which the last shows that more follow. */
export function pageOf<Row>(query: ListQuery<Row>, fetched: readonly KeyedRow<Row>[], total?: Total): Page<Row> {
  const onPage = fetched.slice(0, query.perPage)
  if (query.reverse) onPage.reverse()
  return {
    rows: onPage.map(({ row }) => row),
    first: onPage[0]?.key,
    last: onPage.at(-1)?.key,
    hasMore: fetched.length > query.perPage,
    total
  }
}

/** Returns the number of rows that meet the conditions, or `limit` if there are at least that many. */
export type CountRows = (limit?: number) => Promise<number>

/** Returns the total that the query requests. It does not query the database if the fetched rows determine the total. */
export async function countTotal(query: ListQuery, fetched: number, countRows: CountRows): Promise<Total | undefined> {
  const { count } = query
  if (count === 'none') return undefined
  return totalOf(knownItems(query, fetched) ?? (await countRows(count === 'exact' ? undefined : count.max + 1)), count)
}

/** Returns the total for a number of items. It is not exact above the limit of the count. */
export function totalOf(items: number, count: Count): Total {
  if (typeof count === 'object' && items > count.max) return { items: count.max, exact: false }
  return { items, exact: true }
}

// A page that is read from an end of the order without a surplus row contains the last rows, so the total is known.
/** Returns the number of all rows if the rows of the page determine it. */
export function knownItems(query: ListQuery, fetched: number): number | undefined {
  const { offset, perPage } = query
  return readsFromAnEnd(query) && fetched <= perPage && (fetched > 0 || offset === 0) ? offset + fetched : undefined
}

/** Returns whether a page is read from an end of the order, and not from the position of a cursor. */
export function readsFromAnEnd({ ranges }: ListQuery): boolean {
  return ranges.some(({ equal, beyond, isNull, notNull }) => equal.length === 0 && !beyond && !isNull && !notNull)
}
