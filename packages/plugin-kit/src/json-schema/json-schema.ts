/** A JSON Schema, as an object with any members. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns whether a value is an object, and not an array or null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the reference tokens of a JSON pointer (RFC 6901): `/orders/a~1b` has the tokens `orders` and `a/b`. */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the JSON pointer (RFC 6901) of a path of names and indexes. */
export function pointerOf(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Returns the value at a JSON pointer in a document, or undefined if there is none. `''` is the whole document. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointerSteps(pointer).reduce<unknown>((value, step) => {
    const isContainer = typeof value === 'object' && value !== null
    return isContainer && Object.hasOwn(value, step) ? (value as Readonly<Record<string, unknown>>)[step] : undefined
  }, document)
}

/**
 * Splits a `$ref` such as `orders#/$defs/Order`, whose fragment is percent-encoded (RFC 6901 §6), into the `$id` of the document, `''` for the one
 * that contains the reference, and the JSON pointer.
 */
export function splitReference(reference: string): { readonly id: string; readonly pointer: string } {
  const [id = '', fragment = ''] = reference.split('#')
  try {
    return { id, pointer: decodeURIComponent(fragment) }
  } catch {
    // A fragment that nothing has encoded can contain any `%`.
    return { id, pointer: fragment }
  }
}

/**
 * Returns what a reference in a schema leads to within the schema: a JSON pointer, or the `$id` of a part, as in the modules of TypeBox. Returns
 * undefined for any other reference.
 */
export function targetWithin(document: JsonSchema, reference: string): unknown {
  const { id, pointer } = splitReference(reference)
  return valueAt(id === '' ? document : partWith(id, document), pointer)
}

function partWith($id: string, node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return undefined
  if ((node as JsonSchema)['$id'] === $id) return node
  for (const value of Object.values(node)) {
    const found = partWith($id, value)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The keyword that marks a schema as that of a secret, `'x-secret': true`. Its member of a response is shown once: it is not logged, and not stored
 * for the replay of an idempotency key, so it must be optional.
 */
export const secretKeyword = 'x-secret'

/** Returns the type of JSON that a value has; `number` for an integer too. */
export function typeOfJson(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
