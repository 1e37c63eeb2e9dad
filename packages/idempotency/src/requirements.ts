/** Answers the value when it is a whole number in this range, else throws a `TypeError` with one line. */
export function requireWhole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new TypeError(`idempotency: ${name} is ${value}. Give a whole number from ${least} to ${most}.`)
}

/** Answers the value when it is one of these, else throws a `TypeError` with one line. */
export function requireOneOf<Choice extends string>(name: string, value: Choice, choices: readonly Choice[]): Choice {
  if (choices.includes(value)) return value
  throw new TypeError(`idempotency: ${name} is ${JSON.stringify(value)}. Give one of ${choices.join(', ')}.`)
}
