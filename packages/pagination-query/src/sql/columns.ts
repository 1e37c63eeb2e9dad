import { type OptionNames } from '@concordat/plugin-options'
import type { ValueKind } from '../operators.ts'
import { bound, type Fragment, fragment, raw } from './fragment.ts'

/** The column of a field in PostgreSQL. */
interface SqlColumn {
  /** An expression, used unchanged to select, filter and sort. @default the field's name in snake_case */
  readonly sql?: string | Fragment | undefined
  /**
   * The PostgreSQL type to which values are cast before they are compared with the column. Set the type of the column if it is not the default for
   * the kind: the name of an enum, `text` for an identifier in a text column, or `real`. A comparison of different types may not use an index, or
   * may not be equal.
   */
  readonly type?: string | undefined
}

/** The columns of fields, by field name: each is a column name, qualified with the table name if there are several tables, or an expression. */
export type SqlColumns = Readonly<Record<string, string | SqlColumn>>

/** The names in {@link SqlColumns}. */
export const columnNames: OptionNames<SqlColumns> = { '*': { sql: true, type: true } }

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

/** Returns the SQL expression of a field. */
export function columnOf(columns: SqlColumns, field: string): Fragment {
  const column = ownOf(columns, field)
  if (typeof column === 'string') return raw(quoted(column))
  if (typeof column?.sql === 'object') return column.sql
  return raw(column?.sql === undefined ? quoted(snakeCase(field)) : `(${column.sql})`)
}

/**
 * Returns the SQL of a value that is compared with a field. It is bound as text and PostgreSQL converts it, so that no driver turns it into a
 * `Date`.
 */
export function valueOf(columns: SqlColumns, field: string, kind: ValueKind, value: string): Fragment {
  const column = ownOf(columns, field)
  const type = (typeof column === 'object' && column.type) || typeOf[kind]
  return fragment`${bound(value)}::text::${raw(type)}`
}

/**
 * Returns the SQL that converts a sort key to text. Bound again, it gives the same value with any date style of the session. Times have all their
 * digits and the offset of their time zone.
 */
export function keyText(value: Fragment, kind: ValueKind): Fragment {
  if (kind === 'date') return fragment`trim('"' from to_json(${value})::text)`
  return kind === 'date-time' ? fragment`trim('"' from to_json(${value}::timestamptz)::text)` : fragment`${value}::text`
}

/**
 * Returns the SQL that converts a value to its form in a response. Drivers return long numbers as text, but dates and times as a `Date`; here they
 * are text too.
 */
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
