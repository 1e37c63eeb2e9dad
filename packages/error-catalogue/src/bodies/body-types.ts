import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { errorCatalogueErrors } from '../catalogue/errors.ts'

/**
 * Makes a route with a schema for each media type (`schema.body.content`) refuse a body of any other type with 415, because no schema would validate it,
 * and a missing body too, unless a schema allows null. Throws a `TypeError` for a media type that Fastify never finds in the map.
 */
export function requireMappedType(route: RouteOptions): void {
  const { content } = (route.schema?.body ?? {}) as { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> }
  if (!isObject(content)) return
  const types = Object.keys(content)
  const wrong = types.find((type) => !/^[^\s;A-Z*]+\/[^\s;A-Z*]+$/.test(type))
  if (wrong !== undefined)
    throw new TypeError(
      `error-catalogue: ${String(route.method)} ${route.url} schema.body.content has the media type "${wrong}", with which no request is compared. Write it in lower case, without parameters or wildcards.`
    )
  const known = new Set<string | undefined>(types)
  // Without a media type, the body is missing, and Fastify validates nothing.
  if (Object.values(content).some(({ schema = {} }) => allowsNull(schema))) known.add(undefined)
  const accept = types.join(', ')
  route.preParsing = [refuseOtherType, route.preParsing ?? []].flat()

  function refuseOtherType(request: FastifyRequest, _reply: FastifyReply, _payload: unknown, next: (error?: Error) => void) {
    if (known.has(request.mediaType)) return next()
    next(errorCatalogueErrors.create('UNSUPPORTED_MEDIA_TYPE', { headers: { accept } }))
  }
}

function allowsNull({ type, nullable }: JsonSchema) {
  return nullable === true || [type].flat().includes('null')
}
