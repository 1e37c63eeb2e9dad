import { isObject, type JsonSchema } from './json-schema.ts'

/**
 * Returns a copy of a JSON Schema for tools of draft 7, without its `$schema`: the tuples of draft 2020-12 (`prefixItems`), which such tools ignore,
 * become those of draft 7. For example, `z.toJSONSchema(schema)` returns draft 2020-12.
 */
export function draft7Of(schema: object): JsonSchema {
  const { $schema: _dialect, ...copy } = JSON.parse(JSON.stringify(schema), withDraft7Tuple) as JsonSchema
  return copy
}

function withDraft7Tuple(_key: string, node: unknown): unknown {
  if (!isObject(node) || !Array.isArray(node['prefixItems'])) return node
  const { prefixItems, items, ...others } = node
  return { ...others, items: prefixItems, ...(items !== undefined && { additionalItems: items }) }
}
