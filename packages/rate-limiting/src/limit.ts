import { optionChecks } from '@concordat/plugin-options'

/** A number of requests per window. */
export interface Limit {
  /** The maximum number of requests of a key in each window. At least 1. */
  readonly limit: number
  /**
   * The length of a window. From 1000 on it must be whole minutes, from an hour on whole hours, from a day on whole days, at most
   * 31 days: other values are most likely meant in milliseconds.
   */
  readonly windowSeconds: number
}

const { integer } = optionChecks('rate-limiting')

/** Returns the limit if it is valid. Throws a `TypeError` of one line that names the option at `path`. */
export function requireLimit(path: string, { limit, windowSeconds }: Limit): Limit {
  integer(`${path}.limit`, limit, 1, 1e9)
  integer(`${path}.windowSeconds`, windowSeconds, 1)
  if (windowSeconds % unitOf(windowSeconds) !== 0 || windowSeconds > 31 * 86_400) {
    throw new TypeError(
      `rate-limiting: ${path}.windowSeconds must be a whole number of minutes, hours or days in seconds, at most 31 days, but is ${windowSeconds}.`
    )
  }
  return { limit, windowSeconds }
}

function unitOf(seconds: number) {
  if (seconds < 1000) return 1
  if (seconds < 3600) return 60
  return seconds < 86_400 ? 3600 : 86_400
}
