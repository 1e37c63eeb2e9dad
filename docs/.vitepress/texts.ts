// For programs that read: each page as Markdown under its own path, a list of all of them, and the sources to which they link.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { proseOf } from '../../scripts/markdown.ts'
import { readManifest } from '../../scripts/workspace.ts'
import { siteLink, sources } from './links.ts'
import { type Item, sidebars } from './navigation.ts'
import { withTables } from './options.ts'
import { titleOf } from './pages.ts'

/** Writes `llms.txt`, the Markdown of all pages, and the linked sources. */
export function writeTexts(root: string, outDir: string, pages: ReadonlySet<string>): void {
  for (const page of pages) write(join(outDir, page), markdownOf(root, pages, page))
  write(join(outDir, 'llms.txt'), listOf(root, pages))
  for (const source of sources) {
    mkdirSync(dirname(join(outDir, source)), { recursive: true })
    copyFileSync(join(root, source), `${join(outDir, source)}.txt`)
  }
}

/** Returns the text of a page with the links of the site. */
function markdownOf(root: string, pages: ReadonlySet<string>, page: string) {
  const text = readFileSync(join(root, page), 'utf8')
  const complete = page === 'docs/options.md' ? withTables(root, pages, text) : text
  const prose = proseOf(complete).split('\n')
  const lines = complete
    .split('\n')
    .map((line, number) =>
      line.replaceAll(/\]\(([^)\s]+)/g, (whole, target: string, index: number) =>
        prose[number]?.startsWith(whole, index) ? `](${siteLink(root, pages, page, target) ?? target}` : whole
      )
    )
  return lines.join('\n')
}

/** Returns the list of pages after https://llmstxt.org. */
function listOf(root: string, pages: ReadonlySet<string>) {
  const { description } = readManifest(join(root, 'package.json'))
  const { '/': main = [], ...others } = sidebars(root, pages)
  const parts = [...main, ...Object.values(others).flat()].map(
    ({ text, items = [] }) => `## ${text}\n\n${items.flatMap(linesOf).join('\n')}\n`
  )
  return [`# Concordat\n\n> ${description}\n\n- [${titleOf(root, 'README.md')}](/README.md)\n`, ...parts].join('\n')
}

function linesOf({ text, link, items = [] }: Item): string[] {
  const file = link?.replace(/#.*/, '').replace(/\/$/, '/README').slice(1)
  return file === undefined ? items.flatMap(linesOf) : [`- [${text}](/${file}.md)`]
}

function write(file: string, text: string) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
