/** A JSON Schema, as an object with any members. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns whether a value is an object, and not an array or null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns whether a number would have other digits after it was parsed: an integer that JavaScript writes differently, such as 9007199254740993.
 * Never true for a fraction or an exponent, which have the precision of a 64-bit floating-point number.
 */
export function losesDigits(digits: string): boolean {
  return digits.length > 15 && /^-?\d+$/.test(digits) && String(Number(digits)) !== digits
}

/** Returns the reference tokens of a JSON pointer (RFC 6901): `/orders/a~1b` has the tokens `orders` and `a/b`. */
export function pointerSteps(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value at a JSON pointer in a document, or undefined if there is none. `''` is the whole document. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointerSteps(pointer).reduce<unknown>((value, step) => {
    const isContainer = typeof value === 'object' && value !== null
    return isContainer && Object.hasOwn(value, step) ? (value as Readonly<Record<string, unknown>>)[step] : undefined
  }, document)
}

/** A reference to a schema, split at its `#`. */
export interface SchemaReference {
  /** The `$id` of the referenced document; `''` for the document that contains the reference. */
  readonly id: string
  /** The JSON pointer in the referenced document, without percent-encoding. */
  readonly pointer: string
}

/** Splits a `$ref` such as `orders#/$defs/Order`, whose fragment is percent-encoded (RFC 6901 §6). */
export function splitReference(reference: string): SchemaReference {
  const [id = '', fragment = ''] = reference.split('#')
  return { id, pointer: decoded(fragment) }
}

// A fragment that nothing has encoded can contain any `%`.
function decoded(fragment: string) {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
