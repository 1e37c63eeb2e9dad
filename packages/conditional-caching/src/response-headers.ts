import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CacheControl } from './cache-policy.ts'
import { isCompressible, tagInCoding } from './content-coding.ts'
import { isRead } from './method.ts'
import type { ResolvedOptions } from './options.ts'
import { varyByEncoding } from './vary.ts'

/** The route settings that apply to responses. */
export interface CachedRoute {
  /** Returns the cache policy for a method, because a route may have several methods. */
  readonly policyOf: (method: string) => CacheControl
  /** Whether `@fastify/compress` has a hook on the route. */
  readonly isCompressed: boolean
}

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

/** Creates the function that sets the caching headers of a response after compression. It returns the payload to send. */
export function responseHeaders({ policyOf, isCompressed }: CachedRoute, { isPrivate, etagOnPut }: ResolvedOptions) {
  return function write(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    const { method } = request
    const isUnchanged = reply.statusCode === 304
    if (reply.statusCode >= 400) forbidKeeping(reply)
    else {
      if (!reply.hasHeader('cache-control')) reply.header('cache-control', cacheControlFor(request, reply))
      // Allowed only if the representation was stored as it was received (RFC 9110 §9.3.4).
      if (method === 'PUT' && !etagOnPut) reply.removeHeader('etag')
      else if (isRead(method) && !isUnchanged) nameCoding(reply)
    }
    if (isCompressed) addVaryByCoding(request, reply, payload)
    if (!isUnchanged) return payload
    for (const header of bodyHeaders) reply.removeHeader(header)
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
  reply.header('vary', varyByEncoding(reply.getHeader('vary')))
  // Fastify has set the length of the uncompressed body; GET may send another length (RFC 9110 §8.6).
  const isBare = request.method === 'HEAD' && (payload === null || payload === undefined)
  if (isBare && request.headers['accept-encoding'] !== undefined) reply.removeHeader('content-length')
}
