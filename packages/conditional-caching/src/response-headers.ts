import { type SendStep, varyWith } from '@concordat/plugin-kit/steps'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isCompressible, tagInCoding } from './content-coding.ts'
import type { Settings } from './options.ts'
import { isRead, type RouteSettings } from './route-settings.ts'

/** Headers that describe a body; a 304 has no body (RFC 9110 §15.4.5). */
const bodyHeaders = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'content-disposition',
  'content-digest',
  'repr-digest'
]

/** Creates the step that sets the caching headers of a response after `compress`. It returns the payload to send. */
export function responseHeaders({ policyOf }: RouteSettings, isCompressed: boolean, { isPrivate, tenantHeaders }: Settings): SendStep {
  return function writeHeaders(request, reply, _route, payload) {
    const { method } = request
    const isUnchanged = reply.statusCode === 304
    if (reply.statusCode >= 400) forbidKeeping(reply)
    else {
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', cacheControlFor(request, reply))
      // Allowed only if the representation was stored as it was received, which is unknown (RFC 9110 §9.3.4).
      if (method === 'PUT') reply.removeHeader('etag')
      else if (!isUnchanged && reply.hasHeader('content-encoding') && isRead(method)) nameCoding(reply)
    }
    // A user who changes the tenant has the responses of the other one in the cache of the browser, under the same URLs.
    const headers = tenantHeaders(request)
    if (headers.length > 0) reply.header('vary', varyWith(reply.getHeader('vary'), headers.join(', ')))
    if (isCompressed) addVaryByCoding(request, reply, payload)
    if (!isUnchanged) return payload
    for (const header of bodyHeaders) if (reply.hasHeader(header)) reply.removeHeader(header)
    if (reply.hasHeader('etag')) reply.removeHeader('last-modified')
    return null
  }

  function cacheControlFor(request: FastifyRequest, reply: FastifyReply) {
    const policy = policyOf(request.method)
    const { authorization, cookie } = request.headers
    const isKnown = authorization !== undefined || cookie !== undefined || reply.hasHeader('set-cookie') || isPrivate(request)
    return isKnown ? policy.personal : policy.value
  }
}

/** Prevents all caches from storing a response. An error is about a single request, and is not a version of the resource (rule C5, E5). */
export function forbidKeeping(reply: FastifyReply): void {
  reply.header('cache-control', 'no-store')
  reply.removeHeader('last-modified')
  // A 412 carries the tag of the current version.
  if (reply.statusCode !== 412) reply.removeHeader('etag')
}

function nameCoding(reply: FastifyReply) {
  const tag = reply.getHeader('etag')
  const coding = reply.getHeader('content-encoding')
  if (typeof tag === 'string' && typeof coding === 'string' && coding !== 'identity') reply.header('etag', tagInCoding(tag, coding))
}

function addVaryByCoding(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const type = reply.getHeader('content-type')
  if (reply.statusCode !== 304 && (type === undefined || !isCompressible(type))) return
  reply.header('vary', varyWith(reply.getHeader('vary'), 'accept-encoding'))
  // Fastify has set the length of the uncompressed body; GET may send another length (RFC 9110 §8.6).
  const isBare = request.method === 'HEAD' && (payload === null || payload === undefined)
  if (isBare && request.headers['accept-encoding'] !== undefined) reply.removeHeader('content-length')
}
