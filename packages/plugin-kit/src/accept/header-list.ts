/** The maximum length of a header value in characters; a longer value counts as absent, which RFC 9110 §12.1 allows. */
export const maxHeaderLength = 2048

/** Returns the elements of a list header, split at commas outside quoted strings (RFC 9110 §5.6.1), in linear time. */
export function listElements(value: string): string[] {
  const elements: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < value.length; at++) {
    const character = value[at]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') at++
    else if (character === ',' && !quoted) {
      elements.push(value.slice(start, at))
      start = at + 1
    }
  }
  elements.push(value.slice(start))
  return elements
}

/** Returns the weight in a `q` parameter (RFC 9110 §12.4.2), at most 1: 1 if the parameter is missing, 0 if it is invalid. */
export function weightOf(q: string | undefined): number {
  if (q === undefined) return 1
  return /^(?:\d+\.?\d*|\.\d+)$/.test(q) ? Math.min(Number(q), 1) : 0
}

/** Returns a function that caches the results of a pure function for the 500 most recent arguments. The oldest is removed first. */
export function memoize<Result>(compute: (argument: string) => Result): (argument: string) => Result {
  const results = new Map<string, Result>()
  return (argument) => {
    const cached = results.get(argument)
    if (cached !== undefined || results.has(argument)) return cached as Result
    const result = compute(argument)
    if (results.size === 500) results.delete(results.keys().next().value as string)
    results.set(argument, result)
    return result
  }
}
