import type { ValueKind } from '../operators.ts'
import { bound, type Fragment, fragment, raw } from './fragment.ts'

/** Where PostgreSQL has a member. */
export interface SqlColumn {
  /** An expression, used as it is everywhere: answered, filtered and sorted by. @default the member's name in snake_case */
  readonly sql?: string | Fragment | undefined
  /**
   * The type that values are compared as. Give the column's own where it is none of the defaults, such as the name of an enum,
   * `text` for an identifier in a text column, or `real`: a comparison of different types may find no index, or not be equal.
   */
  readonly type?: string | undefined
}

/** The columns of members: a name, with the table's before a dot where there are several, or an expression. */
export type SqlColumns = Readonly<Record<string, string | SqlColumn>>

const typeOf: Readonly<Record<ValueKind, string>> = {
  string: 'text',
  enum: 'text',
  uuid: 'uuid',
  integer: 'bigint',
  decimal: 'numeric',
  boolean: 'boolean',
  date: 'date',
  'date-time': 'timestamptz'
}

/** The expression of a member. */
export function columnOf(columns: SqlColumns, field: string): Fragment {
  const column = ownOf(columns, field)
  if (typeof column === 'string') return raw(quoted(column))
  if (typeof column?.sql === 'object') return column.sql
  return raw(column?.sql === undefined ? quoted(snakeCase(field)) : `(${column.sql})`)
}

/** A value to compare a member with. Bound as text and converted by PostgreSQL, so that no driver makes a `Date` of it. */
export function valueOf(columns: SqlColumns, field: string, kind: ValueKind, value: string): Fragment {
  const column = ownOf(columns, field)
  const type = (typeof column === 'object' && column.type) || typeOf[kind]
  return fragment`${bound(value)}::text::${raw(type)}`
}

/**
 * The text of a sort key, which gives the same value when it is bound again, whatever the session's style of dates is. Times have
 * all their digits and the offset of their zone.
 */
export function keyText(value: Fragment, kind: ValueKind): Fragment {
  if (kind === 'date') return fragment`trim('"' from to_json(${value})::text)`
  return kind === 'date-time' ? fragment`trim('"' from to_json(${value}::timestamptz)::text)` : fragment`${value}::text`
}

/** What a client reads. Drivers give numbers of many digits as text, but make a `Date` of dates and times; these are text here. */
export function answerText(value: Fragment, kind: ValueKind | undefined): Fragment {
  if (kind === 'date') return keyText(value, kind)
  if (kind !== 'date-time') return value
  const time = fragment`${value}::timestamptz`
  return fragment`trim('"' from to_json(${time} at time zone 'UTC')::text) || case when isfinite(${time}) then 'Z' else '' end`
}

/** A name as an identifier, each part between dots on its own. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`
}

export function snakeCase(name: string): string {
  return /[A-Z-]/.test(name) ? name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`).replaceAll('-', '_') : name
}

// A member may be called like something that every object inherits.
function ownOf(columns: SqlColumns, field: string) {
  return Object.hasOwn(columns, field) ? columns[field] : undefined
}
