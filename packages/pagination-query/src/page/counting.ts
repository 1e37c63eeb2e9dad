import type { Count, ListQuery } from '../list-query.ts'
import type { Total } from './page.ts'

/** The queries that count the rows that meet the conditions. */
export interface Counter {
  /** Returns the number of rows, or `limit` if there are at least that many. */
  count(limit?: number): Promise<number>
  /** Returns the number of rows that the planner estimates. Without this method, an estimate is an exact count. */
  readonly estimate?: (() => Promise<number>) | undefined
}

// The estimate of a planner can be far off for few rows. Counting this many takes about a millisecond.
const leastEstimated = 1000

/** Returns the total that the query requests. It does not query the database if the fetched rows determine the total. */
export async function countTotal(query: ListQuery, fetched: number, counter: Counter): Promise<Total | undefined> {
  const { count } = query
  if (count === 'none') return undefined
  const known = knownItems(query, fetched)
  if (known !== undefined) return totalOf(known, count)
  if (typeof count === 'object') return totalOf(await counter.count(count.max + 1), count)
  if (count === 'exact' || !counter.estimate) return totalOf(await counter.count(), count)
  const few = await counter.count(leastEstimated)
  if (few < leastEstimated) return totalOf(few, count)
  return { items: Math.max(few, await counter.estimate()), exact: false }
}

/** Returns the total for a number of items. It is not exact above the limit of the count. */
export function totalOf(items: number, count: Count): Total {
  if (typeof count === 'object' && items > count.max) return { items: count.max, exact: false }
  return { items, exact: true }
}

/** Returns the number of rows that the planner estimates, from the result of `explain (format json)`. */
export function plannedRows([row]: readonly object[]): number {
  const [plan] = Object.values(row as object)
  const [{ Plan }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: { 'Plan Rows': number } }]
  return Plan['Plan Rows']
}

// A page that is read from an end of the order without a surplus row contains the last rows, so the total is known.
function knownItems({ ranges, offset, perPage }: ListQuery, fetched: number): number | undefined {
  const whole = ranges.some(({ equal, beyond, isNull, notNull }) => equal.length === 0 && !beyond && !isNull && !notNull)
  return whole && fetched <= perPage && (fetched > 0 || offset === 0) ? offset + fetched : undefined
}
