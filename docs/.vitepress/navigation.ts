// The navigation is docs/README.md: its headings, the rows of its tables, and its links. Packages, records and generated pages follow.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { siteLink } from './links.ts'
import { routeOf, sitePages, titleOf } from './pages.ts'

export interface Item {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Item[]
}

const index = 'docs/README.md'

/** Returns the parts of the site for the top of each page. Each leads to its first page. */
export function navigation(root: string): Item[] {
  const parts = sections(root, sitePages(root)).map(({ text, items = [] }) => ({ text, link: firstLink(items) ?? '/' }))
  return [...parts.slice(0, -1), { text: 'Packages', link: '/packages/conventions/' }, ...parts.slice(-1)]
}

/** Returns the lists of pages for the side, by the beginning of a path: packages, records and generated pages have lists of their own. */
export function sidebars(root: string, pages: ReadonlySet<string>): Readonly<Record<string, readonly Item[]>> {
  const listOf = (text: string, pattern: RegExp, nameOf: (file: string) => string): Item => ({
    text,
    items: [...pages].filter((file) => pattern.test(file)).map((file) => ({ text: nameOf(file), link: routeOf(file) }))
  })
  return {
    '/packages/': [listOf('Packages', /^packages\//, folderOf)],
    '/examples/': [listOf('Examples', /^examples\/[^/]+\/README/, folderOf)],
    '/docs/decisions/': [listOf('Decisions', /^docs\/decisions\/\d/, (file) => `${Number(/\d+/.exec(file)?.[0])}. ${titleOf(root, file)}`)],
    '/docs/api/': [listOf('Public API', /^docs\/api\//, (file) => file.replaceAll(/^docs\/api\/|\.md$/g, ''))],
    '/': sections(root, pages)
  }
}

function sections(root: string, pages: ReadonlySet<string>): Item[] {
  const text = readFileSync(join(root, index), 'utf8')
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      const items = lines.flatMap((line): Item[] => {
        const [, group, cells] = /^\| (?!you want|-)(.+?) \| (.+) \|$/.exec(line) ?? []
        const links = linksIn(cells ?? (line.startsWith('|') ? '' : line), root, pages)
        return group === undefined ? links : [{ text: capitalized(group), items: links }]
      })
      return { text: heading, items }
    })
}

function linksIn(text: string, root: string, pages: ReadonlySet<string>): Item[] {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].flatMap(([, name = '', target = '']) => {
    const link = siteLink(root, pages, index, target)
    return link === undefined ? [] : [{ text: capitalized(name), link: link.replace(/[^#]*/, (file) => routeOf(file.slice(1))) }]
  })
}

function folderOf(file: string) {
  return file.split('/')[1] as string
}

function firstLink(items: readonly Item[]): string | undefined {
  return items.map((item) => item.link ?? firstLink(item.items ?? [])).find((link) => link !== undefined)
}

function capitalized(text: string) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
