/** The seconds of an option in milliseconds. Throws a `TypeError` of one line for what is no time above 0 and up to a day. */
export function milliseconds(name: string, seconds: number): number {
  const rounded = Math.round(seconds * 1000)
  if (typeof seconds !== 'number' || !(rounded >= 1 && rounded <= 86_400_000)) {
    throw new TypeError(`transport-security: ${name} is ${String(seconds)}. Give a number of seconds above 0, at most 86400.`)
  }
  return rounded
}
