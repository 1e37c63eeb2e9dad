type Written = (name: string, value: unknown, context: { readonly source: string }) => unknown
// In ECMAScript 2026, which the types of TypeScript lack.
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver: Written) => unknown
  readonly rawJSON: (text: string) => unknown
}

/**
 * Returns the value of a JSON text in which `JSON.stringify` writes each number with the digits that the text has: one that JavaScript would write
 * with others is the result of `JSON.rawJSON`. Throws a `SyntaxError` for a text that is not JSON.
 */
export function parseExactly(text: string): unknown {
  return parse(text, (_name, value, { source }) => (typeof value === 'number' && String(value) !== source ? rawJSON(source) : value))
}

/** Returns the JSON text of a value, in which a `bigint` is a number with all its digits. */
export function stringifyExactly(value: unknown): string {
  // Few values have a bigint, and a function that sees each member takes three times as long.
  try {
    return JSON.stringify(value)
  } catch {
    return JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? rawJSON(String(member)) : member))
  }
}

/**
 * Returns whether a number would have other digits after it was parsed: an integer that JavaScript writes differently, such as 9007199254740993.
 * Never true for a fraction or an exponent, which have the precision of a 64-bit floating-point number.
 */
export function losesDigits(digits: string): boolean {
  return digits.length > 15 && /^-?\d+$/.test(digits) && String(Number(digits)) !== digits
}
