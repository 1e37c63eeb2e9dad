import { json, parseMediaType } from '@concordat/plugin-kit/accept'
import type { RouteOptions } from 'fastify'

// The description of a service publishes this limit of `Accept`, `Accept-Patch` and `Accept-Post`.
const maxListLength = 1024

/** Returns the media types that a route can send, from its `config.produces`, and JSON for a route of the API (rule S3). */
export function producedTypes(produces: readonly string[] = [json], isOfApi: boolean, route: string): readonly string[] {
  return Object.freeze([...new Set([...declaredTypes('config.produces', produces, route), ...(isOfApi ? [json] : [])])])
}

/** Returns the media types in the `content` of the schemas of 2xx responses, or undefined if none has a `content`. */
export function responseTypes(response: unknown): readonly string[] | undefined {
  const successes = Object.entries(response ?? {}).filter(([status]) => status.startsWith('2'))
  const types = successes.flatMap(([, schema]) => (isMap(schema) ? Object.keys(schema.content).filter((type) => !type.includes('*')) : []))
  return types.length === 0 ? undefined : types
}

/** Returns whether a route declares which media types its bodies have. */
export function declaresBodyTypes({ config, schema }: Pick<RouteOptions, 'config' | 'schema'>): boolean {
  return config?.consumes !== undefined || isMap(schema?.body)
}

/**
 * Returns the media types that a route accepts: its `config.consumes`, or those of `schema.body.content`, or JSON. Throws a `TypeError` for a type that
 * the map lacks, because no schema would validate its bodies.
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
  if (types.join(', ').length > maxListLength)
    throw new TypeError(
      `content-negotiation: ${route} consumes more media types than fit in ${maxListLength} characters of the header Accept. Remove some.`
    )
  return Object.freeze([...new Set(types)])
}

/** Returns the schema of a body that can also be bytes: a map in which it is the schema of the other types only. */
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
  // Fastify looks the type of a body up in lower case.
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
