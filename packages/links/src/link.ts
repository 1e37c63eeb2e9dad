/** One hypermedia link, as it stands in `_links` (rules K1, K2). */
export interface Link {
  /** A registered relation name (RFC 8288) or one of the domain. */
  readonly rel: string
  /** An absolute URL. */
  readonly href: string
  /** The method to use on the target. */
  readonly method: string
}

/**
 * The absolute URL of a path that the service's author chose. What is absolute already stays as it is, so a target that a
 * client sent goes through `targetWithoutSecrets` first: that leaves no host of the client's choosing in it.
 */
export function hrefOf(origin: string, path: string): string {
  if (/^https?:\/\//i.test(path)) return path
  return path.startsWith('/') ? origin + path : `${origin}/${path}`
}

/** Writes links as a `Link` header field (RFC 8288 §3). */
export function linkHeader(links: readonly Pick<Link, 'rel' | 'href'>[]): string {
  return links.map(({ rel, href }) => `<${href}>; rel="${rel}"`).join(', ')
}
