import { isObject, type JsonSchema, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'
import type { OpenapiDocument } from '../document/document.ts'
import { mapSubschemas } from '../document/schema-parts.ts'

/** One of two documents. Schemas with the same id have the same meaning, also when they are in different documents. */
export interface Side {
  readonly document: OpenapiDocument
  readonly idOf: (schema: unknown) => number
}

const annotations = new Set(`title description $comment $schema $defs definitions deprecated example examples externalDocs xml`.split(' '))

/** Returns whether a keyword restricts no value. */
export function isAnnotation(keyword: string): boolean {
  return annotations.has(keyword) || keyword.startsWith('x-')
}

/** Returns the two documents with ids for their schemas. An id stands for the text of a schema without annotations and for what its references mean. */
export function sidesOf(was: OpenapiDocument, is: OpenapiDocument): readonly [Side, Side] {
  const ids = new Map<string, number>()
  const changed = changedReferences(was, is, identifier(ids))
  const side = (document: OpenapiDocument, name: string): Side => ({
    document,
    idOf: identifier(ids, (reference) => (changed.has(reference) ? `${name} ${reference}` : reference))
  })
  return [side(was, 'was'), side(is, 'is')]
}

/** Returns the schema that a local reference names, or undefined. */
export function resolve(document: OpenapiDocument, reference: unknown): unknown {
  return typeof reference === 'string' && reference.startsWith('#/') ? valueAt(document, splitReference(reference).pointer) : undefined
}

/** Returns a value as JSON in which the order of members does not matter. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, one) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).toSorted(([name], [other]) => (name < other ? -1 : 1))) : one
  )
}

function identifier(ids: Map<string, number>, nameOf = (reference: string) => reference) {
  const known = new WeakMap<JsonSchema, number>()
  return function idOf(schema: unknown): number {
    if (!isObject(schema)) return intern(schema === false ? 'false' : '{}')
    const id = known.get(schema) ?? intern(textOf(described(schema)))
    known.set(schema, id)
    return id

    function described(one: JsonSchema) {
      const words = Object.entries(mapSubschemas(one, (inner) => ({ id: idOf(inner) }))).filter(([keyword]) => !isAnnotation(keyword))
      return Object.fromEntries(
        words.map(([key, value]) => {
          if (isUnordered(key) && Array.isArray(value)) return [key, value.map(textOf).toSorted()]
          return [key, isReference(key, value) ? nameOf(value as string) : value]
        })
      )
    }
  }

  function intern(text: string) {
    const id = ids.get(text) ?? ids.size
    ids.set(text, id)
    return id
  }
}

// The order of alternatives means nothing.
function isUnordered(key: string) {
  return key === 'anyOf' || key === 'oneOf' || key === 'allOf'
}

function isReference(key: string, value: unknown) {
  return (key === '$ref' || key === '$dynamicRef') && typeof value === 'string'
}

// The references whose targets differ, or that lead to such a target.
function changedReferences(was: OpenapiDocument, is: OpenapiDocument, idOf: Side['idOf']): ReadonlySet<string> {
  const changed = new Set<string>()
  const users = new Map<string, string[]>()
  for (const reference of new Set([...referencesIn(was), ...referencesIn(is)])) {
    const [old, now] = [was, is].map((document) => targetOf(document, reference))
    if ((old === undefined) !== (now === undefined) || idOf(old) !== idOf(now)) changed.add(reference)
    for (const inner of referencesIn(old ?? null)) {
      const known = users.get(inner) ?? []
      known.push(reference)
      users.set(inner, known)
    }
  }
  // The loop also visits what it adds.
  for (const reference of changed) for (const user of users.get(reference) ?? []) changed.add(user)
  return changed
}

// Anchors are not resolved: their targets are equal when all schemas are.
function targetOf(document: OpenapiDocument, reference: string) {
  const isAnchor = reference.startsWith('#') && !reference.startsWith('#/')
  return isAnchor ? { properties: document.components?.schemas } : resolve(document, reference)
}

function referencesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  JSON.stringify(value, (key, one) => {
    if (isReference(key, one)) found.add(one)
    return one
  })
  return found
}
