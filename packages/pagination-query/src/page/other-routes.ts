import { checkAtStart, reportBrokenRules, requireWaivers } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { chain, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf, isOutside } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { respondsWithList } from '../declaration/list-response.ts'
import { invalidQuery, type QueryProblem } from '../errors.ts'
import { unknownParameter } from '../query/query-reader.ts'
import { routeName } from '../route-rules.ts'
import { type SchemaTools, serveResource } from './resource.ts'

/** Returns what is wrong with the query of a request. */
export type Check = (request: FastifyRequest) => readonly QueryProblem[]

/**
 * Prepares a route without a collection: it must not respond with a list that is not paginated (rule Q10), accepts `fields` if it says so, and in the
 * API refuses query parameters that its schema does not declare, which would otherwise be ignored, and stored separately in shared caches.
 */
export function checkOtherRoute(app: FastifyInstance, route: RouteOptions, tools: SchemaTools): void {
  const { dereference } = tools
  if (isOutside(app, route)) return
  lintList(app, route, dereference)
  const { projection } = route.config ?? {}
  // Without versions, nothing tells the routes of the API from others.
  const isOfApi = contractOf(app, 'belongsToApi') !== undefined && ![route.method].flat().includes('OPTIONS')
  const served = projection === undefined ? undefined : serveResource(app, route, projection, tools)
  const undeclared = isOfApi ? undeclaredCheck(route, dereference, served?.names ?? []) : undefined
  const checks = [served?.check, undeclared].filter((check) => check !== undefined)
  if (checks.length === 0) return
  route.preValidation = chain('preValidation', stepHook('preValidation', checkQuery), route.preValidation)

  function checkQuery(request: FastifyRequest) {
    // A request without a query has no problem, and most have none.
    for (const _ in request.query as object) return checkMembers(request)
    return undefined
  }

  function checkMembers(request: FastifyRequest) {
    const problems = checks.flatMap((check) => check(request))
    return problems.length > 0 ? invalidQuery(problems) : served?.admit(request)
  }
}

// Reports a GET route that responds with a list that is neither paginated nor covered by a waiver (rule Q10).
function lintList(app: FastifyInstance, route: RouteOptions, dereference: Dereference): void {
  const { config, schema, method } = route
  if (![method].flat().includes('GET') || config?.operational === true || !respondsWithList(schema?.response, dereference)) return
  const line = `pagination-query: ${routeName(route)} responds with a list that is not paginated (rule Q10). Set config.collection, or config.waivers: { Q10: 'why it stays short' }.`
  reportBrokenRules(app, route, [{ id: 'Q10' }], () => new TypeError(line))
  checkAtStart(app, requireReason, route)

  function requireReason() {
    const { Q10 } = route.config?.waivers ?? {}
    if (Q10 !== undefined) requireWaivers(`pagination-query: config.waivers of ${routeName(route)}`, { Q10 }, ['Q10'])
  }
}

function undeclaredCheck({ schema }: RouteOptions, dereference: Dereference, own: readonly string[]): Check | undefined {
  const { querystring, query = querystring } = (schema ?? {}) as { readonly querystring?: JsonSchema; readonly query?: JsonSchema }
  if (query !== undefined && acceptsAny(query)) return undefined
  const declared = query === undefined ? [] : [...membersOf(query, dereference).schemas.keys()]
  if (query !== undefined && declared.length === 0 && query['type'] !== 'object') return undefined
  const names = [...own, ...declared]
  const known = new Set(names)
  return ({ query }) => {
    const unknown = Object.keys(query as object).filter((name) => !known.has(name))
    return unknown.map((name) => unknownParameter(name, names))
  }
}

function acceptsAny({ additionalProperties = false, patternProperties, unevaluatedProperties = false }: JsonSchema) {
  return additionalProperties !== false || patternProperties !== undefined || unevaluatedProperties !== false
}
