import { hrefOf, type Link } from '@concordat/plugin-kit/links'
import { fitsOrder, type Position, writeCursor } from '../cursor/cursor.ts'
import type { Key } from '../list/list-query.ts'
import type { CursorSettings, Settings } from '../options.ts'
import { canonicalQuery } from '../query/query-string.ts'
import type { RequestedList } from '../query/requested-list.ts'
import { type PageFacts, spanOf } from './meta.ts'

/** Returns those of the links `first`, `prev`, `next` and `last` that apply to a page (rule E2). `path` is the absolute URL of the collection. */
export function pageLinks(requested: RequestedList, page: PageFacts, path: string, settings: Settings): Link[] {
  const { collection, reading } = requested
  const common = canonicalQuery(collection.inOrder, reading.given)
  const targets = collection.style === 'cursor' ? cursorTargets(requested, page, settings) : pageTargets(requested, page)
  return targets.map(([rel, position]) => {
    const query = [common, position].filter((part) => part !== '').join('&')
    return { rel, href: hrefOf('', query === '' ? path : `${path}?${query}`), method: 'GET' }
  })
}

type Target = readonly [rel: string, position: string]
type Seek = Omit<Position, 'before'>

function cursorTargets(requested: RequestedList, page: PageFacts, { cursor }: Settings): Target[] {
  const { keys, maxAgeSeconds } = cursor as CursorSettings
  const { position, fingerprint, collection } = requested
  for (const key of [page.first, page.last]) if (key !== undefined) requireKey(requested, key)
  const step = Math.max(1, Math.floor((maxAgeSeconds ?? 0) / 10))
  // Rounded, so that the links, and with them the validator of the response, are stable for a while.
  const issuedAt = maxAgeSeconds === undefined ? 0 : Math.floor(Date.now() / 1000 / step) * step
  const to = (rel: string, target: Position): Target => [
    rel,
    `after=${writeCursor({ ...target, fingerprint, issuedAt }, keys, collection.readable !== undefined)}`
  ]
  const previous = beforePage(position, page)
  const next = behindPage(position, page)
  const span = spanOf(requested, page)
  return [
    ['first', ''],
    ...(previous === undefined ? [] : [to('prev', { ...previous, before: span?.start })]),
    ...(next === undefined ? [] : [to('next', { ...next, before: span?.end })]),
    to('last', { reverse: true, inclusive: false, key: undefined, before: undefined })
  ]
}

// The client could not follow a cursor with another key, because it is refused.
function requireKey({ collection, query }: RequestedList, key: Key) {
  if (fitsOrder(key, query.order)) return
  const keys = query.order.map(({ field, kind }, at) => `${String(key[at])} in "${field}" (${kind})`)
  throw new TypeError(
    `pagination-query: a row of "${collection.name}" has a sort key that does not fit its schema: ${keys.join(', ')}. Declare the type that the column has.`
  )
}

// An inclusive cursor leads back from an empty page, which is beyond an end of the list, so no page follows on that side.
function beforePage({ reverse, inclusive, key }: Position, { first, hasMore }: PageFacts): Seek | undefined {
  // An empty page is after the row of the cursor, so the link back must include that row.
  if (first === undefined) return reverse || key === undefined ? undefined : { reverse: true, inclusive: true, key }
  const exists = reverse ? hasMore : key !== undefined && !inclusive
  return exists ? { reverse: true, inclusive: false, key: first } : undefined
}

function behindPage({ reverse, inclusive, key }: Position, { last, hasMore }: PageFacts): Seek | undefined {
  if (last === undefined) return !reverse || key === undefined ? undefined : { reverse: false, inclusive: true, key }
  const exists = reverse ? key !== undefined && !inclusive : hasMore
  return exists ? { reverse: false, inclusive: false, key: last } : undefined
}

// A page beyond maxOffset gets no link, because clients could not follow it.
function pageTargets({ reading, collection }: RequestedList, { hasMore, total }: PageFacts): Target[] {
  const { perPage, page, offset } = reading.paging
  const lastOffset = total?.exact === true ? Math.max(0, Math.ceil(total.items / perPage) - 1) * perPage : undefined
  const before = Math.max(0, Math.min(offset - perPage, lastOffset ?? offset))
  const targets: [string, number | undefined][] = [
    ['first', 0],
    ['prev', page > 1 ? before : undefined],
    ['next', hasMore ? offset + perPage : undefined],
    ['last', lastOffset]
  ]
  return targets.flatMap(([rel, start]) => {
    if (start === undefined || start + perPage > collection.maxOffset) return []
    return [[rel, `page=${start / perPage + 1}`] as const]
  })
}
