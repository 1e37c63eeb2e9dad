import type { Condition, KeyRange, SortKey } from '../list/list-query.ts'
import { type Comparison, operatorOf } from '../list/operators.ts'
import type { ValueKind } from '../list/value-text.ts'
import { type PrismaField, readValue } from './values.ts'

/** A Prisma filter. */
export type Where = Readonly<Record<string, unknown>>

const comparisons = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' } as const

/** Returns the filter for a condition. `nullable` says whether the field can be null: Prisma rejects null for a required field. */
export function conditionFilter(field: PrismaField, { kind, operator, value }: Condition, nullable: boolean): Where {
  const texts = [value].flat().map(String)
  const [text = ''] = texts
  const { prisma } = operatorOf[operator]
  if (typeof prisma === 'function') return { [field.name]: prisma(text) }
  if (prisma === 'oneOf') return oneOf(field, kind, texts)
  if (prisma !== 'noneOf') return comparison(field, kind, prisma, text)
  const others = { NOT: oneOf(field, kind, texts) }
  return nullable ? { OR: [{ [field.name]: null }, others] } : others
}

/** Returns the filters for a range from `singleKeyRanges`. */
export function rangeFilters(fields: readonly PrismaField[], order: readonly SortKey[], range: KeyRange): Where[] {
  const { equal, beyond, isNull, notNull } = range
  const kindAt = (index: number) => (order[index] as SortKey).kind
  const filters = equal.map((value, index) => {
    const field = fields[index] as PrismaField
    return value === null ? { [field.name]: null } : oneOf(field, kindAt(index), [value])
  })
  const next = fields[equal.length]
  if (!next) return filters
  if (isNull) return [...filters, { [next.name]: null }]
  if (notNull) return [...filters, { [next.name]: { not: null } }]
  if (!beyond) return filters
  return [...filters, comparison(next, kindAt(equal.length), comparisons[beyond.operator], beyond.values[0] as string)]
}

/** Splits a range into ranges that each compare a single key, nearest first, because Prisma has no row values. */
export function singleKeyRanges(range: KeyRange): KeyRange[] {
  const { equal, beyond } = range
  if (!beyond) return [range]
  const last = beyond.values.length - 1
  const strict = beyond.operator.startsWith('>') ? '>' : '<'
  return beyond.values
    .map((value, index): KeyRange => {
      const operator = index === last ? beyond.operator : strict
      return { equal: [...equal, ...beyond.values.slice(0, index)], beyond: { operator, values: [value] } }
    })
    .toReversed()
}

function oneOf(field: PrismaField, kind: ValueKind, texts: readonly string[]): Where {
  const read = texts.map((text) => readValue(field, kind, text)).filter(({ is }) => is === 'exact')
  return among(
    field,
    read.map(({ value }) => value)
  )
}

// Prisma has no `in` for booleans, and ignores an empty OR inside an AND, so a contradiction represents an empty list.
function among({ name, type }: PrismaField, values: readonly unknown[]): Where {
  if (type !== 'Boolean') return { [name]: { in: values } }
  const either = values.map((value) => ({ [name]: value }))
  return either.length > 0 ? { OR: either } : { AND: [{ [name]: true }, { [name]: false }] }
}

function comparison(field: PrismaField, kind: ValueKind, operator: Comparison, text: string): Where {
  const { value, is } = readValue(field, kind, text)
  if (field.choices) return among(field, choicesBeyond(field, field.choices, operator, value))
  const up = operator === 'gt' || operator === 'gte'
  // A value above the next smaller value is above the exact value; any other value is below it.
  const operators = { exact: operator, smaller: up ? 'gt' : 'lte', larger: up ? 'gte' : 'lt' } as const
  return { [field.name]: { [operators[is]]: value } }
}

function choicesBeyond({ name }: PrismaField, choices: readonly unknown[], operator: Comparison, value: unknown) {
  const position = choices.indexOf(value)
  if (position === -1)
    throw new TypeError(`pagination-query: fields.${name}.choices does not contain "${String(value)}", a value in the database. Add it.`)
  if (operator === 'gt' || operator === 'gte') return choices.slice(operator === 'gte' ? position : position + 1)
  return choices.slice(0, operator === 'lte' ? position + 1 : position)
}
