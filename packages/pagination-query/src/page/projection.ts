import { allowsNull } from '../declaration/field.ts'
import type { ItemMembers } from '../declaration/item-members.ts'

/** The required and the nullable fields of a row. */
export interface RowRules {
  readonly required: ReadonlySet<string>
  readonly nullable: ReadonlySet<string>
}

/** Returns the required and the nullable fields that the response schema of a route declares. */
export function rowRules({ schemas, required }: ItemMembers): RowRules {
  return { required, nullable: new Set([...schemas].flatMap(([name, schema]) => (allowsNull(schema) ? [name] : []))) }
}

/**
 * Returns the rows with only the requested fields and without nulls that the schema does not allow, which the serializer would write as `""` or
 * `0` (rule F3). Throws a `TypeError` for a row without a required field: the serializer cannot detect it, because it must accept projected rows.
 */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[], { required, nullable }: RowRules): Row[] {
  return rows.map((row) => {
    const kept: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined && (value !== null || nullable.has(name))) kept[name] = value
      else if (required.has(name))
        throw new TypeError(
          `pagination-query: a row has ${String(value)} in "${name}", but the schema of the field requires a value. Return a value, or make the field optional.`
        )
    }
    return kept as Row
  })
}
