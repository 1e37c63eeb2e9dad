import { isObject, type JsonSchema } from './json-schema.ts'

/**
 * Returns a copy of a JSON Schema for tools of draft 7, without its `$schema`: the tuples of draft 2020-12 (`prefixItems`), which such tools ignore,
 * become those of draft 7. For example, `z.toJSONSchema(schema)` returns draft 2020-12.
 */
export function draft7Of(schema: object): JsonSchema {
  const { $schema: _dialect, ...copy } = JSON.parse(JSON.stringify(schema), withDraft7Tuple) as JsonSchema
  return copy
}

/**
 * Returns those of the shared schemas to which a schema can refer, by `$id`, as {@link draft7Of} returns them: all except those whose `$id` a part of
 * the schema has itself.
 */
export function sharedFor(schema: object, shared: readonly object[]): Readonly<Record<string, JsonSchema>> {
  const text = JSON.stringify(schema)
  const others = shared.map(draft7Of).flatMap((one) => {
    const { $id } = one
    return typeof $id === 'string' && !text.includes(`"$id":${JSON.stringify($id)}`) ? [[$id, one]] : []
  })
  return Object.fromEntries(others)
}

function withDraft7Tuple(_key: string, node: unknown): unknown {
  if (!isObject(node) || !Array.isArray(node['prefixItems'])) return node
  const { prefixItems, items, ...others } = node
  return { ...others, items: prefixItems, ...(items !== undefined && { additionalItems: items }) }
}
