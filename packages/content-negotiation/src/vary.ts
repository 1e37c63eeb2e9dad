/**
 * Returns `Vary` with `accept`, and with `accept-language` if the response is localized, after the names that it has (RFC 9110 §12.5.5, rule N6), in
 * lower case and without duplicates.
 */
export function negotiatedVary(current: string | number | readonly string[] | undefined, isLocalized: boolean): string {
  const added = isLocalized ? 'accept, accept-language' : 'accept'
  if (current === undefined) return added
  const names = [current, added]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return names.includes('*') ? '*' : [...new Set(names)].filter((name) => name !== '').join(', ')
}
