import { targetWithoutSecrets } from '@concordat/plugin-kit/links'
import { type Operator, operatorNames } from '../list/operators.ts'
import type { Relations } from '../list/related.ts'
import { type Field, filterFieldOf } from './field.ts'
import { reservedNames } from './rules.ts'

/** A filter that a row meets if any of several fields meets it. */
export interface AnyOfFilter {
  /** What its parameter accepts, under the name of the filter. */
  readonly field: Field
  readonly anyOf: readonly string[]
  /** The operators that each of the fields has. */
  readonly operators: readonly Operator[]
}

/** The filters over several fields, by name. */
export type AnyOfFilters = ReadonlyMap<string, AnyOfFilter>

interface Filtered {
  readonly fields: ReadonlyMap<string, Field>
  readonly any: AnyOfFilters
  readonly relations: Relations
}

/** Returns what a declared filter accepts: the field, also of a relation, or that of a filter over several fields. */
export function filterField({ fields, any, relations }: Filtered, name: string): Field {
  return any.get(name)?.field ?? (filterFieldOf(name, fields, relations) as Field)
}

/** Reads the declared filters over several fields. Throws a `TypeError` of one line for the first error. */
export function anyOfFilters(
  collection: string,
  fields: ReadonlyMap<string, Field>,
  filters: ReadonlyMap<string, readonly Operator[]>,
  declared: Readonly<Record<string, readonly string[]>>
): AnyOfFilters {
  return new Map(Object.entries(declared).map(([name, anyOf]) => [name, anyOfFilter(name, anyOf)]))

  function anyOfFilter(name: string, anyOf: readonly string[]): AnyOfFilter {
    const where = `pagination-query: collection "${collection}": any.${name}`
    requireName(where, name)
    if (!Array.isArray(anyOf) || anyOf.length < 2 || new Set(anyOf).size < anyOf.length)
      throw new TypeError(`${where} must list two or more different fields.`)
    const unfiltered = anyOf.find((field) => !filters.has(field))
    if (unfiltered !== undefined)
      throw new TypeError(`${where} contains "${unfiltered}", which has no filter. Add its operators to filter.`)
    const related = anyOf.find((field) => !fields.has(field))
    if (related !== undefined) throw new TypeError(`${where} contains "${related}", which is a field of a relation. Remove it.`)
    const found = anyOf.map((field) => fields.get(field) as Field)
    const [first] = found as [Field]
    const kinds = new Set(found.map(({ kind }) => kind))
    if (kinds.size > 1 || first.kind === 'enum')
      throw new TypeError(`${where} has fields of the kinds ${[...kinds].join(' and ')}. All must have the same kind, and not enum.`)
    const operators = operatorNames.filter((operator) => anyOf.every((field) => filters.get(field)?.includes(operator)))
    if (operators.length === 0)
      throw new TypeError(`${where} has fields without a common operator. Add one, for example contains, to filter for each of them.`)
    const lengths = found.map(({ maxLength = Number.POSITIVE_INFINITY }) => maxLength)
    const maxLength = Math.max(...lengths)
    const field = { ...first, name, maxLength: Number.isFinite(maxLength) ? maxLength : undefined }
    return { field, anyOf, operators }
  }

  function requireName(where: string, name: string) {
    if (!/^[a-zA-Z]\w*$/.test(name) || reservedNames.has(name) || fields.has(name))
      throw new TypeError(`${where} has an invalid name. Use letters and digits, and not the name of a field or of another parameter.`)
    // As for filters of a field, links omit parameters that look like credentials.
    if (!targetWithoutSecrets(`/?${name}=x`, new Set([name])).includes('='))
      throw new TypeError(`${where} looks like the name of a credential, which links omit. Rename it.`)
  }
}
