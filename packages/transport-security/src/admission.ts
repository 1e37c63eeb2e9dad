import type { ApiError } from '@concordat/api-error'
import { type HostMatcher, hostMatcher, type OriginOptions } from '@concordat/links'
import type { FastifyRequest } from 'fastify'
import { httpsRequired, misdirected } from './errors.ts'

/** Whose requests are taken. */
export interface AdmissionOptions extends OriginOptions {
  /**
   * Lets plain HTTP through: from this machine alone, or from everyone. For development; it is refused when `NODE_ENV` is
   * `production`, and warned about otherwise.
   * @default false
   */
  readonly dangerouslyAllowHttp?: 'loopback' | boolean | undefined
}

/**
 * Makes the function that refuses a request for a host that is not served here (RFC 9110 §15.5.20), and one that came over
 * plain HTTP (rule S4). A route with `directAccess` takes both. Throws a `TypeError` for an option that makes no sense.
 */
export function admission(options: AdmissionOptions): (request: FastifyRequest, isHttps: boolean) => ApiError | undefined {
  const { dangerouslyAllowHttp: allowed = false } = options
  if (typeof allowed !== 'boolean' && allowed !== 'loopback')
    throw new TypeError(`transport-security: dangerouslyAllowHttp is "${String(allowed)}". Choose 'loopback', true or false.`)
  if (allowed !== false && process.env['NODE_ENV'] === 'production')
    throw new TypeError(
      'transport-security: dangerouslyAllowHttp is for development. In production, name the proxy that ends TLS in trustProxy, or serve TLS.'
    )
  const match = servedHosts(options)
  return (request, isHttps) => {
    if (match !== undefined && !isServed(match, request, isHttps) && !isDirect(request)) return misdirected()
    if (isHttps || allowed === true || (allowed === 'loopback' && isFromHere(request)) || isDirect(request)) return undefined
    return httpsRequired()
  }
}

function servedHosts({ publicUrl, allowedHosts = [] }: OriginOptions): HostMatcher | undefined {
  if (allowedHosts.length === 0) return undefined
  return hostMatcher(publicUrl === undefined ? allowedHosts : [...allowedHosts, new URL(publicUrl).host])
}

function isServed(match: HostMatcher, request: FastifyRequest, isHttps: boolean) {
  const protocol = isHttps ? 'https' : 'http'
  const { host, raw } = request
  if (match(host, protocol) === undefined) {
    // HTTP/1.1 without a Host is malformed (RFC 9112 §3.2), and refused as such: by Node, or by whoever told Node not to.
    return host === '' && raw.httpVersion === '1.1'
  }
  // The authority of an absolute target counts more than the Host header (RFC 9112 §3.2.2).
  const authority = raw.url?.startsWith('/') === false ? /^https?:\/\/([^/?#]*)/i.exec(raw.url)?.[1] : undefined
  return authority === undefined || match(authority, protocol) !== undefined
}

// Both: a proxy on this machine that is trusted speaks for clients elsewhere.
function isFromHere({ ip, socket }: FastifyRequest) {
  const peer = socket?.remoteAddress
  return isLoopback(peer) && (ip === peer || isLoopback(ip))
}

function isLoopback(address: string | undefined) {
  return address === '127.0.0.1' || (address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address))
}

function isDirect({ routeOptions }: FastifyRequest) {
  return routeOptions.config?.directAccess === true
}
