/** Returns the property names of a JSON Schema, including those in `allOf`, `anyOf` and `oneOf`. Does not follow references. */
export function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, allOf, anyOf, oneOf } = schema as Readonly<Record<string, unknown>>
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [...own, ...[allOf, anyOf, oneOf].flatMap((parts) => (Array.isArray(parts) ? parts.flatMap(propertyNames) : []))]
}
