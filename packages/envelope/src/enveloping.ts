import { Readable } from 'node:stream'
import { hrefOf, type Link, maxLinkLengths, originResolver, targetWithoutSecrets } from '@concordat/plugin-kit/links'
import type { Contracts } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type EnvelopedReply, enveloped } from './enveloped.ts'
import { unenvelopedResponse } from './errors.ts'
import { nullRemoval, type SchemaLookup } from './null-removal.ts'
import type { Settings } from './options.ts'
import { resourceWriter } from './resource-writer.ts'
import { type DeclaredResponses, maxAddedLinks } from './response-schemas.ts'
import { isoClock } from './timestamp.ts'
import { nameOf, type UndeclaredResponses } from './undeclared-response.ts'

const addedLinks: unique symbol = Symbol('concordat.links')
const selfLink: unique symbol = Symbol('concordat.selfLink')

/** The keys of the reply properties for the links that the handler added, and for the self link if it differs from the request URL. */
export const replyProperties: readonly symbol[] = [addedLinks, selfLink]

type LinkedReply = EnvelopedReply & { [addedLinks]: Link[] | null; [selfLink]: Link | null }

/** Adds a link of a handler to a response. Throws a `TypeError` where it has too many, and for a relation type or a method that is too long. */
export function addLink(reply: FastifyReply, link: Link): void {
  const own = reply as LinkedReply
  own[addedLinks] ??= []
  if (own[addedLinks].length === maxAddedLinks)
    throw new TypeError(`envelope: a response can have at most ${maxAddedLinks} links of its handler. Put further links into the resource.`)
  if (link.rel.length > maxLinkLengths.rel || link.method.length > maxLinkLengths.method)
    throw new TypeError(
      `envelope: the link "${link.rel.slice(0, 100)}" has a relation type of more than ${maxLinkLengths.rel} characters, or a method of more than ${maxLinkLengths.method}. Shorten it.`
    )
  own[addedLinks].push(link)
}

/** Sets the URL of a new resource as the self link of a response. */
export function setSelfLink(reply: FastifyReply, href: string): void {
  ;(reply as LinkedReply)[selfLink] = { rel: 'self', href, method: 'GET' }
}

/** Returns the links and the `_meta` of a response. */
export type PartsOf = (
  request: FastifyRequest,
  reply: FastifyReply
) => { readonly links: readonly Link[]; readonly meta: Readonly<Record<string, unknown>> }

// The Content-Type that Fastify sets for an object if the handler sets neither a type nor a serializer.
const plainJson = 'application/json; charset=utf-8'

/**
 * Returns the function that puts what the handlers of a route return into the envelope. A resource with a plain schema is written as text immediately;
 * any other becomes the object that the compiled serializer of the route expects.
 */
export function envelopeOf(
  partsOf: PartsOf,
  pages: Contracts['pages'] | undefined,
  { resources }: DeclaredResponses,
  undeclared: UndeclaredResponses,
  lookup: SchemaLookup
): (request: FastifyRequest, reply: FastifyReply, data: unknown) => unknown {
  const preparations = new Map<number, ReturnType<typeof preparationFor>>()
  return (request, reply, data) => {
    const { statusCode } = reply
    if (isBodiless(statusCode)) return data
    if (!preparations.has(statusCode)) preparations.set(statusCode, preparationFor(statusCode))
    const preparation = preparations.get(statusCode)
    if (preparation !== undefined && (data === null || data === undefined))
      throw unenvelopedResponse(
        `${nameOf(request)} responded with ${statusCode} and ${String(data)}. Return the resource, or reply.noContent().`
      )
    if (preparation === undefined && !undeclared.mustBeSent(request, statusCode))
      throw unenvelopedResponse(`${nameOf(request)} responded with ${statusCode}, for which its schema.response declares no JSON.`)
    ;(reply as EnvelopedReply)[enveloped] = true
    const { links, meta } = partsOf(request, reply)
    if (preparation === undefined) return { data: undeclared.dataOf(reply, data), _links: links, _meta: meta }
    const text = reply.getHeader('content-type') === plainJson ? (pages?.text?.(reply, data) ?? preparation.write?.(data)) : undefined
    if (text === undefined) return { data: preparation.withoutNulls(data), _links: links, _meta: meta }
    reply.serializer(asItIs)
    return `{"data":${text},"_links":${linksText(links)},"_meta":${metaText(meta)}}`
  }

  function preparationFor(statusCode: number) {
    const schema = resources.get(String(statusCode)) ?? resources.get('2xx')
    return schema && { write: resourceWriter(schema), withoutNulls: nullRemoval(schema, lookup) }
  }
}

