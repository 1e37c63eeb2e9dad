// Links of pages lead to files, as on GitHub. On the site they lead to pages, or to a copy of a source as text.
import { createReadStream, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, posix, relative } from 'node:path'
import type { MarkdownIt, Token } from './markdown-it.ts'
import { routeOf } from './pages.ts'

/** The sources to which pages link, as paths from the root. A build copies them, the server sends them. */
export const sources = new Set<string>()

/**
 * Returns the file to which a link leads on the site, with its heading: a page, the README of a folder or its first page, or a source.
 * Returns undefined for a folder without pages, and the link itself if it leads elsewhere.
 */
export function siteLink(root: string, pages: ReadonlySet<string>, file: string, link: string): string | undefined {
  if (/^([a-z][a-z+.-]*:|#|\/)/i.test(link)) return link
  const [path = '', heading] = decodeURI(link).split('#')
  const target = posix.join(posix.dirname(file), path).replace(/\/$/, '')
  const readme = posix.join(target, 'README.md')
  const page = [target, readme].find((one) => pages.has(one)) ?? [...pages].find((one) => one.startsWith(`${target}/`))
  if (page !== undefined) return `/${page}${heading === undefined ? '' : `#${heading}`}`
  if (statSync(join(root, target)).isDirectory()) return undefined
  sources.add(target)
  return `/${target}.txt`
}

/** Makes the links of pages those of the site. A link that leads to no page becomes text with the path as its title. */
export function withSiteLinks(md: MarkdownIt, root: string, pages: ReadonlySet<string>): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const file = sourceOf(root, env.realPath ?? env.path)
    for (const { children } of tokens) if (children) rewrite(children, root, pages, file)
  })
}

function rewrite(tokens: readonly Token[], root: string, pages: ReadonlySet<string>, file: string) {
  let isText = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = token.attrs?.find(([name]) => name === 'href')
      const link = href && siteLink(root, pages, file, href[1])
      isText = link === undefined
      if (href && link !== undefined) href[1] = link.replace(/^\/([^#]+\.md)/, (_file, page: string) => routeOf(page))
      else token.attrs = [['title', href?.[1] ?? '']]
    }
    if (isText && token.type.startsWith('link_')) token.tag = 'span'
  }
}

/** VitePress names a README index.md. */
function sourceOf(root: string, path: string) {
  return relative(root, path)
    .replaceAll('\\', '/')
    .replace(/(^|\/)index\.md$/, '$1README.md')
}

/** Returns a handler that sends the sources to which pages link, for the server of `npm run docs`. */
export function linkedFiles(root: string): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return ({ url = '' }, response, next) => {
    const file = decodeURI(url)
      .slice(1)
      .replace(/\.txt$/, '')
    if (!sources.has(file)) return next()
    response.setHeader('Content-Type', 'text/plain; charset=utf-8')
    createReadStream(join(root, file)).pipe(response)
  }
}
