import type { RowRules } from '../list/related.ts'
import { allowsNull, alternativesOf, dayFormatOf, isNull, numberTypeOf } from './field.ts'
import type { ItemMembers } from './item-members.ts'

/** Returns the rules for rows whose members a schema declares. */
export function rowRules({ schemas, required }: ItemMembers): RowRules {
  const numbers = new Map<string, 'integer' | 'number'>()
  const days = new Map<string, 'date' | 'date-time'>()
  for (const [name, schema] of schemas) {
    const type = numberTypeOf(schema)
    if (type !== undefined) numbers.set(name, type)
    const [format, ...others] = new Set(
      alternativesOf(schema)
        .filter((one) => !isNull(one))
        .map(dayFormatOf)
    )
    if (format !== undefined && others.length === 0) days.set(name, format)
  }
  return { required, nullable: new Set([...schemas].flatMap(([name, schema]) => (allowsNull(schema) ? [name] : []))), numbers, days }
}
