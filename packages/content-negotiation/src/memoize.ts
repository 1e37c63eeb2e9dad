const maxEntries = 500

/** Returns a function that caches the results of a pure function for the 500 most recent arguments. The oldest is removed first. */
export function memoize<Result>(compute: (argument: string) => Result): (argument: string) => Result {
  const results = new Map<string, Result>()
  return (argument) => {
    const cached = results.get(argument)
    if (cached !== undefined || results.has(argument)) return cached as Result
    const result = compute(argument)
    if (results.size === maxEntries) results.delete(results.keys().next().value as string)
    results.set(argument, result)
    return result
  }
}
