const byType = ['accept']
const byTypeAndLanguage = ['accept', 'accept-language']

/** A header value as Fastify and Node.js return it. */
export type HeaderValue = string | number | readonly string[] | undefined

/**
 * Returns the union of the current `Vary` and more header names, in lower case, without duplicates, in the order in which they were added
 * (RFC 9110 §12.5.5, rule N6). If one of them is `*`, the result is `*`.
 */
export function mergeVary(current: HeaderValue, names: readonly string[]): string {
  const all = [current ?? [], names]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return all.includes('*') ? '*' : [...new Set(all)].filter((name) => name !== '').join(', ')
}

/** Returns the `Vary` value of a response whose media type was negotiated, and whose language was negotiated too if `isLocalised`. */
export function negotiatedVary(current: HeaderValue, isLocalised: boolean): string {
  if (current !== undefined) return mergeVary(current, isLocalised ? byTypeAndLanguage : byType)
  return isLocalised ? 'accept, accept-language' : 'accept'
}
