/** A header value as Fastify and Node.js return it. */
type HeaderValue = string | number | readonly string[] | undefined

const withEncoding = 'accept-encoding'

/**
 * Returns the current value of `Vary` with `accept-encoding` added, each name once and in lower case, which is also the form that
 * `@fastify/compress` checks for (RFC 9110 §12.5.5). `*` replaces all names.
 */
export function varyByEncoding(current: HeaderValue): string {
  if (current === undefined) return withEncoding
  const text = String(current)
  const cached = merged.get(text)
  if (cached !== undefined) return cached
  if (merged.size === mostMerged) merged.clear()
  const vary = merge(text)
  merged.set(text, vary)
  return vary
}

// A cache: a service has few different values, and each response needs one.
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
