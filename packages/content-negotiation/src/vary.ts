const byType = ['accept']
const byTypeAndLanguage = ['accept', 'accept-language']

/** A header value as Fastify and Node hand it back. */
export type HeaderValue = string | number | readonly string[] | undefined

/**
 * The union of what `Vary` says already and more header names, in lower case, each once, in the order of their arrival
 * (RFC 9110 §12.5.5, rule N6). `*` swallows everything.
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

/** The `Vary` of an answer whose type was negotiated, and whose language was too when it names one. */
export function negotiatedVary(current: HeaderValue, isLocalised: boolean): string {
  if (current !== undefined) return mergeVary(current, isLocalised ? byTypeAndLanguage : byType)
  return isLocalised ? 'accept, accept-language' : 'accept'
}
