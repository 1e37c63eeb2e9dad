/** So many requests in so many seconds. */
export interface Limit {
  /** How many requests a key has in each window. At least 1. */
  readonly limit: number
  /**
   * How long a window lasts. From 1000 on it has to be whole minutes, from an hour on whole hours, from a day on whole days, at most
   * 31 days: what is none of these was most likely meant in milliseconds.
   */
  readonly windowSeconds: number
}

/** Answers the limit alone, or throws a `TypeError` with one line that begins with the limit's name. */
export function requireLimit(name: string, { limit, windowSeconds }: Limit): Limit {
  if (!Number.isInteger(limit) || limit < 1 || limit > 1e9) {
    throw new TypeError(`rate-limiting: ${name} has the limit ${limit}. Give a whole number of requests from 1 to 1000000000.`)
  }
  if (!Number.isInteger(windowSeconds) || windowSeconds < 1) {
    throw new TypeError(`rate-limiting: ${name} has the windowSeconds ${windowSeconds}. Give a whole number of seconds, 1 or more.`)
  }
  if (windowSeconds % unitOf(windowSeconds) !== 0 || windowSeconds > 31 * 86_400) {
    throw new TypeError(
      `rate-limiting: ${name} has the windowSeconds ${windowSeconds}. Give whole minutes, hours or days, at most 31 days; it is in seconds, not in milliseconds.`
    )
  }
  return { limit, windowSeconds }
}

function unitOf(seconds: number) {
  if (seconds < 1000) return 1
  if (seconds < 3600) return 60
  return seconds < 86_400 ? 3600 : 86_400
}
