import { chain, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, preSerializationHookHandler, RouteOptions } from 'fastify'
import type { Collection } from '../collection.ts'
import { listResponse } from '../declaration/list-response.ts'
import { rowForm } from '../declaration/row-form.ts'
import { noteRowForm } from '../list/field-form.ts'
import type { Settings } from '../options.ts'
import { bindCollection } from '../query/bound-collection.ts'
import { splitsAtSemicolon } from '../query/query-string.ts'
import { listReader, type RequestedList, withRelated } from '../query/requested-list.ts'
import { requireCollectionRoute, requireResponse, routeName } from '../route-rules.ts'
import { deletedRows } from './deleted.ts'
import { changedText, noteIncluded } from './included.ts'
import { type ListReply, type ListRequest, projectChecked, requestedList, sendLinks, sentPage } from './parts.ts'
import { relationAccess } from './relation-access.ts'
import type { SchemaTools } from './resource.ts'

/** Prepares a route that serves a collection: the reader of its query, the schema of its response, its links and its relations. Returns the collection. */
export function serveList(
  app: FastifyInstance,
  route: RouteOptions,
  declared: Collection,
  settings: Settings,
  { dereference, addSchema }: SchemaTools
): Collection {
  requireCollectionRoute(route, declared, settings)
  const { id, relations } = declared
  const response = listResponse(route.schema?.response, id, dereference, addSchema)
  requireResponse(route, declared, response)
  const collection = bindCollection(declared, response, settings, addSchema)
  const whole = contractOf(app, 'checksResponse')?.(route) === true
  const isEnveloped = contractOf(app, 'envelope')?.wraps(app, route) === true
  // A schema library checks whole rows before they are written.
  if (isEnveloped && !whole && response.isOnly) noteRowForm(collection.kinds, rowForm(response.members, id))
  const access = relations.size === 0 ? undefined : relationAccess(app, routeName(route), declared)
  const admitToDeleted = declared.deleted && deletedRows(app, routeName(route), declared.name, declared.deleted)
  const read = listReader(declared, collection, settings, splitsAtSemicolon(app.initialConfig), whole)
  // Creates new objects, because the author may use the same objects for another route.
  route.schema = { ...route.schema, response: response.response }
  route.config = Object.assign({}, route.config, { collection })
  route.preValidation = chain('preValidation', stepHook('preValidation', readList), route.preValidation)
  route.preSerialization = [requirePage, route.preSerialization ?? [], whole ? projectChecked : []].flat()
  if (access) route.onSend = chain('onSend', stepHook('onSend', embed), route.onSend)
  if (!isEnveloped) route.onSend = chain('onSend', route.onSend, sendLinks)
  return collection

  function readList(request: FastifyRequest) {
    const refused = access?.refusedFilters(request) ?? []
    return 'then' in refused ? refused.then((names) => readFor(request, names)) : readFor(request, refused)
  }

  function readFor(request: FastifyRequest, refused: readonly string[]) {
    const list = read(request, refused)
    const { include } = list.reading
    if (include.size > 0) return access?.admit(request, include).then(() => take(request, withRelated(request, list)))
    return take(request, list.related.size > 0 ? withRelated(request, list) : list)
  }

  function take(request: FastifyRequest, list: RequestedList) {
    ;(request as ListRequest)[requestedList] = list
    if (list.query.include !== undefined) noteIncluded(request, list.query.include, id)
    return list.reading.areDeleted ? admitToDeleted?.(request) : undefined
  }

  function embed(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
    return changedText(request, reply, payload, isEnveloped, undefined)
  }
}

const requirePage: preSerializationHookHandler = (request, reply, payload, done) => {
  if (reply.statusCode >= 300 || (reply as ListReply)[sentPage] !== null) return done(null, payload)
  done(
    new TypeError(`pagination-query: ${routeName(request.routeOptions as RouteOptions)} responded without a page. Return reply.page(…).`)
  )
}
