import { type JsonSchema, parseExactly } from '@concordat/json-schema'
import { requireKnownNames } from '@concordat/plugin-options'
import { contractOf } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { fieldsParameter, type ParameterObject } from '../declaration/parameter-objects.ts'
import { routeName } from '../declaration/route-rules.ts'
import type { QueryProblem } from '../errors.ts'
import { readFieldNames } from '../query/query-reader.ts'
import { isJson, jsonSchemasOf, projectedItem } from './list-response.ts'

// The key of the request property that contains the fields that the client requested. Only requests with `fields` have it.
const requestedFields: unique symbol = Symbol('concordat.requestedFields')

/** How a route that responds with a single resource supports `fields`. */
export interface Projection {
  /** The name of the field that identifies the resource. It is always included. */
  readonly id: string
}

/** A projection with what the description of its route needs. */
interface DescribedProjection extends Projection {
  readonly item: JsonSchema
  readonly projected: JsonSchema
  readonly parameters: readonly ParameterObject[]
}

type ProjectedRequest = FastifyRequest & { [requestedFields]?: ReadonlySet<string> }

/**
 * Makes a route that responds with a single resource accept `fields`. Fields are removed from the finished text of the response: a whole resource has
 * been checked and serialized by then, and a request without `fields` costs nothing. Returns the function that reads the parameter and returns its
 * problems. Throws a `TypeError` if the route cannot be projected.
 */
export function serveProjection(
  app: FastifyInstance,
  route: RouteOptions,
  declared: Projection,
  dereference: Dereference
): (request: FastifyRequest) => readonly QueryProblem[] {
  const name = routeName(route)
  requireKnownNames('pagination-query', declared, { id: true }, `${name}: config.projection`)
  const { id } = declared
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
  const projection: DescribedProjection = { id, item, projected: projectedItem(item, members, id), parameters: [fieldsParameter(names)] }
  route.config = Object.assign({}, route.config, { projection })
  // First, because the hook that Fastify adds to HEAD measures the content.
  route.onSend = [project, route.onSend ?? []].flat()
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

  function project(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void) {
    const requested = (request as ProjectedRequest)[requestedFields]
    const isResource = typeof payload === 'string' && reply.statusCode === 200 && isJson(String(reply.getHeader('content-type')))
    if (requested === undefined || !isResource) return done(null, payload)
    // A number of JavaScript has fewer digits than an integer of 64 bits. Most resources have no such number.
    const body = (/\d{16}/.test(payload) ? parseExactly(payload) : JSON.parse(payload)) as Record<string, unknown>
    done(null, JSON.stringify(isEnveloped ? { ...body, data: pick(body['data'] as object, requested) } : pick(body, requested)))
  }
}

function pick(resource: object, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => names.has(name)))
}

function itemOf(response: unknown, dereference: Dereference) {
  const declared = (response as Readonly<Record<string, JsonSchema>> | undefined)?.['200']
  const [item] = declared === undefined ? [] : jsonSchemasOf(declared)
  return item && { item, members: membersOf(item, dereference) }
}