/** Returns a function that returns the links and the `_meta` of a response. */
export function envelopeParts(options: Settings, pages: Contracts['pages'] | undefined): PartsOf {
  const originOf = originResolver(options)
  const timestamp = isoClock()

  return (request, reply) => {
    const { [selfLink]: self, [addedLinks]: added } = reply as LinkedReply
    const page = pages?.parts(request, reply)
    const links = [self ?? ownUrl(request), ...(added ?? []), ...(page?.links ?? [])]
    return { links, meta: { version: options.version(request), ...page?.meta, timestamp: timestamp() } }
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

/** Returns a stream that writes a list in the envelope. The next piece is read only after the client has received the previous pieces. */
export function listInEnvelope(request: FastifyRequest, reply: FastifyReply, pieces: AsyncIterable<string>, partsOf: PartsOf): Readable {
  const { links, meta } = partsOf(request, reply)
  ;(reply as EnvelopedReply)[enveloped] = true
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

/**
 * Throws if a successful response is sent without the envelope: a string, a Buffer or a stream whose media type the route does not declare, or no
 * body. These bypass serialization, and with it the schema that removes undeclared members. With a status that the route does not declare and that must be
 * sent, returns an envelope without data.
 */
export function requireEnvelope(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  otherTypes: ReadonlySet<string>,
  undeclared: UndeclaredResponses,
  partsOf: PartsOf
): string | undefined {
  const { status = reply.statusCode } = isResponse(payload) ? payload : {}
  if (isBodiless(status)) return undefined
  const mediaType = String(reply.getHeader('content-type'))
    .replace(/ *;.*$/, '')
    .toLowerCase()
  if (payload !== undefined && payload !== null && otherTypes.has(mediaType)) return undefined
  if (payload instanceof Readable) payload.on('error', () => {}).destroy()
  if (undeclared.mustBeSent(request, status)) {
    const { links, meta } = partsOf(request, reply)
    reply.code(status).type(plainJson).removeHeader('content-length')
    return JSON.stringify({ data: null, _links: links, _meta: meta })
  }
  throw unenvelopedResponse(
    `${nameOf(request)} responded with ${status} and a body that is not a resource. Return an object or array, declare the media type in schema.response, or set config.envelope to false.`
  )
}

// By its tag, as Fastify does: a reference to Response would load the fetch implementation of Node.js.
function isResponse(payload: unknown): payload is { status?: number | undefined } {
  return Object.prototype.toString.call(payload) === '[object Response]'
}

function isBodiless(status: number) {
  return status >= 300 || status === 204 || status === 205
}

// JSON.stringify of an object takes longer than of its texts, and most responses have only the link to themselves.
function linksText(links: readonly Link[]) {
  const [self, other] = links
  if (self === undefined || other !== undefined) return JSON.stringify(links)
  return `[{"rel":${JSON.stringify(self.rel)},"href":${JSON.stringify(self.href)},"method":${JSON.stringify(self.method)}}]`
}

function metaText(meta: Readonly<Record<string, unknown>>) {
  for (const name in meta) if (name !== 'version' && name !== 'timestamp') return JSON.stringify(meta)
  return `{"version":${JSON.stringify(meta['version'])},"timestamp":${JSON.stringify(meta['timestamp'])}}`
}

function asItIs(payload: unknown): string {
  return payload as string
}
