import type { Socket } from 'node:net'
import { hostMatcher } from './host.ts'

/** Where absolute links get their origin from. */
export interface OriginOptions {
  /** The service's public address without a trailing slash, as `https://api.example.com`. Wins over everything else. */
  readonly publicUrl?: string | undefined
  /**
   * Hosts (with port, when not the default one) that links may name when the request was made to them; `*.example.com` stands
   * for every direct subdomain.
   * Behind a proxy, Fastify's `trustProxy` decides whether its forwarded host counts.
   * @default [] – the Host header is never believed
   */
  readonly allowedHosts?: readonly string[] | undefined
}

/** The part of a Fastify request that an origin is read from. */
export interface OriginRequest {
  readonly protocol: string
  readonly host: string
  readonly socket: Pick<Socket, 'localAddress' | 'localPort'>
}

/**
 * Makes the function that names the origin of a request's links: `publicUrl`, else the request's host when it is allowed,
 * else the address that the server itself listens on. An unchecked Host header never reaches a link.
 * Throws a `TypeError` for a `publicUrl` that is not an http(s) URL or has a query, fragment, credentials or trailing slash,
 * and for an allowed host that is more or less than a host.
 */
export function originResolver(options: OriginOptions): (request?: OriginRequest) => string {
  const { publicUrl } = options
  if (publicUrl !== undefined) {
    requirePublicUrl(publicUrl)
    return () => publicUrl
  }
  const match = hostMatcher(options.allowedHosts ?? [])
  return (request) => {
    if (request === undefined) return 'http://localhost'
    const protocol = request.protocol === 'https' ? 'https' : 'http'
    return `${protocol}://${match(request.host, protocol) ?? listeningHost(request.socket)}`
  }
}

function listeningHost({ localAddress, localPort }: OriginRequest['socket']) {
  if (localAddress === undefined || localPort === undefined) return 'localhost'
  return `${localAddress.includes(':') ? `[${localAddress.replace(/%.*$/, '')}]` : localAddress}:${localPort}`
}

function requirePublicUrl(publicUrl: string) {
  // The parser alone is too kind: it trims blanks and mends "https:host", and links are made of what was given.
  if (!/^https?:\/\/[!-~]+(?<!\/)$/i.test(publicUrl) || /[?#@\\]/.test(publicUrl) || !URL.canParse(publicUrl))
    throw new TypeError(
      `publicUrl is "${publicUrl}". Give an http or https URL without credentials, query, fragment or trailing slash, as "https://api.example.com".`
    )
}
