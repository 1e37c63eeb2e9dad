// Checks that every relative link of every Markdown file leads to an existing file and an existing heading.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { anchorsOf, linksOf, proseOf } from './markdown.ts'
import { reportProblems } from './run.ts'
import { filesUnder, repository } from './workspace.ts'

/** Returns one sentence for each broken link. */
export function brokenLinks(root: string): string[] {
  return filesUnder(root, '{*.md,{packages,examples,docs,.changeset}/**/*.md}').flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return linksOf(text).flatMap(({ target, line }) => {
      const fault = faultOf(root, file, target)
      return fault ? [`${file}:${line} links to ${target}, ${fault}`] : []
    })
  })
}

function faultOf(root: string, file: string, target: string) {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined
  const [path = '', anchor] = decodeURI(target).split('#')
  if (path.startsWith('/')) return 'which is absolute; use a path relative to the file'
  const linked = path === '' ? file : posix.join(dirname(file), path)
  if (linked.startsWith('..')) return 'which is outside the repository'
  if (!existsSync(join(root, linked))) return 'which does not exist'
  // GitHub shows the README of a folder below its files.
  const page = statSync(join(root, linked)).isDirectory() ? posix.join(linked, 'README.md') : linked
  if (anchor === undefined || !page.endsWith('.md')) return undefined
  const headings = anchorsOf(existsSync(join(root, page)) ? proseHeadings(readFileSync(join(root, page), 'utf8')) : '')
  return headings.has(anchor) ? undefined : 'which has no such heading'
}

/** A heading may contain code, which is part of its anchor. A line in a code block that begins with # is not a heading. */
function proseHeadings(text: string) {
  const prose = proseOf(text).split('\n')
  return text
    .split('\n')
    .map((line, index) => (prose[index]?.startsWith('#') || line.startsWith('<a ') ? line : ''))
    .join('\n')
}

if (import.meta.main) {
  reportProblems(brokenLinks(repository))
}
