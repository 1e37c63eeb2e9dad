/** A header value as Fastify and Node hand it back. */
type HeaderValue = string | number | readonly string[] | undefined

const withEncoding = 'accept-encoding'

/**
 * What `Vary` says already together with `accept-encoding`, each name once and in lower case, which is also what `@fastify/compress` looks
 * for (RFC 9110 §12.5.5). `*` swallows everything.
 */
export function varyByEncoding(current: HeaderValue): string {
  if (current === undefined) return withEncoding
  const names = [current, withEncoding]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.includes('*') ? '*' : [...new Set(names)].join(', ')
}
