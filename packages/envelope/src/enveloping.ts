import { Readable } from 'node:stream'
import { hrefOf, type Link, originResolver, targetWithoutSecrets } from '@concordat/links'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeclaredAnswers } from './answer-schemas.ts'
import { unenvelopedAnswer } from './errors.ts'
import { nullRemoval, type SchemaLookup } from './null-removal.ts'
import type { ResolvedEnvelopeOptions } from './options.ts'
import { isoClock } from './timestamp.ts'
import { type EnvelopedReply, enveloped } from './timestamp-tail.ts'

/** On each reply: the links that the handler added, and the self link when it is not the request's own URL. */
export const addedLinks: unique symbol = Symbol('concordat.links')
export const selfLink: unique symbol = Symbol('concordat.selfLink')

/** A reply with the links that its handler asked for. */
export type LinkedReply = EnvelopedReply & { [addedLinks]: Link[] | null; [selfLink]: Link | null }

type Removal = (value: unknown) => unknown

/** Makes the function that puts what a handler returned into the envelope, for the answers that one route declares. */
export function envelopeOf(options: ResolvedEnvelopeOptions): (answers: DeclaredAnswers, lookup: SchemaLookup) => Enveloping {
  const { version, parts, now } = options
  const originOf = originResolver(options)
  const timestamp = isoClock(now)

  return ({ resources }, lookup) => {
    const removals = new Map<number, Removal | undefined>()
    return (request, reply, data) => {
      const { statusCode } = reply
      if (statusCode >= 300 || statusCode === 204 || statusCode === 205) return data
      if (data === null || data === undefined)
        throw unenvelopedAnswer(
          `${nameOf(request)} answered ${statusCode} with ${String(data)}. Return the resource, or reply.noContent().`
        )
      if (!removals.has(statusCode)) removals.set(statusCode, removalFor(statusCode))
      const withoutNulls = removals.get(statusCode)
      if (withoutNulls === undefined)
        throw unenvelopedAnswer(`${nameOf(request)} answered ${statusCode}, which its schema.response does not declare.`)
      const own = reply as LinkedReply
      own[enveloped] = true
      return {
        data: withoutNulls(data),
        _links: linksOf(request, own),
        _meta: { version: version(request), timestamp: timestamp() }
      }
    }

    function removalFor(statusCode: number): Removal | undefined {
      const schema = resources.get(String(statusCode)) ?? resources.get('2xx')
      return schema && nullRemoval(schema, lookup)
    }
  }

  function linksOf(request: FastifyRequest, reply: LinkedReply): Link[] {
    const links = [reply[selfLink] ?? ownUrl(request)]
    if (reply[addedLinks] !== null) links.push(...reply[addedLinks])
    for (const part of parts) links.push(...(part(request, reply).links ?? []))
    return links
  }

  // The self link of HEAD says GET, or its Content-Length would not be that of GET.
  function ownUrl(request: FastifyRequest): Link {
    const { method } = request
    return {
      rel: 'self',
      href: hrefOf(originOf(request), targetWithoutSecrets(request.raw.url as string)),
      method: method === 'HEAD' ? 'GET' : method
    }
  }
}

/** Puts a payload into the envelope, or returns it as it is when the status has none. */
export type Enveloping = (request: FastifyRequest, reply: FastifyReply, data: unknown) => unknown

/**
 * Throws when a success leaves without the envelope: a string, a Buffer or a stream that the route does not declare by its
 * media type, or nothing at all. They pass by serialization, and with it by the schema that strips what is not declared.
 */
export function requireEnvelope(request: FastifyRequest, reply: FastifyReply, payload: unknown, otherTypes: ReadonlySet<string>): void {
  if ((reply as EnvelopedReply)[enveloped]) return
  const { status = reply.statusCode } = isResponse(payload) ? payload : {}
  if (status >= 300 || status === 204 || status === 205) return
  const mediaType = String(reply.getHeader('content-type'))
    .replace(/ *;.*$/, '')
    .toLowerCase()
  if (payload !== undefined && payload !== null && otherTypes.has(mediaType)) return
  if (payload instanceof Readable) payload.on('error', () => {}).destroy()
  throw unenvelopedAnswer(
    `${nameOf(request)} answered ${status} with a body that is no resource. Return an object or array, declare the media type in schema.response, or set config.envelope: false.`
  )
}

// By its tag, as Fastify does: the mere name Response would load Node's fetch.
function isResponse(payload: unknown): payload is { status?: number } {
  return Object.prototype.toString.call(payload) === '[object Response]'
}

function nameOf(request: FastifyRequest) {
  return `${request.method} ${request.routeOptions.url}`
}
