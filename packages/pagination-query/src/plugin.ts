import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { chain, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, preSerializationHookHandler, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Collection, CollectionQuery } from './collection.ts'
import { listResponse } from './declaration/list-response.ts'
import { rowForm } from './declaration/row-form.ts'
import { paginationQueryErrors } from './errors.ts'
import { noteRowForm } from './list/field-form.ts'
import type { Condition } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { operationParts } from './operation-parts.ts'
import { type PaginationQueryOptions, resolveOptions } from './options.ts'
import { checkOtherRoute, type Projection } from './page/other-routes.ts'
import {
  type ListReply,
  type ListRequest,
  pages,
  projectChecked,
  requestedList,
  requestedListOf,
  sendLinks,
  sendPage,
  sentPage
} from './page/parts.ts'
import { bindCollection } from './query/bound-collection.ts'
import { splitsAtSemicolon } from './query/query-string.ts'
import { listReader } from './query/requested-list.ts'
import { requireCollectionRoute, requireResponse, routeName, styleKeeper } from './route-rules.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The collection that this route serves. */
    collection?: Collection | undefined
    /**
     * Makes a GET route that responds with a single resource accept `fields` (rule Q4). `id` names the field that is always included.
     * @example config: { projection: { id: 'id' } }
     */
    projection?: Projection | undefined
  }
  interface FastifyRequest {
    /** Returns the query of the request, validated and with defaults applied. Throws a `TypeError` for a collection of another route. */
    listQuery<Row, Conditions extends Condition>(collection: Collection<Row, Conditions>): CollectionQuery<Row, Conditions>
  }
  interface FastifyReply {
    /** Sets the page of the response with its links and totals, and returns its rows with the requested fields. Return the result. */
    page<Row>(page: Page<Row>): Row[]
  }
}

/** Validates query parameters against the declared collections, rejects invalid queries, and adds links to other pages to the responses. */
const paginationQuery: FastifyPluginAsync<PaginationQueryOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const semicolon = splitsAtSemicolon(app.initialConfig)
  const requireOneStyle = styleKeeper()
  let added = 0

  if (contractOf(app, 'envelope') !== undefined)
    throw new Error(
      'pagination-query: the plugin is registered after @concordat/envelope, which replaces the response schemas that it reads. Register it before.'
    )
  requireKnownConfig(app, 'pagination-query')
  warnWithoutRoutes(app, 'pagination-query')
  publish(app, { pages })
  contribute(app, 'errors', paginationQueryErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  contribute(app, 'rules', ['Q10'])
  app.decorateRequest(requestedList, null)
  app.decorateReply(sentPage, null)
  app.decorateRequest('listQuery', listQuery)
  app.decorateReply('page', page)
  onEachRoute(app, serveCollection)

  function serveCollection(this: FastifyInstance, route: RouteOptions) {
    const declared = route.config?.collection
    const dereference = (reference: string) => this.getSchema(reference.replace(/#$/, '')) as JsonSchema | undefined
    if (declared === undefined) return checkOtherRoute(this, route, dereference)
    requireCollectionRoute(route, declared, settings)
    const response = listResponse(route.schema?.response, declared.id, dereference, (schema) => addSchema(this, schema))
    requireResponse(route, declared, response)
    const collection = bindCollection(declared, response, settings)
    requireOneStyle(route, collection)
    const whole = contractOf(this, 'checksResponse')?.(route) === true
    const isEnveloped = contractOf(this, 'envelope')?.wraps(this, route) === true
    // A schema library checks whole rows before they are written.
    if (isEnveloped && !whole && response.isOnly) noteRowForm(collection.kinds, rowForm(response.members, declared.id))
    const read = listReader(declared, collection, settings, semicolon, whole)
    // Creates new objects, because the author may use the same objects for another route.
    route.schema = { ...route.schema, response: response.response }
    route.config = Object.assign({}, route.config, { collection })
    route.preValidation = chain('preValidation', stepHook('preValidation', readList), route.preValidation)
    route.preSerialization = [requirePage, route.preSerialization ?? [], whole ? projectChecked : []].flat()
    if (!isEnveloped) route.onSend = chain('onSend', route.onSend, sendLinks)

    function readList(request: FastifyRequest) {
      ;(request as ListRequest)[requestedList] = read(request)
    }
  }

  function addSchema(instance: FastifyInstance, schema: JsonSchema): JsonSchema {
    added += 1
    const id = `concordat-list-${added}`
    instance.addSchema({ ...schema, $id: id })
    return { $ref: `${id}#` }
  }

  function page<Row>(this: FastifyReply, response: Page<Row>) {
    return sendPage(this, response, settings, semicolon)
  }
}

const requirePage: preSerializationHookHandler = (request, reply, payload, done) => {
  if (reply.statusCode >= 300 || (reply as ListReply)[sentPage] !== null) return done(null, payload)
  done(
    new TypeError(`pagination-query: ${routeName(request.routeOptions as RouteOptions)} responded without a page. Return reply.page(…).`)
  )
}

function listQuery<Row, Conditions extends Condition>(this: FastifyRequest, collection: Collection<Row, Conditions>) {
  const requested = requestedListOf(this)
  if (requested.declared !== (collection as Collection))
    throw new TypeError(
      `pagination-query: ${routeName(this.routeOptions as RouteOptions)} serves "${requested.declared.name}", not "${collection.name}". Pass the collection of the route to listQuery.`
    )
  return requested.query as CollectionQuery<Row, Conditions>
}

const plugin: FastifyPluginAsync<PaginationQueryOptions> = fp(paginationQuery, { name: '@concordat/pagination-query', fastify: '^5.12.1' })
export default plugin
