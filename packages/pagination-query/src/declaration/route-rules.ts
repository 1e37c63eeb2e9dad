import type { RouteOptions } from 'fastify'
import type { Collection } from '../collection.ts'
import type { Settings } from '../options.ts'
import { answersList, type ListAnswer } from '../page/list-answer.ts'
import type { BoundCollection } from './bound-collection.ts'
import type { Dereference } from './item-members.ts'

/** How a route is called in complaints. */
export function routeName({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string {
  return `${String(method)} ${url}`
}

/** Throws a `TypeError` when a GET answers a list that could grow without bound (rule Q10). */
export function requireCollection(route: RouteOptions, dereference: Dereference): void {
  const { config, schema, method } = route
  if (![method].flat().includes('GET') || config?.operational === true || !answersList(schema?.response, dereference)) return
  const reason = config?.waivers?.['Q10']
  if (typeof reason === 'string' && reason.trim() !== '') return
  throw new TypeError(
    `${routeName(route)} answers a list without pages (rule Q10). Give it config.collection, or config.waivers: { Q10: 'why it stays short' }.`
  )
}

/** Throws a `TypeError` when a collection can't be served on this route. */
export function requireCollectionRoute(route: RouteOptions, collection: Collection, settings: Settings): void {
  const name = routeName(route)
  const { cursor } = settings
  if ([route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD'))
    throw new TypeError(`${name} has the collection "${collection.name}", but is no GET. Collections are read by GET.`)
  if (route.schema?.querystring !== undefined || (route.schema as { query?: unknown } | undefined)?.query !== undefined)
    throw new TypeError(`${name} has a collection and schema.querystring. Remove the schema: the collection reads the query.`)
  if (collection.style === 'cursor' && cursor === undefined)
    throw new TypeError(
      `${name} has a collection by cursor. Give the plugin cursor: { secrets: [...] }, or { dangerouslyUnsigned: true } in tests.`
    )
  if (collection.style === 'cursor' && collection.readable !== undefined && cursor?.keys === undefined)
    throw new TypeError(
      `${name} has a collection with readable, whose cursors hold values that not everybody may see. Give cursor.secrets.`
    )
}

/** Throws a `TypeError` when the answer of the route lacks what the collection has. */
export function requireAnswer(
  route: RouteOptions,
  { name, fields }: Collection,
  answer: ListAnswer | undefined
): asserts answer is ListAnswer {
  if (answer === undefined)
    throw new TypeError(
      `${routeName(route)} has the collection "${name}", but its 200 is no array of objects. Declare one, and register this plugin before those that change response schemas, and shared schemas before their routes.`
    )
  const missing = [...fields.keys()].find((field) => !answer.members.schemas.has(field))
  if (missing !== undefined)
    throw new TypeError(
      `${routeName(route)} answers without "${missing}", a field of the collection "${name}". Declare it in the 200 schema.`
    )
}

/** Makes the check that every route of one resource type is paged in one style (rule Q7). */
export function styleKeeper(): (route: RouteOptions, collection: BoundCollection) => void {
  const styles = new Map<string, { readonly style: string; readonly where: string }>()
  return (route, { name, style }) => {
    const known = styles.get(name)
    if (known !== undefined && known.style !== style)
      throw new TypeError(`${routeName(route)} pages "${name}" by ${style}, ${known.where} by ${known.style}. Choose one style (rule Q7).`)
    styles.set(name, { style, where: known?.where ?? routeName(route) })
  }
}
