import type { Count, ListQuery } from '../list-query.ts'
import type { Total } from './page.ts'

/** What a database can be asked about the rows that meet the conditions. */
export interface Counter {
  /** How many there are, or `limit` when there are at least that many. */
  count(limit?: number): Promise<number>
  /** How many the planner believes there are. Without it, an estimate is an exact count. */
  estimate?(): Promise<number>
}

// A planner can be far off about few rows. So many are counted in about a millisecond.
const leastEstimated = 1000

/** Counts as the query asks, and asks nothing when the rows that were fetched tell already. */
export async function countTotal(query: ListQuery, fetched: number, counter: Counter): Promise<Total | undefined> {
  const { count } = query
  if (count === 'none') return undefined
  const known = knownItems(query, fetched)
  if (known !== undefined) return totalOf(known, count)
  if (typeof count === 'object') return totalOf(await counter.count(count.atMost + 1), count)
  if (count === 'exact' || !counter.estimate) return totalOf(await counter.count(), count)
  const few = await counter.count(leastEstimated)
  if (few < leastEstimated) return totalOf(few, count)
  return { items: Math.max(few, await counter.estimate()), exact: false }
}

/** The total for a number of items, which is not exact above the limit of the count. */
export function totalOf(items: number, count: Count): Total {
  if (typeof count === 'object' && items > count.atMost) return { items: count.atMost, exact: false }
  return { items, exact: true }
}

/** How many rows the planner believes in, from the answer to `explain (format json)`. */
export function plannedRows([row]: readonly object[]): number {
  const [plan] = Object.values(row as object)
  const [{ Plan }] = (typeof plan === 'string' ? JSON.parse(plan) : plan) as [{ Plan: { 'Plan Rows': number } }]
  return Plan['Plan Rows']
}

// A page that begins at an end of the order and has room left shows all there is.
function knownItems({ ranges, offset, perPage }: ListQuery, fetched: number): number | undefined {
  const whole = ranges.some(({ equal, beyond, isNull, notNull }) => equal.length === 0 && !beyond && !isNull && !notNull)
  return whole && fetched <= perPage && (fetched > 0 || offset === 0) ? offset + fetched : undefined
}
