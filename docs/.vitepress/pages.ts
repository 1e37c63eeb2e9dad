// Which files are pages of the site, and where they are on it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder } from '../../scripts/workspace.ts'

/** The files that are pages: the documentation and the READMEs. Texts for agents and for projects that are made are not. */
const patterns = [
  '{README,CONTRIBUTING,SECURITY,CODE_OF_CONDUCT}.md',
  'docs/**/*.md',
  '{packages,examples}/*/README.md',
  'examples/*/docs/*.md'
]

/** Returns the files of all pages, as paths from the root. */
export function sitePages(root: string): ReadonlySet<string> {
  return new Set(patterns.flatMap((pattern) => filesUnder(root, pattern)))
}

/** Returns the Markdown files that are not pages. */
export function otherMarkdown(root: string, pages: ReadonlySet<string>): string[] {
  return filesUnder(root, '**/*.md').filter((file) => !pages.has(file))
}

/** Returns the path of a page on the site: `/docs/errors`, `/packages/jobs/`. */
export function routeOf(file: string): string {
  return `/${file.replace(/\.md$/, '').replace(/(^|\/)README$/, '$1')}`
}

/** Returns the first heading of a page. */
export function titleOf(root: string, file: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[1]?.replaceAll('`', '') ?? file
}
