import { isObject, type JsonSchema, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'

/**
 * Returns the output of a schema without the members that its JSON Schema declares and the client did not send: the library added them, as
 * defaults. What a transform adds under another name stays. Items of lists are compared if a transform left their number the same.
 */
export function withoutUnsent(schema: JsonSchema, sent: unknown, output: unknown): unknown {
  return reduced([schema], sent, output)

  function reduced(places: readonly unknown[], before: unknown, after: unknown): unknown {
    if (before === after) return after
    const schemas = places.flatMap((place) => inPlace(place, new Set()))
    if (Array.isArray(before) && Array.isArray(after)) {
      if (before.length !== after.length) return after
      const items = schemas.flatMap((one) => [one['items'], one['additionalItems']].flat())
      return after.map((item, index) => reduced(items, before[index], item))
    }
    if (!isPlain(before) || !isPlain(after)) return after
    const remaining = Object.entries(after).filter(([name]) => Object.hasOwn(before, name) || !schemas.some((one) => declares(one, name)))
    const membersOf = (name: string) => schemas.map((one) => memberOf(one, name))
    return Object.fromEntries(remaining.map(([name, member]) => [name, reduced(membersOf(name), before[name], member)]))
  }

  // The schemas that apply to the same value.
  function inPlace(place: unknown, seen: Set<unknown>): readonly JsonSchema[] {
    if (!isObject(place) || seen.has(place)) return []
    seen.add(place)
    const { $ref: reference, allOf, anyOf, oneOf } = place
    const target = typeof reference === 'string' ? valueAt(schema, splitReference(reference).pointer) : undefined
    return [place, ...[allOf, anyOf, oneOf, target].flat().flatMap((part) => inPlace(part, seen))]
  }
}

function declares({ properties, propertyNames }: JsonSchema, name: string) {
  if (isObject(properties) && Object.hasOwn(properties, name)) return true
  return isObject(propertyNames) && Array.isArray(propertyNames['enum']) && propertyNames['enum'].includes(name)
}

function memberOf({ properties, additionalProperties }: JsonSchema, name: string) {
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
