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
    if (kind !== undefined && lines.length > 0) lines.push(lines.pop() + marked)
    if (kind === undefined) lines.push(hidden === undefined ? filledLine(line, chosen) : removed)
    if (kind === 'end' && hidden === given) hidden = undefined
  }
  return tidied(lines.join('\n'))
}

const removed = '\0'
// At the end of a line that had a mark.
const marked = '\uE000'
const maxWidth = 140

function filledLine(line: string, chosen: ReadonlySet<string>) {
  const [, indent = '', when, text = ''] = uncommented.exec(line) ?? []
  if (when !== undefined) return holds(when, chosen) ? indent + text + marked : removed
  const [, code = '', given] = trailing.exec(line) ?? []
  if (given === undefined) return line
  return holds(given, chosen) ? code + marked : removed
}

function holds(expression: string, chosen: ReadonlySet<string>): boolean {
  if (expression.includes('&')) return expression.split('&').every((part) => holds(part, chosen))
  return expression.split('|').some((part) => {
    const name = part.trim()
    return name.startsWith('not ') ? !chosen.has(name.slice(4)) : chosen.has(name)
  })
}

// Lines that were left out may leave a comma before a bracket, lists and objects on more lines than they need, and empty lines.
function tidied(text: string) {
  return text
    .replaceAll(/^( *)(.*\[)\uE000?\n((?:\1 {2}\S.*\n|\0\uE000?\n)+)\1(\].*)$/gm, onOneLine)
    .replaceAll(marked, '')
    .replaceAll(/\{((?:\n\0)*)\n\s+([^\n{}\0]{1,60}?),?((?:\n\0)*)\n\s*\}(?=[,\n])/g, (whole, before, member, after) =>
      before + after === '' ? whole : `{ ${member} }`
    )
    .replaceAll(/\0\n/g, '')
    .replaceAll(/,(\n\s*[}\]])/g, '$1')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/\n\n(\s*[}\])])/g, '\n$1')
    .replace(/^\n+/, '')
    .replace(/\n*$/, '\n')
}

// A list that had a mark, and has neither comments nor nested lists now.
function onOneLine(whole: string, indent: string, head: string, body: string, tail: string) {
  const items = body.replaceAll(/\0|\uE000/g, '').split('\n')
  const line = `${indent}${head}${items
    .map((item) => item.trim())
    .filter(Boolean)
    .join(' ')
    .replace(/,$/, '')}${tail}`
  const isPlain = whole.includes(removed) || whole.includes(marked)
  return isPlain && !/\/\/|[[{(],?$/m.test(items.join('\n')) && line.length <= maxWidth ? line : whole
}
