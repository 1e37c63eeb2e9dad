import type { JsonSchema } from '@concordat/json-schema'
import { nearestName } from '@concordat/plugin-options'
import { contractOf, isOutside } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { requireCollection } from '../declaration/route-rules.ts'
import { invalidQuery, type QueryProblem } from '../errors.ts'
import { serveProjection } from '../page/item-fields.ts'
import { echo } from './query-string.ts'

type Check = (request: FastifyRequest) => readonly QueryProblem[]

/**
 * Prepares a route without a collection: it must not respond with a list that is not paginated (rule Q10), and accepts `fields` if it says so. A route
 * of the API refuses query parameters that its schema does not declare. Otherwise a misspelt parameter would be ignored, and each spelling would be
 * stored separately in shared caches. A schema that accepts any parameter is left as it is.
 */
export function checkOtherRoute(app: FastifyInstance, route: RouteOptions, dereference: Dereference): void {
  if (isOutside(app, route)) return
  requireCollection(route, dereference)
  const { projection } = route.config ?? {}
  // Without versions, nothing tells the routes of the API from others.
  const isOfApi = contractOf(app, 'belongsToApi') !== undefined && ![route.method].flat().includes('OPTIONS')
  const undeclared = isOfApi ? undeclaredCheck(route, dereference, projection === undefined ? [] : ['fields']) : undefined
  const fields = projection && serveProjection(app, route, projection, dereference)
  const checks = [fields, undeclared].filter((check) => check !== undefined)
  if (checks.length === 0) return
  route.preValidation = [checkQuery, route.preValidation ?? []].flat()

  function checkQuery(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction) {
    const problems = checks.flatMap((check) => check(request))
    if (problems.length > 0) throw invalidQuery(problems)
    done()
  }
}

function undeclaredCheck({ schema }: RouteOptions, dereference: Dereference, own: readonly string[]): Check | undefined {
  const { querystring, query = querystring } = (schema ?? {}) as { readonly querystring?: JsonSchema; readonly query?: JsonSchema }
  if (query !== undefined && acceptsAny(query)) return undefined
  const declared = query === undefined ? [] : [...membersOf(query, dereference).schemas.keys()]
  if (query !== undefined && declared.length === 0 && query['type'] !== 'object') return undefined
  const names = [...own, ...declared]
  const known = new Set(names)

  return (request) => {
    const problems: QueryProblem[] = []
    for (const name of Object.keys(request.query as object)) if (!known.has(name)) problems.push(problemOf(name, names))
    return problems
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
