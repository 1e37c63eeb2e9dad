import type { Socket } from 'node:net'
import { hostMatcher, isHost } from './host.ts'

/** Options of {@link originResolver}: the source of the origin of absolute links. */
export interface OriginOptions {
  /** The public URL of the service without a trailing slash, for example `https://api.example.com`. Takes precedence over all else. */
  readonly publicUrl?: string | undefined
  /**
   * Hosts of requests that links may use, with the port unless it is the default. `*.example.com` matches every direct subdomain.
   * @default [] (the Host header is never used)
   */
  readonly allowedHosts?: readonly string[] | undefined
}

const maxPublicUrlLength = 2048

/** The part of a Fastify request that determines the origin. */
export interface OriginRequest {
  readonly protocol: string
  readonly host: string
  readonly socket: Pick<Socket, 'localAddress' | 'localPort'>
}

/**
 * Creates a function that returns the origin of the links for a request: `publicUrl`, or else the host of the request if it is allowed, or else the first of
 * the allowed hosts. The address that the server listens on is only used without both options, and for a request with a valid host. Otherwise the origin is
 * empty, so that links are relative: no link has an address that only exists inside. Throws a `TypeError` for an invalid option.
 */
export function originResolver(options: OriginOptions): (request?: OriginRequest) => string {
  const { publicUrl } = options
  if (publicUrl !== undefined) {
    requirePublicUrl(publicUrl)
    return () => publicUrl
  }
  const allowed = options.allowedHosts ?? []
  const match = hostMatcher(allowed)
  const first = allowed.find((host) => !host.startsWith('*'))?.toLowerCase()
  return (request) => {
    if (request === undefined) return 'http://localhost'
    const protocol = request.protocol === 'https' ? 'https' : 'http'
    const host =
      match(request.host, protocol) ?? first ?? (allowed.length === 0 && isHost(request.host) ? listeningHost(request.socket) : '')
    return host === '' ? '' : `${protocol}://${host}`
  }
}

function listeningHost({ localAddress, localPort }: OriginRequest['socket']) {
  if (localAddress === undefined || localPort === undefined) return 'localhost'
  return `${localAddress.includes(':') ? `[${localAddress.replace(/%.*$/, '')}]` : localAddress}:${localPort}`
}

function requirePublicUrl(publicUrl: string) {
  // The URL parser is too lenient: it trims spaces and corrects "https:host", but links use the value of the option unchanged.
  if (
    publicUrl.length > maxPublicUrlLength ||
    !/^https?:\/\/[!-~]+(?<!\/)$/i.test(publicUrl) ||
    /[?#@\\]/.test(publicUrl) ||
    !URL.canParse(publicUrl)
  )
    throw new TypeError(
      `plugin-kit: options.publicUrl is the invalid URL "${publicUrl}". Use an http or https URL of at most ${maxPublicUrlLength} characters, without credentials, query, fragment or trailing slash, for example "https://api.example.com".`
    )
}
