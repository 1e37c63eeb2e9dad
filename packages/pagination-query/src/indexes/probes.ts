import { kindsOf } from '../declaration/field.ts'
import type { Condition, ListQuery, SortKey } from '../list-query.ts'
import type { Operator, ValueKind } from '../operators.ts'
import { type Key, rangesFrom } from '../order/key-ranges.ts'
import { decidingKeys } from '../order/sort-order.ts'

/** The part of a collection that the check reads. The result of `collection()` has all of it. */
export interface CheckedCollection {
  readonly name: string
  readonly style: 'page' | 'cursor'
  readonly id: string
  readonly fields: ReadonlyMap<
    string,
    { readonly kind: ValueKind | undefined; readonly nullable: boolean; readonly choices: readonly string[] }
  >
  readonly sorts: ReadonlyMap<string, readonly SortKey[]>
  readonly defaultSort: string
  readonly filters: ReadonlyMap<string, readonly Operator[]>
}

/** A sort or a filter that clients can request, with each form of its query that may need a separate index. */
export interface Probe {
  /** The name in waivers: `sort.total`, `sort.status,-total`, `filter.total[gte]`. */
  readonly name: string
  /** The query parameter that clients send. */
  readonly requested: string
  /** Whether the index must also provide the order. Otherwise it must only find the rows, which are few enough to sort. */
  readonly ordered: boolean
  /** The query without a cursor; `next` contains the queries with cursors. */
  readonly first: ListQuery
  readonly next: readonly ListQuery[]
}

/** Returns the query of the list without a filter, in the default order. */
export function plainQuery(collection: CheckedCollection): ListQuery {
  return queryOf(collection, orderOf(collection), [])
}

/** Returns a probe for each sort. Every order is read in both directions. */
export function sortProbes(collection: CheckedCollection): Probe[] {
  return [...collection.sorts].map(([requested, order]) => ({
    name: `sort.${order.length > 2 || requested.includes(',') ? requested : requested.replace(/^-/, '')}`,
    requested: `sort=${requested}`,
    ordered: true,
    first: queryOf(collection, order, []),
    next: nextQueries(collection, order, [])
  }))
}

/**
 * Returns the probes for each filter, in the default order. For equality, an index must find the rows in that order, because many
 * rows may be equal. For ranges, lists, prefixes and tests of null, an index must find the rows. `ne` and `nin` need no index,
 * because they match nearly every row.
 */
export function filterProbes(collection: CheckedCollection): Probe[] {
  const order = orderOf(collection)
  return [...collection.filters].flatMap(([field, operators]) =>
    operators.flatMap((operator) =>
      conditionsOf(collection, field, operator).map((condition) => {
        const deciding = decidingKeys(order, [condition])
        return {
          name: `filter.${field}[${operator}]`,
          requested: operator === 'eq' ? `${field}=…` : `${field}[${operator}]=…`,
          ordered: operator === 'eq',
          first: queryOf(collection, deciding, [condition]),
          next: operator === 'eq' ? nextQueries(collection, deciding, [condition]) : []
        }
      })
    )
  )
}

function orderOf({ sorts, defaultSort }: CheckedCollection) {
  return sorts.get(defaultSort) as readonly SortKey[]
}

function queryOf({ name, id, fields }: CheckedCollection, order: readonly SortKey[], conditions: readonly Condition[]): ListQuery {
  const page = { perPage: 25, reverse: false, offset: 0, ranges: [{ equal: [] }], count: 'none' } as const
  return { name, id, conditions, order, fields: [id], kinds: kindsOf(fields), ...page }
}

// Continues after a row in the middle, and after rows in which a key is null, forward and backward.
function nextQueries(collection: CheckedCollection, order: readonly SortKey[], conditions: readonly Condition[]): ListQuery[] {
  if (collection.style === 'page') return []
  const middle: Key = order.map(({ field, kind }) => middleOf(kind, collection.fields.get(field)?.choices ?? []))
  const nulls = order.flatMap(({ nullable }, at) => (nullable ? [middle.map((value, index) => (index === at ? null : value))] : []))
  return [false, true].flatMap((reverse) => {
    const reading = reverse ? order.map((key) => ({ ...key, descending: !key.descending })) : order
    return [middle, ...nulls].map((position) => ({
      ...queryOf(collection, order, conditions),
      reverse,
      ranges: rangesFrom(reading, position, false)
    }))
  })
}

function conditionsOf({ fields }: CheckedCollection, field: string, operator: Operator): Condition[] {
  const { kind = 'string', choices = [] } = fields.get(field) ?? {}
  const value = middleOf(kind, choices)
  switch (operator) {
    case 'ne':
    case 'nin':
      return []
    case 'null':
      return [true, false].map((wanted) => ({ field, kind, operator, value: wanted }))
    case 'in':
      return [{ field, kind, operator, value: [value, otherThan(kind, choices)] }]
    default:
      return kind === 'boolean'
        ? [true, false].map((wanted) => ({ field, kind, operator, value: wanted }))
        : [{ field, kind, operator, value }]
  }
}

const middles = {
  string: ['m', 'n'],
  enum: ['m', 'n'],
  uuid: ['7f000000-0000-7000-8000-000000000000', '80000000-0000-7000-8000-000000000000'],
  integer: ['50', '51'],
  decimal: ['50', '51'],
  boolean: ['true', 'false'],
  date: ['2024-02-29', '2024-03-01'],
  'date-time': ['2024-02-29T12:00:00Z', '2024-03-01T12:00:00Z']
} as const

function middleOf(kind: ValueKind, choices: readonly string[]) {
  return choices[Math.floor(choices.length / 2)] ?? middles[kind][0]
}

function otherThan(kind: ValueKind, choices: readonly string[]) {
  return choices.find((choice) => choice !== middleOf(kind, choices)) ?? middles[kind][1]
}
