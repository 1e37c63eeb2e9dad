import type { ListQuery, SortKey } from '@concordat/pagination-query'
import { rangesFrom } from '@concordat/pagination-query'
import { type Statements } from '@concordat/postgres/rows'
import { listOrders } from '../orders/repository.ts'
import { type Order, orderCollection } from '../orders/schemas.ts'
import { conditionsOf, type OrderFilters } from './filters.ts'
import { pacer } from './pace.ts'

/** Some orders of a walk, and its progress. */
export interface Step {
  readonly orders: readonly Order[]
  readonly done: number
  readonly total: number
}

// A small number, so that other requests do not wait for a long statement.
const ordersPerStep = 100
const { name, id, fields, sorts, defaultSort } = orderCollection
const order = sorts.get(defaultSort) as readonly SortKey[]
const kinds = Object.fromEntries([...fields].flatMap(([field, { kind }]) => (kind === undefined ? [] : [[field, kind]])))

/**
 * Reads the orders that meet the filters, of one customer or of all, latest first. Each order that exists during the whole walk is read
 * exactly once; no order that is placed during the walk is read. Each step is one statement, so nothing stays open between steps.
 */
export async function* walkOrders(database: Statements, filters: OrderFilters, customerId: string | undefined): AsyncGenerator<Step> {
  const first: ListQuery<Order> = {
    name,
    id,
    conditions: conditionsOf(filters),
    order,
    fields: [...fields.keys()],
    kinds,
    perPage: ordersPerStep,
    reverse: false,
    offset: 0,
    ranges: [{ equal: [] }],
    count: 'exact'
  }
  const pause = pacer()
  let page = await listOrders(database, first, customerId)
  const total = page.total?.items ?? 0
  let done = page.rows.length
  yield { orders: page.rows, done, total }
  while (page.hasMore && page.last !== undefined) {
    await pause()
    page = await listOrders(database, { ...first, ranges: rangesFrom(order, page.last, false), count: 'none' }, customerId)
    done += page.rows.length
    yield { orders: page.rows, done, total }
  }
}
