/** A hypermedia link in `_links` (rules K1, K2). */
export interface Link {
  /** A registered relation type (RFC 8288) or a relation type that the service defines. */
  readonly rel: string
  /** The absolute URL of the target. */
  readonly href: string
  /** The method to use on the target. */
  readonly method: string
}

/**
 * The maximum lengths of the members of a link, in characters, which the description of a service publishes. `href` has room for an origin, a target
 * that `targetWithoutSecrets` has shortened, and the query of a page.
 */
export const maxLinkLengths = { rel: 256, href: 16_384, method: 32 } as const

/**
 * Returns the absolute URL of a path that comes from the service. An absolute URL is returned unchanged, so pass a target that a client sent through
 * `targetWithoutSecrets` first, which removes its host. Throws a `TypeError` for more than 16,384 characters.
 */
export function hrefOf(origin: string, path: string): string {
  const href = /^https?:\/\//i.test(path) ? path : path.startsWith('/') ? origin + path : `${origin}/${path}`
  if (href.length <= maxLinkLengths.href) return href
  throw new TypeError(
    `plugin-kit: the URL "${href.slice(0, 100)}…" has more than ${maxLinkLengths.href} characters. Shorten its path or its query.`
  )
}

/** Returns links as the value of a `Link` header field (RFC 8288 §3). */
export function linkHeader(links: readonly Pick<Link, 'rel' | 'href'>[]): string {
  return links.map(({ rel, href }) => `<${href}>; rel="${rel}"`).join(', ')
}
