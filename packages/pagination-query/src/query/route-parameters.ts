import type { JsonSchema } from '@concordat/json-schema'
import { nearestName } from '@concordat/plugin-options'
import { contractOf, isOutside } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { requireCollection } from '../declaration/route-rules.ts'
import { invalidQuery, type QueryProblem } from '../errors.ts'
import { echo } from './query-string.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void

/**
 * Checks a route without a collection: it must not respond with a list that is not paginated (rule Q10). Makes a route of the API refuse query parameters that its schema does not declare. Otherwise a misspelt parameter would be ignored, and each
 * spelling would be stored separately in shared caches. A schema that accepts any parameter is left as it is.
 */
export function checkOtherRoute(app: FastifyInstance, route: RouteOptions, dereference: Dereference): void {
  if (isOutside(app, route)) return
  requireCollection(route, dereference)
  // Without versions, nothing tells the routes of the API from others.
  if (contractOf(app, 'belongsToApi') === undefined || [route.method].flat().includes('OPTIONS')) return
  const refuse = undeclaredRefusal(route, dereference)
  if (refuse !== undefined) route.preValidation = [refuse, route.preValidation ?? []].flat()
}

function undeclaredRefusal({ schema }: RouteOptions, dereference: Dereference): Hook | undefined {
  const { querystring, query = querystring } = (schema ?? {}) as { readonly querystring?: JsonSchema; readonly query?: JsonSchema }
  if (query !== undefined && acceptsAny(query)) return undefined
  const names = query === undefined ? [] : [...membersOf(query, dereference).schemas.keys()]
  const known = new Set(names)
  if (query !== undefined && names.length === 0 && query['type'] !== 'object') return undefined

  return function refuseParameters(request, _reply, done) {
    const problems: QueryProblem[] = []
    for (const name of Object.keys(request.query as object)) if (!known.has(name)) problems.push(problemOf(name, names))
    if (problems.length > 0) throw invalidQuery(problems)
    done()
  }
}

function acceptsAny({ additionalProperties = false, patternProperties, unevaluatedProperties = false }: JsonSchema) {
  return additionalProperties !== false || patternProperties !== undefined || unevaluatedProperties !== false
}

function problemOf(name: string, names: readonly string[]): QueryProblem {
  const nearest = nearestName(name, names)
  const field = echo(name)
  return nearest === undefined ? { field, key: 'unknownParameter' } : { field, key: 'unknownParameterNear', params: { nearest } }
}
