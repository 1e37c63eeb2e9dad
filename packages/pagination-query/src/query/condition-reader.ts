import type { Parameter } from '../declaration/bound-collection.ts'
import type { Field } from '../declaration/field.ts'
import { maxListItems } from '../declaration/parameter-objects.ts'
import type { Condition } from '../list-query.ts'
import type { ValueKind } from '../operators.ts'
import { splitList } from './query-string.ts'
import { type Refusal, refusalOf } from './value-reader.ts'

type FilterParameter = Extract<Parameter, { role: 'filter' }>

/** Returns the condition for a filter, or the reason why its value is invalid. */
export function conditionOf({ field, operator, list }: FilterParameter, text: string): Condition | Refusal {
  const kind = field.kind as ValueKind
  if (list) {
    const value = readList(field, text)
    return Array.isArray(value) ? { field: field.name, kind, operator, value } : (value as Refusal)
  }
  const booleans = operator === 'null' || kind === 'boolean'
  const refusal = refusalOf(operator === 'null' ? { ...field, kind: 'boolean' } : field, text)
  if (refusal !== undefined) return refusal
  return { field: field.name, kind, operator, value: booleans ? text === 'true' : canonical(kind, text) }
}

function readList(field: Field, text: string): readonly string[] | Refusal {
  const items = splitList(text)
  if (items.length > maxListItems) return { key: 'tooManyItems', params: { max: maxListItems } }
  const values: string[] = []
  for (const item of items) {
    const refusal: Refusal | undefined = item === '' ? { key: 'emptyItem' } : refusalOf(field, item)
    if (refusal !== undefined) return refusal
    const value = canonical(field.kind as ValueKind, item)
    if (!values.includes(value)) values.push(value)
  }
  return values
}

// Databases compare UUIDs as numbers; in lower case, a comparison as text has the same result.
function canonical(kind: ValueKind, text: string) {
  return kind === 'uuid' ? text.toLowerCase() : text
}
