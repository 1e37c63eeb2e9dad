import type { ApiError } from '@concordat/api-error'
import { authorityOf, clientAddress, type HostMatcher, hostErrorOf, hostMatcher } from '@concordat/links'
import type { SettingsOf } from '@concordat/plugin-options'
import type { StepRoute } from '@concordat/request-steps'
import type { FastifyRequest } from 'fastify'
import { createError } from './errors.ts'
import type { transportSecurityOptions } from './options.ts'

type Settings = SettingsOf<(typeof transportSecurityOptions)['members']>

/**
 * Returns a function that returns the error for a request with an invalid host (RFC 9112 §3.2), to a host that is not served (RFC 9110 §15.5.20)
 * or over plain HTTP (rule S4), and undefined for all other requests. A route with `directAccess` accepts the last two.
 */
export function admission(settings: Settings): (request: FastifyRequest, isHttps: boolean, route: StepRoute) => ApiError | undefined {
  const { dangerouslyAllowHttp: allowed, publicUrl, allowedHosts } = settings
  const ownHosts = publicUrl === undefined || allowedHosts.length === 0 ? [] : [new URL(publicUrl).host]
  const match = allowedHosts.length === 0 ? undefined : hostMatcher([...allowedHosts, ...ownHosts])
  return (request, isHttps, { config }) => {
    const hostError = hostErrorOf(request.raw)
    if (hostError !== undefined) return createError(hostError)
    if (config.directAccess === true) return undefined
    if (match !== undefined && !isServed(match, request, isHttps)) return createError('MISDIRECTED_REQUEST')
    return isHttps || allowed === true || (allowed === 'loopback' && isFromHere(request)) ? undefined : createError('HTTPS_REQUIRED')
  }
}

function isServed(match: HostMatcher, request: FastifyRequest, isHttps: boolean) {
  const protocol = isHttps ? 'https' : 'http'
  if (match(request.host, protocol) === undefined) return false
  // The authority of an absolute target overrides the Host header (RFC 9112 §3.2.2).
  const authority = authorityOf(request.raw.url)
  return authority === undefined || match(authority, protocol) !== undefined
}

/**
 * Returns whether a request comes from this machine. Both the peer and the client must be here: a trusted proxy on this machine forwards requests of
 * clients on other machines.
 */
export function isFromHere({ ip, socket }: FastifyRequest) {
  const peer = socket?.remoteAddress
  return isLoopback(peer) && (ip === peer || isLoopback(clientAddress(ip)))
}

function isLoopback(address: string | undefined) {
  return address === '127.0.0.1' || (address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address))
}
