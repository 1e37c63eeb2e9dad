// docs/options.md lists the packages with options. On the site, the tables of their READMEs follow each of them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { siteLink } from './links.ts'

const table = /<!-- options: \w+ -->\n([\s\S]*?)<!-- options: end -->/g

/** Returns the page with the tables of each README that it lists, under their headings there. */
export function withTables(root: string, pages: ReadonlySet<string>, page: string): string {
  return page.replaceAll(/^- \[([^\]]+)\]\(\.\.\/(packages\/[^)]+)\)$/gm, (_line, name: string, folder: string) => {
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    const tables = [...readme.matchAll(table)].map(({ 1: rows = '', index }) => {
      const before = readme.slice(0, index).trimEnd()
      const heading = [...before.matchAll(/^##+ (.+)$/gm)].at(-1)?.[1] ?? 'Options'
      // A README with several tables says in a line before each what it describes.
      const about = /^.*:$/.exec(before.slice(before.lastIndexOf('\n') + 1))?.[0] ?? ''
      const text = `${heading === 'Options' ? '' : `### ${heading}\n\n`}${about}\n\n${rows}`
      return text.replaceAll(/\]\(([^)]+)\)/g, (_link, target: string) => `](${siteLink(root, pages, `${folder}/README.md`, target)})`)
    })
    return `## [${name}](../${folder}/README.md)\n\n${tables.join('\n')}`
  })
}
