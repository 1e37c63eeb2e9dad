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
 * Returns the absolute URL of a path that comes from the service. An absolute URL is returned unchanged, so pass a target that a client sent through
 * `targetWithoutSecrets` first, which removes its host.
 */
export function hrefOf(origin: string, path: string): string {
  if (/^https?:\/\//i.test(path)) return path
  return path.startsWith('/') ? origin + path : `${origin}/${path}`
}

/** Returns links as the value of a `Link` header field (RFC 8288 §3). */
export function linkHeader(links: readonly Pick<Link, 'rel' | 'href'>[]): string {
  return links.map(({ rel, href }) => `<${href}>; rel="${rel}"`).join(', ')
}
