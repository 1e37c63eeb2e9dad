/**
 * Returns whether an object in this JSON text, at any depth, has duplicate member names, which parsers handle differently (RFC 8259 §4).
 * The text must be valid JSON.
 */
export function hasDuplicateMembers(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  // In valid JSON, a string before a colon is a member name, and brackets outside of strings are structure.
  for (const [token, name] of text.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (name !== undefined) {
      const names = open.at(-1) as Set<string>
      const decoded = JSON.parse(name) as string
      if (names.has(decoded)) return true
      names.add(decoded)
    }
  }
  return false
}
