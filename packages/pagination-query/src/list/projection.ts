import { hasDateYear } from '@concordat/plugin-kit/json-schema'
import { exactNumber } from './exact-number.ts'
import type { RowRules } from './related.ts'

/** What the rows of a collection must have. */
interface RuledRows {
  readonly name: string
  readonly id: string
  readonly rowRules: RowRules
}

// The serializer would write nulls as `""` or `0` (rule F3). It cannot detect a missing field, because it must accept projected rows.
/**
 * Returns the rows with only the requested fields and without nulls that the schema does not allow. Throws a `TypeError` for a row without a required
 * field, and for a value that its JSON type or its format cannot express.
 */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[], collection: RuledRows): Row[] {
  const { required, nullable, numbers, days } = collection.rowRules
  return rows.map((row) => {
    const item: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined && value !== null) {
        const type = numbers.get(name)
        item[name] = type === undefined ? value : requireExact(name, type, value)
        const format = days.get(name)
        if (format !== undefined && typeof value === 'string' && !hasDateYear(value))
          throw inexpressible(collection, row, name, value, format)
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

function inexpressible({ name: collection, id }: RuledRows, row: unknown, name: string, value: string, format: string) {
  const identity = String((row as Record<string, unknown>)[id])
  return new TypeError(
    `pagination-query: the row of "${collection}" with ${id} "${identity}" has ${value} in "${name}", which the format "${format}" cannot express. Correct the row, select another value with columns, or declare the field without the format.`
  )
}
