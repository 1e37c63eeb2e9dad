import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractLater, contractOf, contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Collection, CollectionQuery } from './collection.ts'
import { paginationQueryErrors } from './errors.ts'
import type { Condition } from './list/list-query.ts'
import type { Page } from './list/page.ts'
import { operationParts } from './operation-parts.ts'
import { type PaginationQueryOptions, resolveOptions } from './options.ts'
import { readsDeleted } from './page/deleted.ts'
import { readIncluded } from './page/included.ts'
import { serveList } from './page/list-route.ts'
import { checkOtherRoute } from './page/other-routes.ts'
import { pages, requestedList, requestedListOf, sendPage, sentPage } from './page/parts.ts'
import type { Projection } from './page/resource.ts'
import { splitsAtSemicolon } from './query/query-string.ts'
import { routeName, styleKeeper } from './route-rules.ts'
import type { SqlClient } from './sql/client.ts'

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
    /** Reads the relations of a resource that `include` asks for, on a route with `config.projection.relationsOf`. Returns the resource. */
    withIncluded<Row extends object>(client: SqlClient, row: Row): Promise<Row>
    /** Whether the client reads deleted rows by `deleted=true`, on a route with `config.projection.relationsOf`: `find(rows, key, { deleted })`. */
    readonly readsDeleted: boolean
  }
  interface FastifyReply {
    /** Sets the page of the response with its links and totals, and returns its rows with the requested fields. Return the result. */
    page<Row>(page: Page<Row>): Row[]
  }
}

/** Validates query parameters against the declared collections, rejects invalid queries, and adds links to other pages to the responses. */
const paginationQuery: FastifyPluginAsync<PaginationQueryOptions> = async (app, options) => {
  const clients = contractLater(app, 'clients')
  const settings = resolveOptions(options, (request) => clients()?.tenantOf?.(request))
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
  app.decorateRequest('withIncluded', withIncluded)
  app.decorateRequest('readsDeleted', { getter: readsDeletedOf })
  app.decorateReply('page', page)
  onEachRoute(app, serveCollection)

  function serveCollection(this: FastifyInstance, route: RouteOptions) {
    const dereference = (reference: string) => this.getSchema(reference.replace(/#$/, '')) as JsonSchema | undefined
    const tools = { dereference, addSchema: (schema: JsonSchema) => addSchema(this, schema) }
    if (route.config?.collection === undefined) checkOtherRoute(this, route, tools)
    else requireOneStyle(route, serveList(this, route, route.config.collection, settings, tools))
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

function listQuery<Row, Conditions extends Condition>(this: FastifyRequest, collection: Collection<Row, Conditions>) {
  const requested = requestedListOf(this)
  if (requested.declared !== (collection as Collection))
    throw new TypeError(
      `pagination-query: ${routeName(this.routeOptions as RouteOptions)} serves "${requested.declared.name}", not "${collection.name}". Pass the collection of the route to listQuery.`
    )
  return requested.query as CollectionQuery<Row, Conditions>
}

function readsDeletedOf(this: FastifyRequest) {
  return readsDeleted(this)
}

async function withIncluded<Row extends object>(this: FastifyRequest, client: SqlClient, row: Row) {
  return readIncluded(this, client, row)
}

const plugin: FastifyPluginAsync<PaginationQueryOptions> = fp(paginationQuery, { name: '@concordat/pagination-query', fastify: '^5.12.1' })
export default plugin
