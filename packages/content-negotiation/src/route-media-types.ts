import { json } from './accept.ts'
import { parseMediaType } from './media-type.ts'

/**
 * The media types that a route answers with, from its `config.produces`: in lower case, each once, JSON last where the author
 * left it out (rule S3). Throws a `TypeError` that names the route and the way out.
 */
export function producedTypes(produces: readonly string[] | undefined, route: string): readonly string[] {
  return Object.freeze([...new Set([...declaredTypes('produces', produces ?? [json], route), json])])
}

/** The media types that a route reads, from its `config.consumes`, with the same care. JSON is one of them only where it is named. */
export function consumedTypes(consumes: readonly string[] | undefined, route: string): readonly string[] {
  return Object.freeze([...new Set(declaredTypes('consumes', consumes ?? [json], route))])
}

function declaredTypes(key: string, types: readonly string[], route: string) {
  if (!Array.isArray(types) || types.length === 0) {
    throw new TypeError(`${route}: ${key} is ${JSON.stringify(types)}. List at least one media type, or leave it out for JSON.`)
  }
  return types.map((mediaType: unknown) => {
    const parsed = typeof mediaType === 'string' ? parseMediaType(mediaType) : undefined
    if (parsed === undefined || parsed.essence !== (mediaType as string).toLowerCase() || parsed.essence.includes('*')) {
      throw new TypeError(
        `${route}: ${key} has ${JSON.stringify(mediaType)}. Name each media type in full, without wildcards and parameters, as "text/csv".`
      )
    }
    return parsed.essence
  })
}
