import { allowsNull } from '../declaration/field.ts'
import type { ItemMembers } from '../declaration/item-members.ts'

/** Which members of a row must be there, and which may be null. */
export interface RowRules {
  readonly required: ReadonlySet<string>
  readonly nullable: ReadonlySet<string>
}

/** Reads the rules from the schema that a route answers with. */
export function rowRules({ schemas, required }: ItemMembers): RowRules {
  return { required, nullable: new Set([...schemas].flatMap(([name, schema]) => (allowsNull(schema) ? [name] : []))) }
}

/**
 * Keeps the members of rows that were asked for, and leaves out nulls that the schema does not allow: the serializer would write
 * them as `""` or `0` (rule F3). Throws a `TypeError` for a row without a member that it must have: the serializer can't tell,
 * because it has to let projected rows pass.
 */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[], { required, nullable }: RowRules): Row[] {
  return rows.map((row) => {
    const kept: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined && (value !== null || nullable.has(name))) kept[name] = value
      else if (required.has(name)) throw new TypeError(`A row has ${String(value)} in "${name}", which its schema requires.`)
    }
    return kept as Row
  })
}
