import { type Column, is } from 'drizzle-orm'
import { PgEnumColumn } from 'drizzle-orm/pg-core'
import { quoted } from './columns.ts'

// Numbers, times and booleans compare with the default types of values. A length or precision would truncate values.
const byDefault = /int|serial|numeric|boolean|date|time/

/** Returns the PostgreSQL type to which values are cast before they are compared with a column, or undefined for the default type of their kind. */
export function columnTypeOf(column: Column): string | undefined {
  if (is(column, PgEnumColumn))
    return quoted(column.enum.schema === undefined ? column.enum.enumName : `${column.enum.schema}.${column.enum.enumName}`)
  const type = column.getSQLType().replace(/ ?\(.*?\)/, '')
  if (byDefault.test(type)) return undefined
  return type === 'char' ? 'bpchar' : type
}
