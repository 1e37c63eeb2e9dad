import type { SqlColumns } from '../declaration/sql-source.ts'
import { bound, type Fragment, fragment, raw } from '../list/fragment.ts'
import type { ValueKind } from '../list/value-text.ts'

/** Returns the SQL expression of a field. */
export function columnOf(columns: SqlColumns, field: string): Fragment {
  const column = ownOf(columns, field)
  if (typeof column === 'string') return raw(quoted(column))
  return raw(column?.sql === undefined ? quoted(snakeCase(field)) : `(${column.sql})`)
}

// A time with an offset. Without one, it comes from a column without a time zone, or is infinite.
const zoned = /[T ].*(?:Z|[+-][\d:]+)(?: BC)?$/i

/** Returns the SQL of a value that a column compares as its ORDER BY does: text in its type and collation, and numbers and times exactly. */
export function valueOf(column: Fragment, kind: ValueKind, value: string): Fragment {
  const item = itemOf(kind, value)
  // The type of CASE is `real` for a real column, `double precision` for such a column, and otherwise `numeric`. A comparison of a real number with
  // `numeric` would be wrong. The planner removes the CASE before it chooses an index.
  return kind === 'decimal' ? fragment`case when true then ${item} else ${column} end` : item
}

/** Returns the SQL of a value in a list of at least two, to which PostgreSQL gives a common type with the column. */
export function itemOf(kind: ValueKind, value: string): Fragment {
  // PostgreSQL gives a parameter without a type the type of the column.
  if (kind === 'string' || kind === 'enum' || kind === 'uuid') return bound(value)
  // Drivers would convert a time to a `Date`, and a number may be outside the type of the column.
  const text = fragment`${bound(value)}::text`
  if (kind === 'integer') return fragment`${text}::bigint`
  if (kind === 'date-time') return fragment`${text}::${raw(zoned.test(value) ? 'timestamptz' : 'timestamp')}`
  return fragment`${text}::${raw(kind === 'decimal' ? 'numeric' : kind)}`
}

/** Returns the SQL that converts a sort key to text, which gives the same value with any date style and time zone of the session. */
export function keyText(value: Fragment, kind: ValueKind): Fragment {
  return kind === 'date' || kind === 'date-time' ? fragment`trim('"' from to_json(${value})::text)` : fragment`${value}::text`
}

/** Returns the SQL that converts a value to its form in a response: dates and times are text, as long numbers are in any driver. */
export function resultText(value: Fragment, kind: ValueKind | undefined): Fragment {
  if (kind === 'date') return keyText(value, kind)
  if (kind !== 'date-time') return value
  const time = fragment`${value}::timestamptz`
  return fragment`trim('"' from to_json(${time} at time zone 'UTC')::text) || case when isfinite(${time}) then 'Z' else '' end`
}

/** Quotes a name as an identifier, each part between dots separately. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`
}

export function snakeCase(name: string): string {
  return /[A-Z-]/.test(name) ? name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`).replaceAll('-', '_') : name
}

// A field may have the name of a property that every object inherits.
function ownOf(columns: SqlColumns, field: string) {
  return Object.hasOwn(columns, field) ? columns[field] : undefined
}
