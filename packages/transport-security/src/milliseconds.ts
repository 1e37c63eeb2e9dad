import { optionChecks } from '@concordat/plugin-options'

const { number } = optionChecks('transport-security')

/** Returns the seconds of an option in whole milliseconds. Throws a `TypeError` unless they are between a millisecond and a day. */
export function milliseconds(name: string, seconds: number): number {
  return Math.round(number(`options.${name}`, seconds, 0.001, 86_400) * 1000)
}
