import { hrefOf, linkHeader } from '@concordat/plugin-kit/links'
import type { Ending } from './lifecycle.ts'

/** Deprecation headers of the responses of a deprecated or retired version (rule V6). */
export interface EndingHeaders {
  /** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
  readonly fields: Readonly<Record<string, string>>
  /** The `Link` header, kept separate because it is added to the links that a handler sets. */
  readonly link: string
}

/**
 * Returns a function that creates the deprecation headers of a version, with links that start with the given origin. There is one origin, or one
 * per allowed host. Only the headers of the last origin are cached, so many origins cannot fill the memory.
 */
export function endingHeaders(ending: Ending, base: string, newest: string): (origin: string) => EndingHeaders {
  const sunset = new Date(ending.sunsetAt).toUTCString()
  const fields = Object.freeze({ deprecation: `@${Math.floor(ending.deprecatedAt / 1000)}`, sunset })
  let last: { readonly origin: string; readonly headers: EndingHeaders } | undefined
  return (origin) => {
    if (last?.origin !== origin) last = { origin, headers: { fields, link: linkHeader(linksOf(origin)) } }
    return last.headers
  }

  function linksOf(origin: string) {
    const links = [
      { rel: 'deprecation', href: ending.documentation },
      { rel: 'sunset', href: ending.documentation }
    ]
    if (ending.successor === undefined) return links
    return [
      ...links,
      { rel: 'successor-version', href: hrefOf(origin, `${base}/v${ending.successor}`) },
      { rel: 'latest-version', href: hrefOf(origin, `${base}/${newest}`) }
    ]
  }
}

/** Returns the `Link` header of a response with the links of a version appended. */
export function joinLinks(present: number | string | readonly string[] | undefined, links: string): string {
  if (present === undefined) return links
  const list = typeof present === 'object' ? present.join(', ') : String(present)
  return list.includes(links) ? list : `${list}, ${links}`
}
