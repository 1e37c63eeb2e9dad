// Names that the file uses, and those that TypeScript reserves.
const reserved =
  'Api CallOptions int64Json Events Operations GetOperations PostOperations PutOperations PatchOperations DeleteOperations api Blob FormData URLSearchParams ReadableStream ArrayBuffer Uint8Array Record any as async await bigint boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface intrinsic is keyof let module namespace never new null number object of package private protected public readonly require return set static string super switch symbol this throw true try type typeof undefined unique unknown var void while with yield'

/** Gives each component a name of its own. */
export class Names {
  readonly #taken = new Set(reserved.split(' '))

  /** Returns the text as a name that no other component, no part of the file and no word of the language has. */
  of(text: string): string {
    let name = text.replaceAll(/[^\p{ID_Continue}$]+/gu, '_').replace(/^(?![\p{ID_Start}_$])/u, '_')
    while (this.#taken.has(name)) name += '_'
    this.#taken.add(name)
    return name
  }
}

/** Returns a JSON value as a type. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  return Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : 'unknown'
}

/** Returns a text in single quotes. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return inner.includes("'") && !inner.includes('"') ? `"${inner}"` : `'${inner.replaceAll("'", "\\'")}'`
}

/** Returns a name of a member, in quotes where it needs them. */
export function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

/** Returns the first line of a text as a comment with its line break, or nothing. */
export function comment(text: string | undefined, indent: string): string {
  const line = text?.trim().split('\n', 1)[0]?.trim()
  return line === undefined || line === '' ? '' : `${indent}/** ${line.replaceAll('*/', '*\\/')} */\n`
}

const maxLine = 140

/** Returns alternatives, each once. Long ones have a line each. */
export function union(parts: readonly string[], indent = ''): string {
  const single = [...new Set(parts)]
  if (single.includes('unknown')) return 'unknown'
  const line = single.join(' | ')
  if (line.length + indent.length < maxLine - 40 || single.length === 1) return line || 'never'
  return single.map((part) => `\n${indent}  | ${part}`).join('')
}

/** Returns a type that can be followed by `[]` or combined with `&`. */
export function grouped(text: string): string {
  return isCombined(text) ? `(${text.trimStart().replace(/^\|\s*/, '')})` : text
}

// Whether a | or & is outside of brackets, quotes and comments.
function isCombined(text: string) {
  let depth = 0
  for (const [token] of text.matchAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\/\*.*?\*\/|[{[(]|[}\])]|[|&]/gs)) {
    if ('{[('.includes(token)) depth += 1
    else if ('}])'.includes(token)) depth -= 1
    else if (depth === 0 && (token === '|' || token === '&')) return true
  }
  return false
}
