// PostgreSQL prints expressions in a canonical form, both in plans and in the definitions of indexes, so that they can be compared
// as text. These functions parse such a text; of its grammar, they only need quotes and brackets.

/** Splits a string at each separator that is outside quotes and brackets. */
export function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (const { index, depth } of outsideQuotes(text)) {
    if (depth !== 0 || index < start || !text.startsWith(separator, index)) continue
    parts.push(text.slice(start, index))
    start = index + separator.length
  }
  return [...parts, text.slice(start)]
}

/** Returns the text without parentheses that enclose all of it. */
export function unwrapped(text: string): string {
  const inner = text.trim()
  if (!inner.startsWith('(')) return inner
  const closing = [...outsideQuotes(inner)].find(({ index, depth }) => inner[index] === ')' && depth === 0)
  return closing?.index === inner.length - 1 ? unwrapped(inner.slice(1, -1)) : inner
}

/** Replaces the matches of a pattern outside string literals. Quoted identifiers are not strings, so matches in them are replaced too. */
export function replaceOutsideStrings(text: string, pattern: RegExp, replacement: string): string {
  return text
    .split(/('(?:[^']|'')*')/)
    .map((part, index) => (index % 2 === 0 ? part.replace(pattern, () => replacement) : part))
    .join('')
}

// The depth at a closing bracket is the depth outside it.
function* outsideQuotes(text: string) {
  let depth = 0
  let quote = ''
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] as string
    if (quote !== '') {
      if (character === quote) quote = ''
      continue
    }
    if (character === "'" || character === '"') quote = character
    if (character === ')' || character === ']') depth -= 1
    yield { index, depth }
    if (character === '(' || character === '[') depth += 1
  }
}
