import { allowsNull, numberTypeOf } from '../declaration/field.ts'
import type { ItemMembers } from '../declaration/item-members.ts'
import { exactNumber } from './exact-numbers.ts'

/** The required and the nullable fields of a row, and the fields that are numbers. */
export interface RowRules {
  readonly required: ReadonlySet<string>
  readonly nullable: ReadonlySet<string>
  readonly numbers: ReadonlyMap<string, 'integer' | 'number'>
}

/** Returns the rules for rows that the response schema of a route declares. */
export function rowRules({ schemas, required }: ItemMembers): RowRules {
  const numbers = new Map<string, 'integer' | 'number'>()
  for (const [name, schema] of schemas) {
    const type = numberTypeOf(schema)
    if (type !== undefined) numbers.set(name, type)
  }
  return { required, nullable: new Set([...schemas].flatMap(([name, schema]) => (allowsNull(schema) ? [name] : []))), numbers }
}

/**
 * Returns the rows with only the requested fields and without nulls that the schema does not allow, which the serializer would write as `""` or
 * `0` (rule F3). Throws a `TypeError` for a row without a required field: the serializer cannot detect it, because it must accept projected rows.
 * Throws one too for a number that the serializer would round.
 */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[], { required, nullable, numbers }: RowRules): Row[] {
  return rows.map((row) => {
    const item: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined && value !== null) {
        const type = numbers.get(name)
        item[name] = type === undefined ? value : requireExact(name, type, value)
      } else if (value === null && nullable.has(name)) item[name] = value
      else if (required.has(name))
        throw new TypeError(
          `pagination-query: a row has ${String(value)} in "${name}", but the schema of the field requires a value. Return a value, or make the field optional.`
        )
    }
    return item as Row
  })
}

function requireExact(name: string, type: 'integer' | 'number', value: unknown): number | bigint {
  const exact = exactNumber(type, value)
  if (exact !== undefined) return exact
  throw new TypeError(
    `pagination-query: a row has ${String(value)} in "${name}", which is not exact as the JSON type "${type}". Declare the field as a string, with the format "${type === 'integer' ? 'int64' : 'decimal'}".`
  )
}
