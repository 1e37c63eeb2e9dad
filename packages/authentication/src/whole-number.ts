/** Returns the value of an option that is a whole number. Throws a `TypeError` of one line for other values. */
export function wholeNumber(name: string, value: number, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new TypeError(`authentication: options.${name} must be a whole number from ${least} to ${most}. Received ${String(value)}.`)
  }
  return value
}
