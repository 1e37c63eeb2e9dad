/** A header value as Fastify and Node hand it back. */
type HeaderValue = string | number | readonly string[] | undefined

const withEncoding = 'accept-encoding'

/**
 * What `Vary` says already together with `accept-encoding`, each name once and in lower case, which is also what `@fastify/compress` looks
 * for (RFC 9110 §12.5.5). `*` swallows everything.
 */
export function varyByEncoding(current: HeaderValue): string {
  if (current === undefined) return withEncoding
  const text = String(current)
  const known = merged.get(text)
  if (known !== undefined) return known
  if (merged.size === mostMerged) merged.clear()
  const vary = merge(text)
  merged.set(text, vary)
  return vary
}

// A service has few of them, and each answer asks.
const merged = new Map<string, string>()
const mostMerged = 100

function merge(current: string) {
  const names = `${current},${withEncoding}`
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.includes('*') ? '*' : [...new Set(names)].join(', ')
}
