/**
 * Returns the `RateLimit` field of a batch after its operations: each of its limits as the last operation that counted against it reports it
 * (draft-ietf-httpapi-ratelimit-headers §4). The field of a batch is written before its operations are counted.
 */
export function rateLimitAfter(before: string, operations: readonly string[]): string {
  const after = limitsOf(before).map((limit) => {
    const name = limit.slice(0, limit.indexOf(';') + 1)
    const last = operations.findLast((field) => field.includes(name))
    return last === undefined ? limit : limitsOf(last).find((later) => later.startsWith(name))
  })
  return after.join(', ')
}

function limitsOf(field: string) {
  return field.split(/, */)
}
