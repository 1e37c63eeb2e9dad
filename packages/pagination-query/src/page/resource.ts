import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { chain, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Collection } from '../collection.ts'
import { type Dereference, membersOf } from '../declaration/item-members.ts'
import { jsonSchemasOf, projectedItem } from '../declaration/list-response.ts'
import { deletedParameters, fieldNamesOf, fieldsParameter, includeParameters } from '../declaration/parameter-objects.ts'
import { withRelations } from '../declaration/relation-schema.ts'
import type { QueryProblem } from '../errors.ts'
import type { RequestedRelations } from '../list/related.ts'
import { includedFor, readInclude, splitFields } from '../query/include-reader.ts'
import { readFieldNames, readFlag } from '../query/query-reader.ts'
import { routeName } from '../route-rules.ts'
import { deletedRows } from './deleted.ts'
import { changedText, noteIncluded } from './included.ts'
import { relationAccess } from './relation-access.ts'

// The keys of the request properties with what the client requested. Only requests with `fields`, `include` or `deleted` have them.
const requestedFields: unique symbol = Symbol('concordat.requestedFields')
const requestedRelations: unique symbol = Symbol('concordat.requestedRelations')
const requestedDeleted: unique symbol = Symbol('concordat.requestedDeleted')

/** The description of {@link Projection}. */
const projectionOptions = describeOptions('pagination-query', {
  /** The name of the field that identifies the resource. It is always included. */
  id: required(value<string>()),
  /**
   * The collection of the resource, whose relations `include` embeds, so that the handler returns `request.withIncluded(client, resource)`, and whose
   * deleted rows `deleted=true` reads, so that it finds them if `request.readsDeleted`.
   */
  relationsOf: value<Collection>()
})

/** How a route that responds with a single resource supports `fields` and `include`. */
export interface Projection extends OptionsOf<typeof projectionOptions> {}

/** What a route needs of the schemas of its instance. */
export interface SchemaTools {
  readonly dereference: Dereference
  /** Adds a schema, and returns a reference to it. */
  readonly addSchema: (schema: JsonSchema) => JsonSchema
}

type ProjectedRequest = FastifyRequest & {
  [requestedFields]?: ReadonlySet<string>
  [requestedRelations]?: RequestedRelations
  [requestedDeleted]?: true
}

/**
 * Makes a route that responds with a single resource accept `fields`, and `include` for its relations. Both change the finished text of the response: a
 * whole resource has been checked and serialized by then, and a request without them costs nothing. Returns the function that reads the parameters, and
 * the one that admits the client to the relations.
 */
export function serveResource(app: FastifyInstance, route: RouteOptions, declared: Projection, { dereference, addSchema }: SchemaTools) {
  const name = routeName(route)
  const { id, item, members, relations, collection } = requireResource(route, declared, dereference)
  const isEnveloped = contractOf(app, 'envelope')?.wraps(app, route) === true
  const access = relations.size === 0 ? undefined : relationAccess(app, name, { relations, filters: new Map() })
  const admitToDeleted = collection?.deleted?.seenWith && deletedRows(app, name, collection.name, collection.deleted)
  const projected = withRelations(projectedItem(item, members, id), relations, addSchema)
  const fieldNames = fieldNamesOf(members.schemas, relations)
  const parameters = [...deletedParameters(collection?.deleted), ...includeParameters(relations), fieldsParameter(fieldNames)]
  route.config = Object.assign({}, route.config, { projection: { id, item, projected, parameters } })
  // First, because the hook that Fastify adds to HEAD measures the content.
  route.onSend = chain('onSend', stepHook('onSend', project), route.onSend)
  return { check, admit, names: parameters.map((parameter) => parameter.name) }

  function check(request: FastifyRequest) {
    const query = request.query as { [Name in 'fields' | 'include' | 'deleted']?: string | string[] | undefined }
    const problems: QueryProblem[] = []
    let requested: RequestedRelations = new Map()
    if (relations.size > 0 && query.include !== undefined) {
      requested = readInclude([query.include].flat().join(), relations, problems)
      delete query.include
    }
    if (query.fields !== undefined) {
      const { own, chosen } = splitFields([query.fields].flat().join().split(','), relations, requested, problems)
      const names = readFieldNames(own, fieldNames, (field) => members.schemas.has(field), problems) ?? []
      ;(request as ProjectedRequest)[requestedFields] = new Set([id, ...names])
      requested = chosen
      // The schema of the query, if the route has one, does not know the parameters.
      delete query.fields
    }
    if (admitToDeleted && query.deleted !== undefined) {
      if (readFlag('deleted', [query.deleted].flat().join(), problems)) (request as ProjectedRequest)[requestedDeleted] = true
      delete query.deleted
    }
    if (requested.size > 0) (request as ProjectedRequest)[requestedRelations] = requested
    return problems
  }

  function admit(request: FastifyRequest) {
    const requested = (request as ProjectedRequest)[requestedRelations]
    const admitToRelations = () =>
      requested && access?.admit(request, requested).then(() => noteIncluded(request, includedFor(request, relations, requested), id))
    return (request as ProjectedRequest)[requestedDeleted] && admitToDeleted
      ? admitToDeleted(request).then(admitToRelations)
      : admitToRelations()
  }

  function project(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
    const names = (request as ProjectedRequest)[requestedFields]
    return changedText(request, reply, payload, isEnveloped, names && ((resource) => pick(resource, names)))
  }
}

function requireResource(route: RouteOptions, declared: Projection, dereference: Dereference) {
  const name = routeName(route)
  const { id, relationsOf } = projectionOptions.read(declared, `${name}: config.projection`)
  if (typeof id !== 'string')
    throw new TypeError(`pagination-query: ${name}: config.projection must be { id }, with the field that identifies a resource.`)
  if ([route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD'))
    throw new TypeError(`pagination-query: ${name} must be a GET route, because it sets config.projection. Use GET.`)
  const found = itemOf(route.schema?.response, dereference)
  if (!found?.members.schemas.has(id))
    throw new TypeError(
      `pagination-query: ${name} sets config.projection, so its 200 response must be declared as an object with the field "${id}". Add the field to the schema, or remove config.projection.`
    )
  if (relationsOf !== undefined && !(relationsOf.relations?.size > 0 || relationsOf.deleted?.seenWith !== undefined))
    throw new TypeError(
      `pagination-query: ${name}: config.projection.relationsOf must be a collection with relations, or with deleted.seenWith. Declare them, or remove it.`
    )
  return { id, ...found, relations: relationsOf?.relations ?? new Map(), collection: relationsOf }
}

function itemOf(response: unknown, dereference: Dereference) {
  const declared = (response as Readonly<Record<string, JsonSchema>> | undefined)?.['200']
  const [item] = declared === undefined ? [] : jsonSchemasOf(declared)
  return item && { item, members: membersOf(item, dereference) }
}

function pick(resource: object, names: ReadonlySet<string>) {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => names.has(name)))
}
