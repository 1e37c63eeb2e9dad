import { type Operator, operators, type ValueKind } from '../operators.ts'
import type { Field } from './field.ts'

const equality = ['eq', 'ne', 'in', 'nin'] as const
const comparison = ['gt', 'gte', 'lt', 'lte'] as const

// Times have no equality: who asks for a second gets nothing, because the row has microseconds.
// Text has no comparison: its order is that of the database's collation, which no client knows.
const defaults: Readonly<Record<ValueKind, readonly Operator[]>> = {
  string: equality,
  enum: equality,
  uuid: equality,
  integer: [...equality, ...comparison],
  decimal: [...equality, ...comparison],
  date: [...equality, ...comparison],
  'date-time': comparison,
  boolean: ['eq', 'ne']
}

/** The operators that a field may be filtered by: those that it gets by default, and `prefix` for text (rule Q6). */
export function operatorsOf({ kind, nullable }: Field): { readonly allowed: readonly Operator[]; readonly byDefault: readonly Operator[] } {
  if (kind === undefined) return { allowed: [], byDefault: [] }
  const byDefault = nullable ? [...defaults[kind], 'null' as const] : defaults[kind]
  return { allowed: sorted(kind === 'string' ? [...byDefault, 'prefix'] : byDefault), byDefault: sorted(byDefault) }
}

function sorted(wanted: readonly Operator[]) {
  return operators.filter((operator) => wanted.includes(operator))
}
