import { isIPv6 } from 'node:net'

// A name of the DNS has at most 253 characters, and `:65535` follows it.
const maxHostLength = 259

/** Returns the host of a request in normalized form, or undefined when it is not in the list. */
export type HostMatcher = (host: string, protocol: string) => string | undefined

/**
 * Creates a function that looks up a host in a list, without letter case and the default port of the protocol (RFC 9110 §4.2.3). `*.example.com`
 * matches every direct subdomain, but not `example.com` itself. Throws a `TypeError` for an entry that is not a valid host.
 */
export function hostMatcher(hosts: readonly string[]): HostMatcher {
  for (const host of hosts) requireHost(host)
  const all = hosts.map((host) => host.toLowerCase())
  const exact = new Set(all.filter((host) => !host.startsWith('*.')))
  const parents = new Set(all.filter((host) => host.startsWith('*.')).map((host) => host.slice(2)))
  return (host, protocol) => {
    if (exact.has(host)) return host
    if (host.length > maxHostLength) return undefined
    const port = protocol === 'https' ? ':443' : ':80'
    const lower = host.toLowerCase()
    const bare = lower.endsWith(port) ? lower.slice(0, -port.length) : lower
    if (exact.has(bare) || exact.has(bare + port)) return bare
    const [, parent = ''] = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.(.*)/.exec(bare) ?? []
    return parents.has(parent) || parents.has(parent + port) ? bare : undefined
  }
}

/** The parts of a Node.js request that contain its host. */
interface HostRequest {
  readonly headers: { readonly host?: string | undefined; readonly [':authority']?: string | string[] | undefined }
  readonly url?: string | undefined
  readonly httpVersion: string
}

/**
 * Returns the error code for a missing or invalid host in `Host`, `:authority` or a request target that is a URL. HTTP/1.1 requires Host, HTTP/1.0
 * does not (RFC 9112 §3.2). An empty host is invalid (RFC 9110 §4.2.1).
 */
export function hostErrorOf({ headers, url, httpVersion }: HostRequest): 'MISSING_HOST' | 'INVALID_HOST' | undefined {
  const host = headers.host ?? headers[':authority']
  // Nearly all requests.
  if (host !== undefined && host === lastHost && url?.startsWith('/') === true) return undefined
  if (host === undefined && httpVersion === '1.1') return 'MISSING_HOST'
  const authority = authorityOf(url)
  return (host === undefined || isHost(host.toString())) && (authority === undefined || isHost(authority)) ? undefined : 'INVALID_HOST'
}

/** Returns the host and port of a request target that is a URL, or undefined for any other target (RFC 9112 §3.2.2). */
export function authorityOf(target: string | undefined): string | undefined {
  return target === undefined || target.startsWith('/') ? undefined : /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]
}

/** Returns whether a text is a host with an optional port (RFC 3986 §3.2.2): a registered name, an IPv4 address, or an IP literal in brackets. */
export function isHost(value: string): boolean {
  // Nearly all requests name the same host.
  if (value === lastHost) return true
  const isValid = matchesHost(value)
  if (isValid) lastHost = value
  return isValid
}

let lastHost: string | undefined

function matchesHost(value: string) {
  if (value.length > maxHostLength) return false
  const [, name, literal, port] = /^(?:((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)|\[([\da-f:.]+)\])(?::(\d*))?$/i.exec(value) ?? []
  return (name !== undefined || (literal !== undefined && isIPv6(literal))) && Number(port ?? 0) <= 65_535
}

function requireHost(host: string) {
  const name = typeof host === 'string' ? host.replace(/^\*\./, '') : ''
  if (!/^[^\s*/?#@\\]+$/.test(name) || !URL.canParse(`http://${name}`))
    throw new TypeError(
      `plugin-kit: options.allowedHosts contains the invalid host "${host}". Use a host with an optional port, for example "api.example.com" or "*.example.com".`
    )
}

/** The definitions of the errors of {@link hostErrorOf}, by error code, for the error lists of the packages that raise them. */
export const hostDefinitions = {
  MISSING_HOST: {
    statusCode: 400,
    message: {
      en: 'The Host header, which HTTP/1.1 requires, is missing. Send it.',
      es: 'Falta el encabezado Host, que HTTP/1.1 exige. Envíelo.'
    },
    remedy: 'Send the Host header.'
  },
  INVALID_HOST: {
    statusCode: 400,
    message: {
      en: 'The host of the request is empty or malformed. Send a host name or an address, with an optional port, in the Host header.',
      es: 'El host de la petición está vacío o mal formado. Envíe en el encabezado Host un nombre o una dirección, con un puerto opcional.'
    },
    remedy: 'Send Host as host or host:port, without user information, for example api.example.com.'
  }
} as const
