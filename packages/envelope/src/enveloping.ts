import { Readable } from 'node:stream'
import { hrefOf, type Link, originResolver, targetWithoutSecrets } from '@concordat/links'
import type { Contracts } from '@concordat/plugin-wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { unenvelopedResponse } from './errors.ts'
import { nullRemoval, type SchemaLookup } from './null-removal.ts'
import type { ResolvedEnvelopeOptions } from './options.ts'
import { type ResourceWriter, resourceWriter } from './resource-writer.ts'
import type { DeclaredResponses } from './response-schemas.ts'
import { isoClock } from './timestamp.ts'
import { type EnvelopedReply, enveloped, markEnveloped } from './timestamp-tail.ts'

/**
 * The key of the reply property for the links that the handler added; `selfLink` is the key for the self link if it differs from the
 * request URL.
 */
export const addedLinks: unique symbol = Symbol('concordat.links')
export const selfLink: unique symbol = Symbol('concordat.selfLink')

/** A reply with the links that its handler added. */
export type LinkedReply = EnvelopedReply & { [addedLinks]: Link[] | null; [selfLink]: Link | null }

/** The functions that prepare a resource for the envelope, for one status code. */
interface Preparation {
  readonly write: ResourceWriter | undefined
  readonly withoutNulls: (value: unknown) => unknown
}

// The Content-Type that Fastify sets for an object if the handler sets neither a type nor a serializer.
const plainJson = 'application/json; charset=utf-8'

/**
 * Returns a function that takes the declared responses of a route and returns the function that puts a handler's return value into the envelope. A
 * resource with a plain schema is written as text immediately; any other becomes the object that the compiled serializer of the route expects.
 */
export function envelopeOf(partsOf: PartsOf): (responses: DeclaredResponses, lookup: SchemaLookup) => Enveloping {
  return ({ resources }, lookup) => {
    const preparations = new Map<number, Preparation | undefined>()
    return (request, reply, data) => {
      const { statusCode } = reply
      if (statusCode >= 300 || statusCode === 204 || statusCode === 205) return data
      if (data === null || data === undefined)
        throw unenvelopedResponse(
          `${nameOf(request)} responded with ${statusCode} and ${String(data)}. Return the resource, or reply.noContent().`
        )
      if (!preparations.has(statusCode)) preparations.set(statusCode, preparationFor(statusCode))
      const preparation = preparations.get(statusCode)
      if (preparation === undefined)
        throw unenvelopedResponse(`${nameOf(request)} responded with ${statusCode}, which its schema.response does not declare.`)
      const own = reply as LinkedReply
      own[enveloped] = true
      const { links, meta } = partsOf(request, own)
      const text = reply.getHeader('content-type') === plainJson ? preparation.write?.(data) : undefined
      if (text === undefined) return { data: preparation.withoutNulls(data), _links: links, _meta: meta }
      reply.serializer(asItIs)
      return `{"data":${text},"_links":${JSON.stringify(links)},"_meta":${JSON.stringify(meta)}}`
    }

    function preparationFor(statusCode: number): Preparation | undefined {
      const schema = resources.get(String(statusCode)) ?? resources.get('2xx')
      return schema && { write: resourceWriter(schema), withoutNulls: nullRemoval(schema, lookup) }
    }
  }
}

/** Returns the links and the `_meta` of a response. */
export type PartsOf = (
  request: FastifyRequest,
  reply: FastifyReply
) => { readonly links: readonly Link[]; readonly meta: Readonly<Record<string, unknown>> }

/** Returns a function that computes the links and the `_meta` of a response. */
export function envelopeParts(options: ResolvedEnvelopeOptions, pages: Contracts['pages'] | undefined): PartsOf {
  const { version, now } = options
  const originOf = originResolver(options)
  const timestamp = isoClock(now)
  const parts = [...(pages ? [pages.parts] : []), ...options.parts]

  return (request, response) => {
    const reply = response as LinkedReply
    const links = [reply[selfLink] ?? ownUrl(request)]
    if (reply[addedLinks] !== null) links.push(...reply[addedLinks])
    let furtherMeta: Readonly<Record<string, unknown>> | undefined
    for (const part of parts) {
      const added = part(request, reply)
      if (added.links) links.push(...added.links)
      if (added.meta) furtherMeta = { ...furtherMeta, ...added.meta }
    }
    return { links, meta: { version: version(request), ...furtherMeta, timestamp: timestamp() } }
  }

  // The self link of HEAD has the method GET, because its Content-Length must equal that of GET.
  function ownUrl(request: FastifyRequest): Link {
    const { method } = request
    return {
      rel: 'self',
      href: hrefOf(originOf(request), targetWithoutSecrets(request.raw.url as string, pages?.filters(request))),
      method: method === 'HEAD' ? 'GET' : method
    }
  }
}

/**
 * Returns a stream that writes a list in the envelope as JSON. Each piece is the JSON text of one item, or of several separated by commas. The next
 * piece is read only after the client has received the previous pieces.
 */
export function listInEnvelope(request: FastifyRequest, reply: FastifyReply, pieces: AsyncIterable<string>, partsOf: PartsOf): Readable {
  const { links, meta } = partsOf(request, reply)
  markEnveloped(reply)
  reply.type(plainJson)
  return Readable.from(withEnds())

  async function* withEnds() {
    yield '{"data":['
    let isFirst = true
    for await (const piece of pieces) {
      if (piece === '') continue
      yield isFirst ? piece : `,${piece}`
      isFirst = false
    }
    yield `],"_links":${JSON.stringify(links)},"_meta":${JSON.stringify(meta)}}`
  }
}

/** Puts a payload into the envelope, or returns it unchanged if the status has no envelope. */
export type Enveloping = (request: FastifyRequest, reply: FastifyReply, data: unknown) => unknown

/**
 * Throws if a successful response is sent without the envelope: a string, a Buffer or a stream whose media type the route does not declare, or no
 * body. These bypass serialization, and with it the schema that removes undeclared members.
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
  throw unenvelopedResponse(
    `${nameOf(request)} responded with ${status} and a body that is not a resource. Return an object or array, declare the media type in schema.response, or set config.envelope to false.`
  )
}

// By its tag, as Fastify does: a reference to Response would load the fetch implementation of Node.js.
function isResponse(payload: unknown): payload is { status?: number | undefined } {
  return Object.prototype.toString.call(payload) === '[object Response]'
}

function asItIs(payload: unknown): string {
  return payload as string
}

function nameOf(request: FastifyRequest) {
  return `${request.method} ${request.routeOptions.url}`
}
