import { json } from './accept.ts'
import { parseMediaType } from './media-type.ts'

/**
 * Returns the media types that a route can send, from its `config.produces`, in lower case and without duplicates. JSON is added to the
 * list of a route of the API (rule S3). Throws a `TypeError` that names the route and says how to fix it.
 */
export function producedTypes(produces: readonly string[] | undefined, isOfApi: boolean, route: string): readonly string[] {
  return Object.freeze([...new Set([...declaredTypes('produces', produces ?? [json], route), ...(isOfApi ? [json] : [])])])
}

/**
 * Returns the media types that a route accepts, from its `config.consumes`, in lower case and without duplicates. By default only JSON,
 * which is a merge patch (RFC 7396) for a route that only has the method PATCH.
 */
export function consumedTypes(consumes: readonly string[] | undefined, methods: readonly string[], route: string): readonly string[] {
  const usual = methods.every((method) => method === 'PATCH') ? [json, 'application/merge-patch+json'] : [json]
  return Object.freeze([...new Set(declaredTypes('consumes', consumes ?? usual, route))])
}

function declaredTypes(key: string, types: readonly string[], route: string) {
  if (!Array.isArray(types) || types.length === 0) {
    throw new TypeError(
      `content-negotiation: ${route}: config.${key} must be a non-empty array of media types, but is ${JSON.stringify(types)}. Omit it to use JSON.`
    )
  }
  return types.map((mediaType: unknown) => {
    const parsed = typeof mediaType === 'string' ? parseMediaType(mediaType) : undefined
    if (parsed === undefined || parsed.essence !== (mediaType as string).toLowerCase() || parsed.essence.includes('*')) {
      throw new TypeError(
        `content-negotiation: ${route}: config.${key} contains the invalid media type ${JSON.stringify(mediaType)}. Use a media type such as "text/csv", without wildcards or parameters.`
      )
    }
    return parsed.essence
  })
}
