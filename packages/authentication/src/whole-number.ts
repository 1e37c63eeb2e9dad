/** A whole number of an option. Throws a `TypeError` of one line for what lies outside the bounds. */
export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new TypeError(`authentication: ${name} is ${String(value)}. Give a whole number from ${least} to ${most}.`)
  }
  return value
}
