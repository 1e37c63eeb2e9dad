import { isObject, pointerOf, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'
import type { OpenapiDocument } from './document.ts'

/** A `$ref` that leads to nothing in the document, and the JSON pointer of the object that has it. */
interface LostReference {
  readonly reference: string
  readonly place: string
}

// Objects whose members have names that the author chose, for example a response "default" or a property "example".
const maps = new Set(
  'properties patternProperties dependentSchemas $defs definitions schemas responses parameters headers requestBodies paths webhooks callbacks content'.split(
    ' '
  )
)
// Values, which can contain anything.
const literals = new Set(['const', 'default', 'enum', 'example', 'examples'])

/** Returns the references of a document that do not lead to a place in it. */
export function lostReferences(document: OpenapiDocument): readonly LostReference[] {
  const lost: LostReference[] = []
  visit(document, '#', false)
  return lost

  function visit(node: unknown, place: string, isMap: boolean): void {
    if (typeof node !== 'object' || node === null) return
    const { $ref: reference } = node as { readonly $ref?: unknown }
    if (typeof reference === 'string' && !isMap && !leadsInto(document, reference)) lost.push({ reference, place })
    for (const [key, value] of Object.entries(node)) {
      if (!isMap && (literals.has(key) || key.startsWith('x-'))) continue
      visit(value, place + pointerOf([key]), !isMap && maps.has(key) && isObject(value))
    }
  }
}

function leadsInto(document: OpenapiDocument, reference: string) {
  const { id, pointer } = splitReference(reference)
  return id === '' && /^(?:\/|$)/.test(pointer) && valueAt(document, pointer) !== undefined
}

/** Throws a `TypeError` of one line if a reference of a document that this package made leads to nothing. */
export function requireReferences(document: OpenapiDocument, version: string): void {
  const [first] = lostReferences(document)
  if (first === undefined) return
  throw new TypeError(
    `openapi: the description of ${version} has the reference "${first.reference}" at ${first.place}, which leads to nothing. Define the schema under $defs of the schema that refers to it, or add it with app.addSchema() and refer to its $id.`
  )
}
