import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { Relation, Relations } from '../list/related.ts'
import { dereferenceWithin, membersOf } from './item-members.ts'
import { projectedItem } from './list-response.ts'

/** Returns the schema of a resource of which only some fields are certain, with its relations. `addSchema` returns a reference to a schema of its own. */
export function withRelations(projected: JsonSchema, relations: Relations, addSchema: (schema: JsonSchema) => JsonSchema): JsonSchema {
  if (relations.size === 0) return projected
  const own = projected['properties'] as Readonly<Record<string, JsonSchema>>
  const embedded = [...relations].map(([name, relation]) => [name, embeddedSchema(relation, addSchema)] as const)
  return { ...projected, properties: { ...own, ...Object.fromEntries(embedded) } }
}

function embeddedSchema({ target: { item, id }, many }: Relation, addSchema: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const members = membersOf(item, dereferenceWithin(item))
  const { $id: _id, ...row } = projectedItem(item, members, id)
  // References within the schema of the target must stay within it.
  const target = JSON.stringify(row).includes('"$ref":"#') ? addSchema(row) : row
  if (many === undefined)
    return { description: 'Null if there is none, or none that the client may see.', anyOf: [target, { type: 'null' }] }
  const items = { type: 'array', items: target, maxItems: many.max }
  return { type: 'object', required: ['items', 'more'], properties: { items, more: { type: 'boolean' } } }
}
