import { type Operator, operators, type ValueKind } from '../operators.ts'
import type { Field } from './field.ts'

const equality = ['eq', 'ne', 'in', 'nin'] as const
const comparison = ['gt', 'gte', 'lt', 'lte'] as const

// Times have no equality: a filter by a whole second would match nothing, because the row has microseconds.
// Text has no comparison: its order depends on the collation of the database, which clients do not know.
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

/** Returns the operators that a field allows: the default operators, and `prefix` for text (rule Q6). */
export function operatorsOf({ kind, nullable }: Field): { readonly allowed: readonly Operator[]; readonly byDefault: readonly Operator[] } {
  if (kind === undefined) return { allowed: [], byDefault: [] }
  const byDefault = nullable ? [...defaults[kind], 'null' as const] : defaults[kind]
  return { allowed: sorted(kind === 'string' ? [...byDefault, 'prefix'] : byDefault), byDefault: sorted(byDefault) }
}

function sorted(wanted: readonly Operator[]) {
  return operators.filter((operator) => wanted.includes(operator))
}
