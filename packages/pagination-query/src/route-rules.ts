import type { RouteOptions } from 'fastify'
import type { Collection } from './collection.ts'
import type { ListResponse } from './declaration/list-response.ts'
import type { Settings } from './options.ts'

/** Returns the name of a route for error messages, such as `GET /orders`. */
export function routeName({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string {
  return `${String(method)} ${url}`
}

/** Throws a `TypeError` if this route cannot serve the collection. */
export function requireCollectionRoute(route: RouteOptions, collection: Collection, settings: Settings): void {
  const name = routeName(route)
  const { cursor } = settings
  if (!(collection?.fields instanceof Map))
    throw new TypeError(
      `pagination-query: ${name}: config.collection must be a declared collection. Create it with collection(schema)({ name, style, … }).`
    )
  if ([route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD'))
    throw new TypeError(`pagination-query: ${name} must be a GET route, because it serves the collection "${collection.name}". Use GET.`)
  if (route.schema?.querystring !== undefined || (route.schema as { query?: unknown } | undefined)?.query !== undefined)
    throw new TypeError(
      `pagination-query: ${name} must not have schema.querystring, because its collection validates the query. Remove it.`
    )
  if (collection.style === 'cursor' && cursor === undefined)
    throw new TypeError(
      `pagination-query: ${name} serves a collection with cursors, which requires options.cursor. Set it to { secrets: [...] }.`
    )
}

/** Throws a `TypeError` if the 200 response of the route is not an array of objects with all fields of the collection. */
export function requireResponse(
  route: RouteOptions,
  { name, fields }: Collection,
  response: ListResponse | undefined
): asserts response is ListResponse {
  if (response === undefined)
    throw new TypeError(
      `pagination-query: ${routeName(route)} serves the collection "${name}", so its 200 response must be declared as an array of objects. Register this plugin before plugins that change response schemas, and shared schemas before their routes.`
    )
  const missing = [...fields.keys()].find((field) => !response.members.schemas.has(field))
  if (missing !== undefined)
    throw new TypeError(
      `pagination-query: ${routeName(route)} does not declare "${missing}", a field of the collection "${name}", in its 200 response. Add it to the schema.`
    )
}

/** Returns a function that checks that all routes of a resource type use the same style of pagination (rule Q7). */
export function styleKeeper(): (route: RouteOptions, collection: Collection) => void {
  const styles = new Map<string, { readonly style: string; readonly where: string }>()
  return (route, { name, style }) => {
    const known = styles.get(name)
    if (known !== undefined && known.style !== style)
      throw new TypeError(
        `pagination-query: ${routeName(route)} paginates "${name}" by ${style}, but ${known.where} paginates it by ${known.style}. Choose one style (rule Q7).`
      )
    styles.set(name, { style, where: known?.where ?? routeName(route) })
  }
}
