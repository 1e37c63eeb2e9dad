import { rangesFrom } from '../list/key-ranges.ts'
import type { Condition, Key, ListQuery, SortKey } from '../list/list-query.ts'
import { type Operator, operatorNames, operatorOf } from '../list/operators.ts'
import type { Page } from '../list/page.ts'
import { opposite, readingOrder } from '../list/sort-order.ts'
import type { ValueKind } from '../list/value-text.ts'
import type { RandomDraw } from './random-draw.ts'
import { nullableFields, type SampleField, type SampleRow, type SampleValues, sampleKinds } from './sample-rows.ts'

export type SampleQuery = ListQuery<SampleRow>

const fields = Object.keys(sampleKinds) as SampleField[]
const otherFields = fields.filter((field) => field !== 'id')

// What adapters compare although clients cannot.
const others: Readonly<Partial<Record<ValueKind, readonly Operator[]>>> = {
  string: ['gt', 'gte', 'lt', 'lte'],
  'date-time': ['eq', 'ne', 'in', 'nin']
}

/** The operators of each kind of value. `null` is apart, for the fields that can be null. */
function operatorsOf(kind: ValueKind): Operator[] {
  const own = operatorNames.filter((name) => operatorOf[name].kinds.includes(kind) && !operatorOf[name].needsNull)
  return [...own, ...(others[kind] ?? [])]
}

/** Returns the query for the whole sample in the order of the identifier, from the start. */
export function wholeSample(changes: Partial<SampleQuery> = {}): SampleQuery {
  const base: SampleQuery = {
    name: 'items',
    id: 'id',
    conditions: [],
    order: [sortKey('id', false)],
    fields,
    kinds: sampleKinds,
    perPage: 100,
    reverse: false,
    offset: 0,
    ranges: [{ equal: [] }],
    count: 'none'
  }
  return { ...base, ...changes }
}

export function sortKey(field: SampleField, descending: boolean): SortKey {
  return { field, kind: sampleKinds[field], nullable: nullableFields.includes(field), descending }
}

export function condition(field: SampleField, operator: Operator, value: Condition['value']): Condition {
  return { field, kind: sampleKinds[field], operator, value }
}

/** Returns a query with an order of one to five keys in mixed directions, some of the fields, and up to two conditions. */
export function randomQuery(draw: RandomDraw, values: SampleValues): SampleQuery {
  const keys = draw.some(otherFields, draw.below(5)).map((field) => sortKey(field, draw.chance(50)))
  const descending = draw.chance(80) ? (keys.at(-1)?.descending ?? draw.chance(50)) : draw.chance(50)
  return wholeSample({
    conditions: Array.from({ length: Math.max(0, draw.below(4) - 1) }, () => randomCondition(draw, values)),
    order: [...keys, sortKey('id', descending)],
    fields: ['id', ...draw.some(otherFields, draw.below(otherFields.length + 1))]
  })
}

function randomCondition(draw: RandomDraw, values: SampleValues): Condition {
  const field = draw.pick<keyof SampleValues>(otherFields)
  if (nullableFields.includes(field) && draw.chance(30)) return condition(field, 'null', draw.chance(50))
  // Only operators that match many rows, so that there are rows to walk.
  const operator = draw.pick(
    operatorsOf(sampleKinds[field]).filter((name) => operatorOf[name].index !== 'ordered' && !operatorOf[name].optIn)
  )
  return condition(field, operator, randomValue(draw, values, field, operator))
}

function randomValue(draw: RandomDraw, values: SampleValues, field: keyof SampleValues, operator: Operator): Condition['value'] {
  const possible = values[field].filter((value) => value !== null)
  if (sampleKinds[field] === 'boolean') return draw.pick(possible) as boolean
  const texts = possible.map(String)
  return operatorOf[operator].takes === 'list' ? draw.some(texts, 1 + draw.below(texts.length)) : draw.pick(texts)
}

/** Yields conditions that combine each field with each of its operators and with its sample values, or with the given ids for `id`. */
export function* everyCondition(ids: readonly string[], values: SampleValues): Generator<Condition> {
  for (const field of fields) {
    const kind = sampleKinds[field]
    const possible = field === 'id' ? ids : [...new Set(values[field])].filter((value) => value !== null)
    const texts = possible.map(String)
    for (const operator of operatorsOf(kind)) {
      if (operatorOf[operator].takes === 'list') yield* [condition(field, operator, texts.slice(0, 2)), condition(field, operator, texts)]
      else if (kind === 'boolean') yield* [condition(field, operator, true), condition(field, operator, false)]
      else yield* texts.map((value) => condition(field, operator, value))
    }
    if (nullableFields.includes(field)) yield* [condition(field, 'null', true), condition(field, 'null', false)]
  }
  for (const operator of operatorsOf('integer'))
    yield {
      field: 'number',
      anyOf: ['rating', 'views'],
      kind: 'integer',
      operator,
      value: operatorOf[operator].takes === 'list' ? ['3', '7'] : '3'
    }
}

/** Returns the query for the first page or, with `reverse`, the last page. */
export function pageAtEnd(query: SampleQuery, reverse: boolean): SampleQuery {
  return { ...query, reverse, ranges: [{ equal: [] }] }
}

/** Returns the query of a `next` or `prev` link: the rows beyond a position, with or without the row at the position. */
export function pageBeyond(query: SampleQuery, position: Key, reverse: boolean, inclusive: boolean): SampleQuery {
  const order = reverse ? opposite(query.order) : query.order
  return { ...query, reverse, ranges: rangesFrom(order, position, inclusive) }
}

/** Returns the key from which a walk continues in a direction, or undefined if the page has no rows. */
export function edgeOf(page: Page<object>, reverse: boolean): Key | undefined {
  return reverse ? page.first : page.last
}

/** Returns the description of a query for messages, with the order of reading such as `-price,createdAt,id`. */
export function describe(query: SampleQuery): string {
  const order = readingOrder(query).map(({ field, descending }) => `${descending ? '-' : ''}${field}`)
  return `order ${order.join(',')}; conditions ${JSON.stringify(query.conditions)}; ranges ${JSON.stringify(query.ranges)}; perPage ${query.perPage}`
}
