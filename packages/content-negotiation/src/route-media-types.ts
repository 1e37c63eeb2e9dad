import { json } from './accept.ts'
import { parseMediaType } from './media-type.ts'

/**
 * Returns the media types that a route can send, from its `config.produces`, in lower case and without duplicates. JSON is added to the
 * list of a route of the API (rule S3). Throws a `TypeError` that names the route and says how to fix it.
 */
export function producedTypes(produces: readonly string[] | undefined, isOfApi: boolean, route: string): readonly string[] {
  return Object.freeze([...new Set([...declaredTypes('config.produces', produces ?? [json], route), ...(isOfApi ? [json] : [])])])
}

/**
 * Returns the media types that a route accepts, from its `config.consumes`, in lower case and without duplicates. By default those of the map in
 * `schema.body.content`, or else only JSON, which is a merge patch (RFC 7396) for a route that only has the method PATCH. Throws a `TypeError` for a
 * type that the map lacks, because no schema would validate its bodies.
 */
export function consumedTypes(
  consumes: readonly string[] | undefined,
  methods: readonly string[],
  body: unknown,
  route: string
): readonly string[] {
  const mapped = isMap(body) ? declaredTypes('schema.body.content', Object.keys(body.content), route) : undefined
  const usual = methods.every((method) => method === 'PATCH') ? [json, 'application/merge-patch+json'] : [json]
  const types = declaredTypes('config.consumes', consumes ?? mapped ?? usual, route)
  const missing = types.find((type) => mapped?.includes(type) === false)
  if (missing !== undefined) {
    throw new TypeError(
      `content-negotiation: ${route}: config.consumes contains "${missing}", which schema.body.content lacks. Add a schema for it there, or remove it from config.consumes.`
    )
  }
  return Object.freeze([...new Set(types)])
}

/**
 * Returns the schema of a body that can also be bytes: a map in which the schema of the route is that of its other media types. Fastify would
 * validate the bytes by it.
 */
export function schemaBesideBytes(body: unknown, consumes: readonly string[]): unknown {
  if (body === undefined || isMap(body) || consumes.every(isBinary) || !consumes.some(isBinary)) return body
  return { content: Object.fromEntries(consumes.map((type) => [type, { schema: isBinary(type) ? {} : body }])) }
}

// What no parser of Fastify turns into values. Of any other type, a plugin may.
function isBinary(type: string): boolean {
  return /^(?:(?:image|audio|video|font|model)\/.*|application\/(?:octet-stream|pdf|zip|gzip|wasm))$/.test(type)
}

function isMap(body: unknown): body is { readonly content: object } {
  return typeof body === 'object' && body !== null && 'content' in body && typeof body.content === 'object' && body.content !== null
}

function declaredTypes(place: string, types: readonly string[], route: string) {
  // Fastify finds the schema of a body by the media type in lower case.
  const isKey = place === 'schema.body.content'
  if (!Array.isArray(types) || types.length === 0) {
    throw new TypeError(
      `content-negotiation: ${route}: ${place} must be a non-empty array of media types, but is ${JSON.stringify(types)}. Omit it to use JSON.`
    )
  }
  return types.map((mediaType: unknown) => {
    const parsed = typeof mediaType === 'string' ? parseMediaType(mediaType) : undefined
    if (
      parsed === undefined ||
      parsed.essence !== (isKey ? mediaType : (mediaType as string).toLowerCase()) ||
      parsed.essence.includes('*')
    ) {
      throw new TypeError(
        `content-negotiation: ${route}: ${place} contains the invalid media type ${JSON.stringify(mediaType)}. Use a media type such as "text/csv", ${isKey ? 'in lower case, ' : ''}without wildcards or parameters.`
      )
    }
    return parsed.essence
  })
}
