import type { Collection } from '../collection.ts'
import { kindsOf } from '../declaration/field.ts'
import { filterName } from '../declaration/parameter-objects.ts'
import { rangesFrom } from '../list/key-ranges.ts'
import type { Condition, Key, ListQuery, SortKey } from '../list/list-query.ts'
import { type Operator, operatorOf } from '../list/operators.ts'
import { decidingKeys, opposite } from '../list/sort-order.ts'
import type { ValueKind } from '../list/value-text.ts'
import { type RowSource, readSource, type SqlSource, type SqlText } from '../sql/source.ts'
import { pageStatement } from '../sql/statement.ts'

/** A sort or a filter that clients can request, with each form of its statement that may need a separate index. */
export interface Probe {
  /** The name in waivers: `sort.total`, `sort.status,-total`, `filter.total[gte]`. */
  readonly name: string
  readonly requested: string
  /** Whether the index must also provide the order. Otherwise it must only find the rows, which are few enough to sort. */
  readonly ordered: boolean
  /** The statement without a cursor; `next` contains the statements with cursors. */
  readonly first: SqlText
  readonly next: readonly SqlText[]
}

/** The statements that the check plans: the list without a filter, in the default order, and the probes of a collection. */
export interface Probes {
  readonly plain: SqlText
  readonly probes: readonly Probe[]
}

/** Returns the statements of a collection. Throws a `TypeError` for an invalid source. */
export function probesOf(collection: Collection, given: SqlSource): Probes {
  const source = readSource(collection, given)
  const order = collection.sorts.get(collection.defaultSort) as readonly SortKey[]
  const filters = filterProbes(collection, source, order)
  return {
    plain: pageStatement(queryOf(collection, order, []), source),
    // Probes that need an order come first, because their indexes often serve other probes too.
    probes: [...sortProbes(collection, source), ...filters.filter(({ ordered }) => ordered), ...filters.filter(({ ordered }) => !ordered)]
  }
}

// Every order is read in both directions.
function sortProbes(collection: Collection, source: RowSource): Probe[] {
  return [...collection.sorts].map(([requested, order]) => ({
    name: `sort.${order.length > 2 || requested.includes(',') ? requested : requested.replace(/^-/, '')}`,
    requested: `sort=${requested}`,
    ordered: true,
    first: pageStatement(queryOf(collection, order, []), source),
    next: nextStatements(collection, source, order, [])
  }))
}

// The filters in the default order.
function filterProbes(collection: Collection, source: RowSource, order: readonly SortKey[]): Probe[] {
  return [...collection.filters].flatMap(([field, operators]) =>
    operators.flatMap((operator) =>
      conditionsOf(collection, field, operator).map((condition) => {
        const deciding = decidingKeys(order, [condition])
        const ordered = operatorOf[operator].index === 'ordered'
        return {
          name: `filter.${field}[${operator}]`,
          requested: `${filterName(field, operator)}=…`,
          ordered,
          first: pageStatement(queryOf(collection, deciding, [condition]), source),
          next: ordered ? nextStatements(collection, source, deciding, [condition]) : []
        }
      })
    )
  )
}

function queryOf({ name, id, fields }: Collection, order: readonly SortKey[], conditions: readonly Condition[]): ListQuery {
  const page = { perPage: 25, reverse: false, offset: 0, ranges: [{ equal: [] }], count: 'none' } as const
  return { name, id, conditions, order, fields: [id], kinds: kindsOf(fields), ...page }
}

// Continues after a row in the middle, and after rows in which a key is null, forward and backward.
function nextStatements(collection: Collection, source: RowSource, order: readonly SortKey[], conditions: readonly Condition[]): SqlText[] {
  if (collection.style === 'page') return []
  const middle: Key = order.map(({ field, kind }) => middleOf(kind, collection.fields.get(field)?.choices ?? []))
  const nulls = order.flatMap(({ nullable }, at) => (nullable ? [middle.map((value, index) => (index === at ? null : value))] : []))
  const query = queryOf(collection, order, conditions)
  return [false, true].flatMap((reverse) => {
    const reading = reverse ? opposite(order) : order
    return [middle, ...nulls].map((position) => pageStatement({ ...query, reverse, ranges: rangesFrom(reading, position, false) }, source))
  })
}

function conditionsOf({ fields }: Collection, field: string, operator: Operator): Condition[] {
  const { kind = 'string', choices = [] } = fields.get(field) ?? {}
  const { takes, index } = operatorOf[operator]
  if (index === 'none') return []
  const value = middleOf(kind, choices)
  const both = takes === 'flag' || kind === 'boolean'
  const values = both ? [true, false] : [takes === 'list' ? [value, otherThan(kind, choices)] : value]
  return values.map((wanted) => ({ field, kind, operator, value: wanted }))
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
