import type { ListQuery } from '../list-query.ts'
import type { ValueKind } from '../operators.ts'
import { wholeDigits } from '../page/exact-numbers.ts'
import type { KeyedRow } from '../page/page.ts'
import { keyName, memberName } from './parts.ts'

/** Returns the rows of a result under their field names, each with its sort keys in a separate property. */
export function keyedRows<Row>(query: ListQuery<Row>, rows: readonly object[]): KeyedRow<Row>[] {
  return rows.map((row) => {
    const found = row as Record<string, unknown>
    return {
      row: Object.fromEntries(query.fields.map((field, index) => [field, valueOf(found[memberName(index)], query.kinds?.[field])])) as Row,
      key: query.order.map(({ kind }, index) => keyOf((found[keyName(index)] ?? null) as string | null, kind))
    }
  })
}

// A column of decimals or of floating-point numbers may contain only integers, with another form as text.
function keyOf(text: string | null, kind: ValueKind) {
  return kind === 'integer' && text !== null ? (wholeDigits(text) ?? text) : text
}

// PostgreSQL omits trailing zeros of a fraction. In responses, a time has three or six decimal places of a second.
function valueOf(value: unknown, kind: ValueKind | undefined): unknown {
  if (kind !== 'date-time' || typeof value !== 'string') return value
  return value.replace(/(:\d\d)(\.\d+)?Z$/, (_, seconds: string, fraction = '.') => {
    const digits = fraction.length > 4 ? 7 : 4
    return `${seconds}${fraction.padEnd(digits, '0')}Z`
  })
}
