import { checkAtStart, reportBrokenRules, requireWaivers } from '@concordat/plugin-kit/findings'
import { type JsonSchema, parseExactly } from '@concordat/plugin-kit/json-schema'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { chain, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf, isOutside } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { isJson, jsonSchemasOf, projectedItem, respondsWithList } from '../declaration/list-response.ts'
import { fieldsParameter } from '../declaration/parameter-objects.ts'
import { invalidQuery, type QueryProblem } from '../errors.ts'
import { readFieldNames, unknownParameter } from '../query/query-reader.ts'
import { routeName } from '../route-rules.ts'

// The key of the request property that contains the fields that the client requested. Only requests with `fields` have it.
const requestedFields: unique symbol = Symbol('concordat.requestedFields')

/** The description of {@link Projection}. */
const projectionOptions = describeOptions('pagination-query', {
  /** The name of the field that identifies the resource. It is always included. */
  id: required(value<string>())
})

/** How a route that responds with a single resource supports `fields`. */
export interface Projection extends OptionsOf<typeof projectionOptions> {}

type ProjectedRequest = FastifyRequest & { [requestedFields]?: ReadonlySet<string> }

type Check = (request: FastifyRequest) => readonly QueryProblem[]

/**
 * Prepares a route without a collection: it must not respond with a list that is not paginated (rule Q10), accepts `fields` if it says so, and in the
 * API refuses query parameters that its schema does not declare, which would otherwise be ignored, and stored separately in shared caches.
 */
export function checkOtherRoute(app: FastifyInstance, route: RouteOptions, dereference: Dereference): void {
  if (isOutside(app, route)) return
  lintList(app, route, dereference)
  const { projection } = route.config ?? {}
  // Without versions, nothing tells the routes of the API from others.
  const isOfApi = contractOf(app, 'belongsToApi') !== undefined && ![route.method].flat().includes('OPTIONS')
  const undeclared = isOfApi ? undeclaredCheck(route, dereference, projection === undefined ? [] : ['fields']) : undefined
  const fields = projection === undefined ? undefined : serveProjection(app, route, projection, dereference)
  const checks = [fields, undeclared].filter((check) => check !== undefined)
  if (checks.length === 0) return
  route.preValidation = chain('preValidation', stepHook('preValidation', checkQuery), route.preValidation)

  function checkQuery(request: FastifyRequest) {
    // A request without a query has no problem, and most have none.
    if (hasNone(request.query as object)) return undefined
    const problems = checks.flatMap((check) => check(request))
    return problems.length > 0 ? invalidQuery(problems) : undefined
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

// Makes a route that responds with a single resource accept `fields`. Fields are removed from the finished text of the response: a whole resource has
// been checked and serialized by then, and a request without `fields` costs nothing. Returns the function that reads the parameter.
function serveProjection(app: FastifyInstance, route: RouteOptions, declared: Projection, dereference: Dereference): Check {
  const name = routeName(route)
  const { id } = projectionOptions.read(declared, `${name}: config.projection`)
  if (typeof id !== 'string')
    throw new TypeError(`pagination-query: ${name}: config.projection must be { id }, with the field that identifies a resource.`)
  if ([route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD'))
    throw new TypeError(`pagination-query: ${name} must be a GET route, because it sets config.projection. Use GET.`)
  const found = itemOf(route.schema?.response, dereference)
  if (!found?.members.schemas.has(id))
    throw new TypeError(
      `pagination-query: ${name} sets config.projection, so its 200 response must be declared as an object with the field "${id}". Add the field to the schema, or remove config.projection.`
    )
  const { item, members } = found
  const names = [...members.schemas.keys()]
  const isEnveloped = contractOf(app, 'envelope')?.wraps(app, route) === true
  const projection = { id, item, projected: projectedItem(item, members, id), parameters: [fieldsParameter(names)] }
  route.config = Object.assign({}, route.config, { projection })
  // First, because the hook that Fastify adds to HEAD measures the content.
  route.onSend = chain('onSend', stepHook('onSend', project), route.onSend)
  return readFields

  function readFields(request: FastifyRequest) {
    const query = request.query as { fields?: string | string[] | undefined }
    const problems: QueryProblem[] = []
    if (query.fields === undefined) return problems
    const requested = readFieldNames([query.fields].flat().join(), names, (field) => members.schemas.has(field), problems) ?? []
    ;(request as ProjectedRequest)[requestedFields] = new Set([id, ...requested])
    // The schema of the query, if the route has one, does not know the parameter.
    delete query.fields
    return problems
  }

  function project(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
    const requested = (request as ProjectedRequest)[requestedFields]
    const isResource = typeof payload === 'string' && reply.statusCode === 200 && isJson(String(reply.getHeader('content-type')))
    if (requested === undefined || !isResource) return undefined
    // A number of JavaScript has fewer digits than an integer of 64 bits. Most resources have no such number.
    const body = (/\d{16}/.test(payload) ? parseExactly(payload) : JSON.parse(payload)) as Record<string, unknown>
    return JSON.stringify(isEnveloped ? { ...body, data: pick(body['data'] as object, requested) } : pick(body, requested))
  }
}

function hasNone(members: object) {
  for (const _ in members) return false
  return true
}

function pick(resource: object, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => names.has(name)))
}

function itemOf(response: unknown, dereference: Dereference) {
  const declared = (response as Readonly<Record<string, JsonSchema>> | undefined)?.['200']
  const [item] = declared === undefined ? [] : jsonSchemasOf(declared)
  return item && { item, members: membersOf(item, dereference) }
}
