// A template is a file of a project with everything. Comments mark what depends on a choice:
//
//   code // [auth]           the line stays if auth was chosen; `[not auth]`, `[jobs|webhooks]` and `[not jobs & not webhooks]` work likewise
//   // [zod] code            the line becomes code if zod was chosen, and disappears otherwise
//   // [auth] begin … end    the lines between the two marks
//   // [auth] file           on the first line: the whole file
//
// The marks of YAML and Dockerfiles begin with `#`, those of SQL with `--`, and those of Markdown are `<!-- [auth] begin -->`.

const condition = String.raw`\[([a-z& |]+)\]`
const opening = String.raw`(?:\/\/|#|--|<!--) `
const block = new RegExp(`^\\s*${opening}${condition} (begin|end|file)(?: -->)?$`)
const uncommented = new RegExp(`^(\\s*)${opening}${condition} (.*)$`)
const trailing = new RegExp(`^(.*?)\\s*${opening}${condition}(?: -->)?$`)

/** Returns the text without its marks and without what was not chosen, or `undefined` for a file that was not chosen. */
export function fill(text: string, chosen: ReadonlySet<string>): string | undefined {
  const lines: string[] = []
  let hidden: string | undefined
  for (const line of text.split('\n')) {
    const [, given = '', kind] = block.exec(line) ?? []
    if (kind === 'file' && !holds(given, chosen)) return undefined
    if (kind === 'begin' && hidden === undefined && !holds(given, chosen)) hidden = given
    if (kind === undefined) lines.push(hidden === undefined ? filledLine(line, chosen) : removed)
    if (kind === 'end' && hidden === given) hidden = undefined
  }
  return tidied(lines.join('\n'))
}

const removed = '\0'

function filledLine(line: string, chosen: ReadonlySet<string>) {
  const [, indent = '', when, code = ''] = uncommented.exec(line) ?? []
  if (when !== undefined) return holds(when, chosen) ? indent + code : removed
  const [, marked = '', given] = trailing.exec(line) ?? []
  if (given === undefined) return line
  return holds(given, chosen) ? marked : removed
}

function holds(expression: string, chosen: ReadonlySet<string>): boolean {
  if (expression.includes('&')) return expression.split('&').every((part) => holds(part, chosen))
  return expression.split('|').some((part) => {
    const name = part.trim()
    return name.startsWith('not ') ? !chosen.has(name.slice(4)) : chosen.has(name)
  })
}

// Lines that were left out may leave a comma before a bracket, an object of one member on three lines, and empty lines.
function tidied(text: string) {
  return text
    .replaceAll(/\{((?:\n\0)*)\n\s+([^\n{}\0]{1,60}?),?((?:\n\0)*)\n\s*\}(?=[,\n])/g, (whole, before, member, after) =>
      before + after === '' ? whole : `{ ${member} }`
    )
    .replaceAll(/\0\n/g, '')
    .replaceAll(/,(\n\s*[}\]])/g, '$1')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/\n\n(\s*[}\])])/g, '\n$1')
    .replace(/^\n+/, '')
}
