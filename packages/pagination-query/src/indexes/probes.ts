import type { Collection } from '../collection.ts'
import { deletionConditions } from '../declaration/deleted-rows.ts'
import { kindsOf, orderOf } from '../declaration/field.ts'
import { filterName } from '../declaration/parameter-objects.ts'
import type { SqlSource, SqlText } from '../declaration/sql-source.ts'
import { rangesFrom } from '../list/key-ranges.ts'
import type { Condition, Key, ListQuery, SortKey } from '../list/list-query.ts'
import { type Operator, operatorOf } from '../list/operators.ts'
import { type RelatedCollection, type Relation, splitRelated } from '../list/related.ts'
import { decidingKeys, opposite } from '../list/sort-order.ts'
import type { ValueKind } from '../list/value-text.ts'
import { columnOf } from '../sql/columns.ts'
import { type RowSource, readSource } from '../sql/source.ts'
import { pageStatement } from '../sql/statement.ts'
import { expressionOf } from './table-scan.ts'

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

/** The statements that the check plans for a table: the list without a filter, in its usual order, and the probes. */
export interface Probes {
  /** The collection whose rows are in the table. */
  readonly name: string
  readonly plain: SqlText
  readonly probes: readonly Probe[]
  /** Whether deleted rows stay in the table, so that the last condition of each list is that a row is not deleted. */
  readonly isDeletionKept: boolean
  /** The column of the identifier, as PostgreSQL prints it. */
  readonly id: string
}

type Listed = Collection & { readonly hasTenant: boolean }

/** What the probes of rows need of their collection. A relation leads to a collection without a style. */
type Probed = RelatedCollection & { readonly style?: Collection['style'] | undefined; readonly hasTenant: boolean }

/**
 * Returns the statements of a collection and of its relations, with their sources by name, as they are in a request with a tenant or without. Throws a
 * `TypeError` for an invalid source.
 */
export function probesOf(
  declared: Collection,
  given: SqlSource,
  sources: Readonly<Record<string, SqlSource>>,
  hasTenant: boolean
): readonly [Probes, ...Probes[]] {
  const collection = { ...declared, hasTenant }
  const source = readSource(collection, given)
  const { name, relations } = collection
  const unknown = Object.keys(sources).find((one) => !relations.has(one))
  if (unknown !== undefined)
    throw new TypeError(
      `pagination-query: options.relatedSources.${unknown} is not a relation of "${name}". Remove it, or correct the name.`
    )
  const order = collection.sorts.get(collection.defaultSort) as readonly SortKey[]
  const filters = [...filterProbes(collection, source, order), ...keyProbes(collection, source), ...removalProbes(collection, source)]
  const own = {
    name,
    plain: pageStatement(queryOf(collection, order, []), source),
    // Probes that need an order come first, because their indexes often serve other probes too.
    isDeletionKept: collection.deleted !== undefined,
    id: printed(source, collection.id),
    probes: [...sortProbes(collection, source), ...filters.filter(({ ordered }) => ordered), ...filters.filter(({ ordered }) => !ordered)]
  }
  return [own, ...[...relations].map(([relation, one]) => relationProbes(collection, relation, one, sources[relation]))]
}

// The rows of a relation are found by their key, and by the fields that clients filter by.
function relationProbes(collection: Listed, name: string, relation: Relation, given: SqlSource | undefined): Probes {
  const { key, many, source: ofRequest } = relation
  const target = { ...relation.target, hasTenant: collection.hasTenant }
  if (ofRequest !== undefined && given === undefined)
    throw new TypeError(
      `pagination-query: the relation ${name} of "${collection.name}" has a source. Set options.relatedSources.${name} to what it returns for a client, or to {}.`
    )
  const source = readSource(target, given ?? {})
  const order = many?.order ?? idOrder(target)
  const probe = (condition: Condition, named: Pick<Probe, 'name' | 'requested'>, ordered: boolean) => {
    const statement = pageStatement(queryOf(target, ordered ? decidingKeys(order, [condition]) : order, [condition]), source)
    return { ...named, ordered, first: statement, next: [] }
  }
  const included = conditionsOf(target, many ? key : target.id, 'eq').map((condition) =>
    probe(condition, { name: `relations.${name}`, requested: `include=${name}` }, many !== undefined)
  )
  const filtered = relatedFilters(collection, name).flatMap(({ field, operator, ...named }) =>
    conditionsOf(target, field, operator).map((condition) => probe(condition, named, false))
  )
  return {
    name: target.name,
    plain: pageStatement(queryOf(target, order, []), source),
    isDeletionKept: target.deleted !== undefined,
    id: printed(source, target.id),
    probes: [...included, ...filtered]
  }
}

