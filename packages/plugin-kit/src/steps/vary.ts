// A service has few different values, and each response needs one.
const merged = new Map<string, string>()
const maxMerged = 200

/**
 * Returns `Vary` with further names, such as `accept, accept-language`, after those that it has (RFC 9110 §12.5.5, rule N6): in lower case and without
 * duplicates, which is also the form that `@fastify/compress` checks for. `*` replaces all names.
 */
export function varyWith(current: string | number | readonly string[] | undefined, names: string): string {
  if (current === undefined) return names
  const text = `${String(current)}, ${names}`
  const known = merged.get(text)
  if (known !== undefined) return known
  if (merged.size === maxMerged) merged.clear()
  const vary = merge(text)
  merged.set(text, vary)
  return vary
}

function merge(text: string) {
  const names = text
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.includes('*') ? '*' : [...new Set(names)].join(', ')
}
