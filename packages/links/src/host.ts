import { isIPv6 } from 'node:net'

/** Returns the host of a request in normalized form, or undefined when it is not in the list. */
export type HostMatcher = (host: string, protocol: string) => string | undefined

/**
 * Creates a function that looks up a host in a list. Letter case and the default port of the protocol are ignored
 * (RFC 9110 §4.2.3). `*.example.com` matches every direct subdomain, as in a certificate, but not `example.com` itself.
 * The returned host is safe in a link. Throws a `TypeError` for an entry that is not a valid host.
 */
export function hostMatcher(hosts: readonly string[]): HostMatcher {
  for (const host of hosts) requireHost(host)
  const all = hosts.map((host) => host.toLowerCase())
  const exact = new Set(all.filter((host) => !host.startsWith('*.')))
  const parents = new Set(all.filter((host) => host.startsWith('*.')).map((host) => host.slice(2)))
  return (host, protocol) => {
    if (exact.has(host)) return host
    const port = protocol === 'https' ? ':443' : ':80'
    const lower = host.toLowerCase()
    const bare = lower.endsWith(port) ? lower.slice(0, -port.length) : lower
    if (exact.has(bare) || exact.has(bare + port)) return bare
    const [, parent = ''] = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.(.*)/.exec(bare) ?? []
    return parents.has(parent) || parents.has(parent + port) ? bare : undefined
  }
}

/** The parts of a Node.js request that contain its host. */
export interface HostRequest {
  readonly headers: { readonly host?: string | undefined; readonly [':authority']?: string | string[] | undefined }
  readonly url?: string | undefined
  readonly httpVersion: string
}

/**
 * Returns the error code for a missing or invalid host in `Host`, `:authority` or a request target that is a URL, or undefined if the host
 * is valid. HTTP/1.1 requires Host, HTTP/1.0 does not (RFC 9112 §3.2). An empty host is invalid, because an http URL cannot have one (RFC
 * 9110 §4.2.1).
 */
export function hostErrorOf({ headers, url, httpVersion }: HostRequest): 'MISSING_HOST' | 'INVALID_HOST' | undefined {
  const host = headers.host ?? headers[':authority']
  if (host === undefined && httpVersion === '1.1') return 'MISSING_HOST'
  return [host, authorityOf(url)].every((value) => value === undefined || isHost(value.toString())) ? undefined : 'INVALID_HOST'
}

/** Returns the host and port of a request target that is a URL, or undefined for any other target (RFC 9112 §3.2.2). */
export function authorityOf(target: string | undefined): string | undefined {
  return target === undefined || target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]
}

const maxPort = 65_535

// RFC 3986 §3.2.2: a registered name or an IPv4 address, or an IP literal in brackets.
function isHost(value: string): boolean {
  const [, name, literal, port] = /^(?:((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)|\[([\da-f:.]+)\])(?::(\d*))?$/i.exec(value) ?? []
  return (name !== undefined || (literal !== undefined && isIPv6(literal))) && Number(port ?? 0) <= maxPort
}

function requireHost(host: string) {
  const name = typeof host === 'string' ? host.replace(/^\*\./, '') : ''
  if (!/^[^\s*/?#@\\]+$/.test(name) || !URL.canParse(`http://${name}`))
    throw new TypeError(
      `links: options.allowedHosts contains the invalid host "${host}". Use a host with an optional port, for example "api.example.com" or "*.example.com".`
    )
}
