import { linkHeader } from '@concordat/links'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { Collection, CollectionQuery } from './collection.ts'
import { bindCollection } from './declaration/bound-collection.ts'
import type { JsonSchema } from './declaration/item-members.ts'
import { requireAnswer, requireCollection, requireCollectionRoute, routeName, styleKeeper } from './declaration/route-rules.ts'
import type { Condition } from './list-query.ts'
import { type PaginationQueryOptions, resolveOptions } from './options.ts'
import { listAnswer } from './page/list-answer.ts'
import type { Page } from './page/page.ts'
import { answeredPage, answerPage, askedList, askedOf, type ListReply, type ListRequest, linksOf } from './page/parts.ts'
import { listReader } from './query/asked-list.ts'
import { splitsAtSemicolon } from './query/query-string.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The collection that this route serves. */
    collection?: Collection
    /** `true` marks a route that is not part of the API, for example a health check. It may respond with a list without pages. */
    operational?: boolean
    /** The rules that do not apply to this route, by id, each with the reason. */
    waivers?: Readonly<Record<string, string>>
  }
  interface FastifyRequest {
    /** Returns the validated, complete and typed query of the client. Throws a `TypeError` for a collection of another route. */
    listQuery<Row, Conditions extends Condition>(collection: Collection<Row, Conditions>): CollectionQuery<Row, Conditions>
  }
  interface FastifyReply {
    /** Sets the page of the response with its links and totals, and returns its rows with the requested fields. Return the result. */
    page<Row>(page: Page<Row>): Row[]
  }
}

/** Validates the queries of clients against the declared collections, rejects everything else, and links the pages. */
const paginationQuery: FastifyPluginAsync<PaginationQueryOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const semicolon = splitsAtSemicolon(app.initialConfig)
  const requireOneStyle = styleKeeper()
  let added = 0

  app.decorateRequest(askedList, null)
  app.decorateReply(answeredPage, null)
  app.decorateRequest('listQuery', listQuery)
  app.decorateReply('page', page)
  app.addHook('onRoute', serveCollection)

  function serveCollection(this: FastifyInstance, route: RouteOptions) {
    const declared = route.config?.collection
    const dereference = (reference: string) => this.getSchema(reference.replace(/#$/, '')) as JsonSchema | undefined
    if (declared === undefined) return requireCollection(route, dereference)
    requireCollectionRoute(route, declared, settings)
    const answer = listAnswer(route.schema?.response, declared.id, dereference, (schema) => addSchema(this, schema))
    requireAnswer(route, declared, answer)
    const collection = bindCollection(declared, answer, settings)
    requireOneStyle(route, collection)
    const read = listReader(declared, collection, settings, semicolon)
    // Creates new objects, because the author may use the same objects for another route.
    route.schema = { ...route.schema, response: answer.response }
    route.config = Object.assign({}, route.config, { collection })
    route.preValidation = [readList, route.preValidation ?? []].flat()
    route.preSerialization = [requirePage, route.preSerialization ?? []].flat()
    if (settings.linkHeader) route.onSend = [route.onSend ?? [], sendLinks].flat()

    function readList(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) {
      const asked = read(request)
      ;(request as ListRequest)[askedList] = asked
      if (asked.reading.paging.transitional && settings.deprecation !== undefined) reply.header('deprecation', settings.deprecation)
      done()
    }
  }

  function addSchema(instance: FastifyInstance, schema: JsonSchema): JsonSchema {
    added += 1
    const id = `concordat-list-${added}`
    instance.addSchema({ ...schema, $id: id })
    return { $ref: `${id}#` }
  }

  function page<Row>(this: FastifyReply, answer: Page<Row>) {
    return answerPage(this, answer, settings, semicolon)
  }
}

function requirePage(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: Error | null, payload: unknown) => void
) {
  if (reply.statusCode >= 300 || (reply as ListReply)[answeredPage] !== null) return done(null, payload)
  done(
    new TypeError(`pagination-query: ${routeName(request.routeOptions as RouteOptions)} responded without a page. Return reply.page(…).`),
    payload
  )
}

function sendLinks(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void) {
  const answered = (reply as ListReply)[answeredPage]
  if (reply.statusCode < 300 && answered !== null) {
    const present = [reply.getHeader('link') ?? []].flat()
    reply.header('link', [...present, linkHeader(linksOf(request, answered))].join(', '))
  }
  done(null, payload)
}

function listQuery<Row, Conditions extends Condition>(this: FastifyRequest, collection: Collection<Row, Conditions>) {
  const asked = askedOf(this)
  if (asked.declared !== (collection as Collection))
    throw new TypeError(
      `pagination-query: ${routeName(this.routeOptions as RouteOptions)} serves "${asked.declared.name}", not "${collection.name}". Pass the collection of the route to listQuery.`
    )
  return asked.query as CollectionQuery<Row, Conditions>
}

const plugin: FastifyPluginAsync<PaginationQueryOptions> = fp(paginationQuery, { name: '@concordat/pagination-query', fastify: '5.x' })
export default plugin
