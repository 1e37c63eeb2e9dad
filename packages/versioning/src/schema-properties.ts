/** The names of the properties that a JSON Schema declares, through `allOf`, `anyOf` and `oneOf`. References are not followed. */
export function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, allOf, anyOf, oneOf } = schema as Readonly<Record<string, unknown>>
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [...own, ...[allOf, anyOf, oneOf].flatMap((parts) => (Array.isArray(parts) ? parts.flatMap(propertyNames) : []))]
}
