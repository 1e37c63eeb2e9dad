import type { Field } from '../declaration/field.ts'
import type { Condition, SortKey } from '../list-query.ts'

/** Returns the name of a sort key without its direction. */
export function nameOfKey(key: string): string {
  return key.startsWith('-') ? key.slice(1) : key
}

/**
 * Returns the total order that sort keys define. It ends with the identifier, in the direction of the last key: without it, rows with equal keys
 * have no defined order, and pages lose or repeat them. Keys after the identifier have no effect and are dropped.
 */
export function orderOf(keys: readonly string[], id: string, fields: ReadonlyMap<string, Field>): readonly SortKey[] {
  const order: SortKey[] = []
  for (const key of keys) {
    order.push(sortKey(nameOfKey(key), key.startsWith('-')))
    if (nameOfKey(key) === id) return order
  }
  return [...order, sortKey(id, order.at(-1)?.descending ?? false)]

  function sortKey(name: string, descending: boolean): SortKey {
    const { kind, nullable } = fields.get(name) as Field & { kind: SortKey['kind'] }
    return { field: name, kind, nullable: nullable && name !== id, descending }
  }
}

/**
 * Returns the keys that decide the order of rows that meet the conditions. A key that a condition sets to a single value decides
 * nothing, and as the first key of a row comparison it would make a database filter all rows before a position instead of seeking it.
 */
export function decidingKeys(order: readonly SortKey[], conditions: readonly Condition[]): readonly SortKey[] {
  const equal = conditions.filter(({ operator }) => operator === 'eq')
  if (equal.length === 0) return order
  return order.filter((key, index) => index === order.length - 1 || !equal.some(({ field }) => field === key.field))
}

/** Returns the order with the direction of each key reversed. */
export function opposite(order: readonly SortKey[]): readonly SortKey[] {
  return order.map((key) => ({ ...key, descending: !key.descending }))
}
