import { type Column, is } from 'drizzle-orm'
import { PgEnumColumn } from 'drizzle-orm/pg-core'
import { quoted } from './columns.ts'

// Numbers, times and booleans compare with the types that values have by default; a length or precision would cut values.
const byDefault = /int|serial|numeric|boolean|date|time/

/** The type that values are compared as with a column; undefined for that of their kind. */
export function columnTypeOf(column: Column): string | undefined {
  if (is(column, PgEnumColumn))
    return quoted(column.enum.schema === undefined ? column.enum.enumName : `${column.enum.schema}.${column.enum.enumName}`)
  const type = column.getSQLType().replace(/ ?\(.*?\)/, '')
  if (byDefault.test(type)) return undefined
  return type === 'char' ? 'bpchar' : type
}