// Rows that a filter finds in a relation lead back to the collection by its key.
function keyProbes(collection: Listed, source: RowSource): Probe[] {
  const { id, relations } = collection
  return [...relations].flatMap(([relation, { key, many }]) =>
    relatedFilters(collection, relation).flatMap(({ name, requested }) =>
      conditionsOf(collection, many ? id : key, 'eq').map((condition) => {
        const first = pageStatement(queryOf(collection, idOrder(collection), [condition]), source)
        return { name, requested, ordered: false, first, next: [] }
      })
    )
  )
}

function relatedFilters({ filters, relations }: Collection, relation: string) {
  return [...filters].flatMap(([name, operators]) => {
    const [of, field = ''] = splitRelated(name, relations) ?? []
    if (of !== relation) return []
    return operators
      .filter((operator) => operatorOf[operator].index !== 'none')
      .map((operator) => ({ field, operator, name: `filter.${name}[${operator}]`, requested: `${filterName(name, operator)}=…` }))
  })
}

function idOrder({ id, fields }: Probed): readonly SortKey[] {
  return [{ field: id, kind: fields.get(id)?.kind as ValueKind, nullable: false, descending: false }]
}

// Without the table name, and without quotes that are not needed.
function printed({ columns }: RowSource, field: string) {
  const [column] = columnOf(columns, field).strings
  return expressionOf(column.replace(/^.*"\."/, '"').replace(/^"([a-z_][a-z0-9_$]*)"$/, '$1'))
}

// Every order is read in both directions.
function sortProbes(collection: Listed, source: RowSource): Probe[] {
  return [...collection.sorts].map(([requested, order]) => ({
    name: `sort.${order.length > 2 || requested.includes(',') ? requested : requested.replace(/^-/, '')}`,
    requested: `sort=${requested}`,
    ordered: true,
    first: pageStatement(queryOf(collection, order, []), source),
    next: nextStatements(collection, source, order, [])
  }))
}

// The filters in the default order.
function filterProbes(collection: Listed, source: RowSource, order: readonly SortKey[]): Probe[] {
  const own = [...collection.filters].filter(([field]) => splitRelated(field, collection.relations) === undefined)
  return own.flatMap(([filter, operators]) => {
    // The planner combines the indexes of the fields.
    const anyOf = collection.any.get(filter)?.anyOf
    return operators.flatMap((operator) =>
      (anyOf ?? [filter])
        .flatMap((field) => conditionsOf(collection, field, operator))
        .map((condition) => {
          const deciding = decidingKeys(order, [condition])
          const ordered = operatorOf[operator].index === 'ordered' && anyOf === undefined
          return {
            name: `filter.${filter}[${operator}]`,
            requested: `${filterName(filter, operator)}=…`,
            ordered,
            first: pageStatement(queryOf(collection, deciding, [condition]), source),
            next: ordered ? nextStatements(collection, source, deciding, [condition]) : []
          }
        })
    )
  })
}

function queryOf(collection: Probed, order: readonly SortKey[], conditions: readonly Condition[]): ListQuery {
  return rowsOf(collection, order, [...conditions, ...deletionConditions(collection)])
}

function rowsOf({ name, id, fields, hasTenant }: Probed, order: readonly SortKey[], conditions: readonly Condition[]): ListQuery {
  const page = { perPage: 25, reverse: false, offset: 0, ranges: [{ equal: [] }], count: 'none' } as const
  return { name, id, conditions, order, fields: [id], kinds: kindsOf(fields), hasTenant, ...page }
}

// The rows that are removed when their time has passed.
function removalProbes(collection: Listed, source: RowSource): Probe[] {
  const { deleted, id, fields } = collection
  if (deleted?.keepDays === undefined) return []
  const before = { field: deleted.field, kind: 'date-time', operator: 'lt', value: middles['date-time'][0] } as const
  const first = pageStatement(rowsOf(collection, orderOf([deleted.field], id, fields), [before]), source)
  return [{ name: 'deleted.keepDays', requested: 'the removal of deleted rows', ordered: false, first, next: [] }]
}

// Continues after a row in the middle, and after rows in which a key is null, forward and backward.
function nextStatements(collection: Listed, source: RowSource, order: readonly SortKey[], conditions: readonly Condition[]): SqlText[] {
  if (collection.style === 'page') return []
  const middle: Key = order.map(({ field, kind }) => middleOf(kind, collection.fields.get(field)?.choices ?? []))
  const nulls = order.flatMap(({ nullable }, at) => (nullable ? [middle.map((value, index) => (index === at ? null : value))] : []))
  const query = queryOf(collection, order, conditions)
  return [false, true].flatMap((reverse) => {
    const reading = reverse ? opposite(order) : order
    return [middle, ...nulls].map((position) => pageStatement({ ...query, reverse, ranges: rangesFrom(reading, position, false) }, source))
  })
}

function conditionsOf({ fields }: Probed, field: string, operator: Operator): Condition[] {
  const { kind = 'string', choices = [] } = fields.get(field) ?? {}
  const { takes, index } = operatorOf[operator]
  if (index === 'none') return []
  // A term with a trigram.
  const value = operator === 'contains' ? 'mmm' : middleOf(kind, choices)
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
