import type { ApiError } from '@concordat/api-error'
import { authorityOf, type HostMatcher, hostErrorOf, hostMatcher, type OriginOptions } from '@concordat/links'
import { optionChecks } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'
import { badHost, httpsRequired, misdirected } from './errors.ts'

/** The options that decide which requests are accepted. */
export interface AdmissionOptions extends OriginOptions {
  /**
   * Accepts plain HTTP from this machine (`'loopback'`) or from any client (`true`). Use it for development only: it stops the start
   * when `NODE_ENV` is `production`, and logs a warning otherwise.
   * @default false
   */
  readonly dangerouslyAllowHttp?: 'loopback' | boolean | undefined
}

const { oneOf } = optionChecks('transport-security')

/**
 * Returns a function that returns the error for a request with an invalid host (RFC 9112 §3.2), to a host that is not served (RFC 9110 §15.5.20)
 * or over plain HTTP (rule S4), and undefined for all other requests. A route with `directAccess` accepts the last two. Throws a `TypeError` for an invalid option.
 */
export function admission(options: AdmissionOptions): (request: FastifyRequest, isHttps: boolean) => ApiError | undefined {
  const { dangerouslyAllowHttp: allowed = false } = options
  oneOf('options.dangerouslyAllowHttp', allowed, ['loopback', true, false])
  if (allowed !== false && process.env['NODE_ENV'] === 'production')
    throw new TypeError(
      'transport-security: options.dangerouslyAllowHttp must be false in production. List the TLS proxy in trustProxy, or serve TLS.'
    )
  const match = servedHosts(options)
  return (request, isHttps) => {
    const hostError = hostErrorOf(request.raw)
    if (hostError !== undefined) return badHost(hostError)
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
  if (match(request.host, protocol) === undefined) return false
  // The authority of an absolute target overrides the Host header (RFC 9112 §3.2.2).
  const authority = authorityOf(request.raw.url)
  return authority === undefined || match(authority, protocol) !== undefined
}

// Both the peer and the client: a trusted proxy on this machine forwards requests of clients on other machines.
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
