import { hrefOf, type Link, linkHeader, targetWithoutSecrets } from '@concordat/plugin-kit/links'
import { stepHook } from '@concordat/plugin-kit/steps'
import type { Contracts } from '@concordat/plugin-kit/wiring'
import type { FastifyReply, FastifyRequest, preSerializationHookHandler } from 'fastify'
import type { Collection } from '../collection.ts'
import { formsOf, type RowForm, rowFormOf } from '../list/field-form.ts'
import type { ListQuery } from '../list/list-query.ts'
import type { Page } from '../list/page.ts'
import { projectRows } from '../list/projection.ts'
import { writtenRowsOf } from '../list/written-rows.ts'
import type { Settings } from '../options.ts'
import { splitTarget } from '../query/query-string.ts'
import type { RequestedList } from '../query/requested-list.ts'
import { includedText, storeIncluded } from './included.ts'
import { lazyList, textOf } from './lazy-list.ts'
import { pageLinks } from './links.ts'
import { type ListWriter, listWriter } from './list-writer.ts'
import { type PageFacts, paginationMeta, paginationSchema } from './meta.ts'

/** The key of the request property that contains the client's query on a collection route. */
export const requestedList: unique symbol = Symbol('concordat.requestedList')
/** The key of the reply property that contains the page of the response. */
export const sentPage: unique symbol = Symbol('concordat.sentPage')

interface SentPage {
  readonly requested: RequestedList
  readonly page: PageFacts
  readonly settings: Settings
  readonly semicolon: boolean
}

/** A request to a collection route; `ListReply` is the reply. */
export type ListRequest = FastifyRequest & { [requestedList]: RequestedList | null }
export type ListReply = FastifyReply & { [sentPage]: SentPage | null }

/** What the plugin offers to the plugins that put responses and errors into an envelope. */
export const pages: Contracts['pages'] = { filters: filtersOf, meta: pageMeta, parts: pageParts, text: pageText, included: relatedText }

// The links and the `_meta` field for the page of a response, or an empty object if it has no page.
function pageParts(request: FastifyRequest, reply: FastifyReply) {
  const responded = (reply as ListReply)[sentPage]
  if (responded === null || responded === undefined) return {}
  return { links: linksOf(request, responded), meta: { pagination: paginationMeta(responded.requested, responded.page) } }
}

// The schema of a list is that of the status 200. Another status may have another schema.
function pageText({ statusCode }: FastifyReply, payload: unknown) {
  return statusCode === 200 ? textOf(payload) : undefined
}

// What a list is filtered by can change without its rows, as what it includes.
function relatedText(request: FastifyRequest) {
  return includedText(request) ?? ((request as ListRequest)[requestedList]?.query.related && '')
}

function filtersOf({ routeOptions }: FastifyRequest) {
  return routeOptions.config?.collection?.filters
}

// The schemas of the `_meta` fields that `pageParts` adds.
function pageMeta({ config }: { readonly config?: { readonly collection?: Collection | undefined } | undefined }) {
  return config?.collection && { pagination: paginationSchema(config.collection) }
}

function linksOf(request: FastifyRequest, { requested, page, settings, semicolon }: SentPage): Link[] {
  const path = targetWithoutSecrets(splitTarget(request.raw.url as string, semicolon).path)
  return pageLinks(requested, page, hrefOf(settings.originOf(request), path), settings)
}

/** Adds the links of the page to the header `Link`, as an `onSend` hook. */
export const sendLinks = stepHook('onSend', (request, reply) => {
  const responded = (reply as ListReply)[sentPage]
  if (reply.statusCode < 300 && responded !== null) {
    const present = [reply.getHeader('link') ?? []].flat()
    reply.header('link', [...present, linkHeader(linksOf(request, responded))].join(', '))
  }
})

/**
 * Stores the page of the response, and returns its rows with the requested fields, or whole if something checks them before {@link projectChecked}.
 * Throws a `TypeError` if the page does not fit the request.
 */
export function sendPage<Row>(reply: FastifyReply, page: Page<Row>, settings: Settings, semicolon: boolean): Row[] {
  const requested = requestedListOf(reply.request)
  if (requested.collection.count !== 'none' && page.total === undefined)
    throw new TypeError(
      `pagination-query: a page of "${requested.collection.name}" must have a total, because its count is not "none". Add the total, or set count to "none".`
    )
  const { first, last, hasMore, total } = page
  storeIncluded(reply.request, page.included)
  const written = writtenRowsOf(page)
  // Once a handler has read the rows, it may have changed them.
  const isUnread = written?.text !== undefined
  const facts = { first, last, hasMore, total, length: isUnread ? written.count : page.rows.length }
  ;(reply as ListReply)[sentPage] = { requested, page: facts, settings, semicolon }
  if (requested.whole) return [...page.rows]
  const { fields, query } = requested
  // An adapter may have read more fields for the handler than the client requested.
  const isWritten = isUnread && written.kinds === query.kinds && written.fields.join() === fields.join()
  const text = isWritten ? written.text : writerOf(query.kinds, fields)?.(page.rows)
  return text === undefined ? projected(requested, page.rows) : lazyList(text, () => projected(requested, page.rows))
}

// Enough for the selections of fields that clients repeat. Others are written by the serializer, because a writer costs more than it saves once.
const maxWriters = 50
const writers = new WeakMap<RowForm, Map<string, ListWriter | undefined>>()

function writerOf(kinds: ListQuery['kinds'], fields: readonly string[]): ListWriter | undefined {
  const form = rowFormOf(kinds)
  if (form === undefined) return undefined
  let known = writers.get(form)
  if (known === undefined) writers.set(form, (known = new Map()))
  const key = fields.join()
  if (!known.has(key) && known.size < maxWriters) {
    const forms = formsOf(form, fields)
    known.set(key, forms && listWriter(forms))
  }
  return known.get(key)
}

function projected<Row>({ fields, collection }: RequestedList, rows: readonly Row[]): Row[] {
  return projectRows(rows, fields, collection)
}

/** Returns the query of a request. Throws a `TypeError` if its route has no collection. */
export function requestedListOf(request: FastifyRequest): RequestedList {
  const requested = (request as ListRequest)[requestedList]
  if (requested === null)
    throw new TypeError(
      `pagination-query: ${request.method} ${request.routeOptions.url} does not serve a collection. Set config.collection.`
    )
  return requested
}

/** A preSerialization hook that leaves the requested fields, after the check of whole rows, which these fields alone would not pass. */
export const projectChecked: preSerializationHookHandler = (request, reply, payload, done) => {
  done(null, reply.statusCode >= 300 ? payload : projected(requestedListOf(request), payload as unknown[]))
}
