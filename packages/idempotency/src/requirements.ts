/** Returns the value when it is an integer in this range; throws a `TypeError` that names the option otherwise. */
export function requireWhole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError(`idempotency: ${name} must be an integer from ${least} to ${most}, but is ${value}.`)
}

/** Returns the value when it is one of the choices; throws a `TypeError` that names the option otherwise. */
export function requireOneOf<Choice extends string>(name: string, value: Choice, choices: readonly Choice[]): Choice {
  if (choices.includes(value)) return value
  throw new TypeError(`idempotency: ${name} must be one of ${choices.join(', ')}, but is ${JSON.stringify(value)}.`)
}
