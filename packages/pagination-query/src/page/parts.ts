import { hrefOf, type Link, targetWithoutSecrets } from '@concordat/links'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Collection } from '../collection.ts'
import type { JsonSchema } from '../declaration/item-members.ts'
import type { Settings } from '../options.ts'
import type { AskedList } from '../query/asked-list.ts'
import { pathOf } from '../query/query-string.ts'
import { pageLinks } from './links.ts'
import { type PaginationMeta, paginationMeta, paginationSchema } from './meta.ts'
import type { Page } from './page.ts'
import { projectRows } from './projection.ts'

/** On each request of a collection route: what it asks for. */
export const askedList: unique symbol = Symbol('concordat.askedList')
/** On each reply: the page that it answers with. */
export const answeredPage: unique symbol = Symbol('concordat.answeredPage')

/** A page with all that its links are made of. */
export interface AnsweredPage {
  readonly asked: AskedList
  readonly page: Page
  readonly settings: Settings
  readonly semicolon: boolean
}

/** A request and a reply of a collection route. */
export type ListRequest = FastifyRequest & { [askedList]: AskedList | null }
export type ListReply = FastifyReply & { [answeredPage]: AnsweredPage | null }

/** What a page adds to an envelope. */
export interface PageParts {
  readonly links?: readonly Link[]
  readonly meta?: { readonly pagination: PaginationMeta }
}

/** The links and the `_meta` member of the page that a reply answers with; nothing when it answers none. For the envelope's `parts`. */
export function pageParts(request: FastifyRequest, reply: FastifyReply): PageParts {
  const answered = (reply as ListReply)[answeredPage]
  if (answered === null || answered === undefined) return {}
  return { links: linksOf(request, answered), meta: { pagination: paginationMeta(answered.asked, answered.page) } }
}

/** The schemas of the `_meta` members that {@link pageParts} adds to the answers of a route; undefined when it has no collection. */
export function pageMeta(route: {
  readonly config?: { readonly collection?: Collection } | undefined
}): { readonly pagination: JsonSchema } | undefined {
  const collection = route.config?.collection
  return collection && { pagination: paginationSchema(collection) }
}

/** The links of the page that a reply answers with. */
export function linksOf(request: FastifyRequest, { asked, page, settings, semicolon }: AnsweredPage): Link[] {
  const path = targetWithoutSecrets(pathOf(request.raw.url as string, semicolon))
  return pageLinks(asked, page, hrefOf(settings.originOf(request), path), settings)
}

/** Takes the page that a handler answers with, and gives the rows as they are sent. Throws a `TypeError` when it is none of this request. */
export function answerPage<Row>(reply: FastifyReply, page: Page<Row>, settings: Settings, semicolon: boolean): Row[] {
  const asked = askedOf(reply.request)
  if (asked.collection.count !== 'none' && page.total === undefined)
    throw new TypeError(
      `The page of "${asked.collection.name}" has no total, but the collection is counted. Give it, or set count to "none".`
    )
  ;(reply as ListReply)[answeredPage] = { asked, page, settings, semicolon }
  return projectRows(page.rows, asked.query.fields, asked.collection.rowRules)
}

/** What a request asks for. Throws a `TypeError` when its route has no collection. */
export function askedOf(request: FastifyRequest): AskedList {
  const asked = (request as ListRequest)[askedList]
  if (asked === null) throw new TypeError(`${request.method} ${request.routeOptions.url} has no collection. Give it config.collection.`)
  return asked
}
