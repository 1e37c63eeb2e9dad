/** Returns the seconds of an option in milliseconds. Throws a `TypeError` unless they are above 0 and at most a day. */
export function milliseconds(name: string, seconds: number): number {
  const rounded = Math.round(seconds * 1000)
  if (typeof seconds !== 'number' || !(rounded >= 1 && rounded <= 86_400_000)) {
    throw new TypeError(`transport-security: options.${name} is ${String(seconds)}. It must be a number of seconds above 0, at most 86400.`)
  }
  return rounded
}
