// The parts of a Markdown file that the checks need: code blocks, headings, links, and sections that scripts write.
import { readFileSync } from 'node:fs'

export interface Block {
  readonly language: string
  /** What follows the language in the first line. */
  readonly info: string
  /** The line of the file that contains the first line of the block, from 1. */
  readonly line: number
  readonly text: string
}

/** Returns the fenced code blocks of a text. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = []
  let open: { fence: string; language: string; info: string; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, fence, info] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (open && fence?.startsWith(open.fence) && info?.trim() === '') {
      blocks.push({ language: open.language, info: open.info, line: open.line, text: open.lines.join('\n') })
      open = undefined
    } else if (open) open.lines.push(line)
    else if (fence) {
      const [language = '', ...rest] = info?.trim().split(/\s+/) ?? []
      open = { fence, language, info: rest.join(' '), line: index + 2, lines: [] }
    }
  }
  return blocks
}

/** Returns the text without its code, with the same line numbers, so that code that looks like a link is ignored. */
export function proseOf(markdown: string): string {
  const lines = markdown.split('\n')
  for (const { line, text } of blocksOf(markdown)) lines.fill('', line - 1, line - 1 + text.split('\n').length)
  return lines.join('\n').replaceAll(/(`+)[^`\n]+\1/g, (code) => ' '.repeat(code.length))
}

/** Returns the anchors that GitHub generates for the headings, and those written as `<a id="…">`. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>()
  const headings = markdown.split('\n').filter((_, index, lines) => /^#{1,6} /.test(lines[index] as string))
  for (const heading of headings) {
    const words = heading.replace(/^#+ +/, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const slug = words
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  for (const [, id] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id as string)
  return anchors
}

/** Returns the targets of links and images, with their lines. */
export function linksOf(markdown: string): { target: string; line: number }[] {
  const prose = proseOf(markdown)
  const found = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g), ...prose.matchAll(/^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)/gm)]
  return found.map((match) => ({ target: match[1] as string, line: prose.slice(0, match.index).split('\n').length }))
}

/** Returns the text of a page with other lines between `<!-- name:start -->` and `<!-- name:end -->`. Throws if the page does not have these lines. */
export function withSection(page: string, name: string, lines: string): string {
  const [before, after] = [`<!-- ${name}:start -->\n`, `<!-- ${name}:end -->`]
  const text = readFileSync(page, 'utf8')
  const start = text.indexOf(before) + before.length
  if (!text.includes(before) || text.indexOf(after) < start) throw new Error(`${page} does not have the lines ${before}${after}. Add them.`)
  return `${text.slice(0, start)}${lines}\n${text.slice(text.indexOf(after))}`
}
