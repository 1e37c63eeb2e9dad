import type { ApiError } from '@concordat/plugin-kit/api-error'
import { authorityOf, type HostMatcher, hostErrorOf, hostMatcher, isFromThisMachine, isLoopbackHost } from '@concordat/plugin-kit/links'
import type { SettingsOf } from '@concordat/plugin-kit/options'
import type { StepRoute } from '@concordat/plugin-kit/steps'
import type { FastifyRequest } from 'fastify'
import { createError } from '../errors.ts'
import type { transportSecurityOptions } from '../options.ts'

type Settings = SettingsOf<(typeof transportSecurityOptions)['members']>

/**
 * Returns a function that returns the error for a request with an invalid host (RFC 9112 §3.2), to a host that is not served (RFC 9110 §15.5.20)
 * or over plain HTTP (rule S4), and undefined for all other requests. A route with `directAccess` accepts the last two. With `dangerouslyAllowHttp:
 * 'loopback'` and without a list, the hosts that are served are loopback names and that of `publicUrl`.
 */
export function admission(settings: Settings): (request: FastifyRequest, isHttps: boolean, route: StepRoute) => ApiError | undefined {
  const { dangerouslyAllowHttp: allowed, publicUrl } = settings
  const match = servedHosts(settings)
  const isLocalHost = localHosts(publicUrl)
  return (request, isHttps, { config }) => {
    const hostError = hostErrorOf(request.raw)
    if (hostError !== undefined) return createError(hostError)
    if (config.directAccess === true) return undefined
    if (match !== undefined && !isServed(match, request, isHttps)) return createError('MISDIRECTED_REQUEST')
    const isAllowed = isHttps || allowed === true || (allowed === 'loopback' && isFromThisMachine(request, isLocalHost))
    return isAllowed ? undefined : createError('HTTPS_REQUIRED')
  }
}

// A service that only this machine uses has the names of this machine: a page of another site could reach it under a name of its own (DNS rebinding).
function servedHosts({ dangerouslyAllowHttp, publicUrl, allowedHosts }: Settings): HostMatcher | undefined {
  const isListed = allowedHosts.length > 0
  if (!isListed && dangerouslyAllowHttp !== 'loopback') return undefined
  const match = hostMatcher([...allowedHosts, ...(publicUrl === undefined ? [] : [new URL(publicUrl).host])])
  return isListed ? match : (host, protocol) => (isLoopbackHost(host) ? host : match(host, protocol))
}

// The host of an https URL arrives over plain HTTP only through a proxy.
function localHosts(publicUrl: string | undefined) {
  const match = hostMatcher(publicUrl !== undefined && /^http:/i.test(publicUrl) ? [new URL(publicUrl).host] : [])
  return (host: string) => isLoopbackHost(host) || match(host, 'http') !== undefined
}

function isServed(match: HostMatcher, request: FastifyRequest, isHttps: boolean) {
  const protocol = isHttps ? 'https' : 'http'
  if (match(request.host, protocol) === undefined) return false
  // The authority of an absolute target overrides the Host header (RFC 9112 §3.2.2).
  const authority = authorityOf(request.raw.url)
  return authority === undefined || match(authority, protocol) !== undefined
}
