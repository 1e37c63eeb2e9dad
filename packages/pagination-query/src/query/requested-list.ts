import type { FastifyRequest } from 'fastify'
import type { Collection } from '../collection.ts'
import { type Cursor, fingerprintOf, fitsOrder, type Position, readCursor } from '../cursor/cursor.ts'
import type { CursorKeys } from '../cursor/keys.ts'
import { invalidQuery, type QueryProblem } from '../errors.ts'
import { rangesFrom } from '../list/key-ranges.ts'
import type { ListQuery } from '../list/list-query.ts'
import { splitRelated } from '../list/related.ts'
import { opposite } from '../list/sort-order.ts'
import type { Settings } from '../options.ts'
import type { BoundCollection } from './bound-collection.ts'
import { includedFor, relatedFor, withKeys } from './include-reader.ts'
import { listQueryOf, type Reading, readQuery } from './query-reader.ts'
import { splitTarget } from './query-string.ts'

// The meaning of a query string for all clients that can read the same fields. It includes the cursor: whether this service made it does not change, but
// its age and its list are checked on each request.
interface Plan {
  readonly reading: Reading
  readonly cursor: Cursor | undefined
  /** Undefined if the position in the cursor does not fit this order. */
  readonly query: ListQuery | undefined
  /** The fields of the response. */
  readonly fields: readonly string[]
  /** The relations by whose fields the query filters. */
  readonly related: ReadonlySet<string>
  /** What the cursors of the response are bound to. */
  readonly fingerprint: string
}

/** The query of a request to the collection of its route. */
export interface RequestedList extends Plan {
  /** The collection as the author declared it. */
  readonly declared: Collection
  readonly collection: BoundCollection
  readonly query: ListQuery
  /** Whether `query` has all fields, because whole rows are checked before the others are removed. */
  readonly whole: boolean
  readonly position: Position
}

const nothingHidden: ReadonlySet<string> = new Set()
const beginning: Position = { reverse: false, inclusive: false, key: undefined, before: undefined }

/**
 * Returns the function that parses the query of requests to a route. It throws the 422 error that lists everything invalid. Filters in `refused` do not
 * exist for the client.
 */
export function listReader(
  declared: Collection,
  collection: BoundCollection,
  { cursor: cursors, tenantOf }: Settings,
  semicolon: boolean,
  whole: boolean
): (request: FastifyRequest, refused: readonly string[]) => RequestedList {
  const { readable, scope } = collection
  const { keys, maxAgeSeconds } = cursors ?? {}
  const cache = new PlanCache()
  const names = [...collection.fields.keys()].filter((name) => name !== collection.id)

  return (request, refused) => {
    const { query: text } = splitTarget(request.raw.url as string, semicolon)
    const unread = readable === undefined ? [] : names.filter((name) => !readable(request, name))
    const hidden = unread.length === 0 && refused.length === 0 ? nothingHidden : new Set([...unread, ...refused])
    // A URL cannot contain a line feed, so the key is unambiguous.
    const key = hidden.size === 0 ? text : `${[...hidden].join()}\n${text}`
    // Either all requests to a route have a tenant or none.
    const tenant = tenantOf(request)
    let plan = cache.get(key)
    if (plan === undefined) {
      plan = planOf(text, hidden, tenant !== undefined)
      // A plan serves all clients with the same query, so a handler must not change it.
      if (cache.offer(key, plan)) freeze(plan.query)
    }
    const { reading, cursor, query } = plan
    const boundTo = collection.style === 'cursor' ? tenant : undefined
    const fingerprint =
      scope === undefined && boundTo === undefined
        ? plan.fingerprint
        : fingerprintOf(collection.name, reading, scope?.(request) ?? '', boundTo)
    if (cursor !== undefined && isExpired(cursor)) throw invalidQuery([problemOfCursor(cursor)])
    if (cursor !== undefined && cursor.fingerprint !== fingerprint) throw invalidQuery([{ field: 'after', key: 'cursorMismatch' }])
    if (query === undefined) throw invalidQuery([problemOfCursor(undefined)])
    return { ...plan, declared, collection, query, whole, position: cursor ?? beginning, fingerprint }
  }

  function planOf(text: string, hidden: ReadonlySet<string>, hasTenant: boolean): Plan {
    const reading = readQuery(collection, text, hidden)
    const { after } = reading.paging
    const cursor = after === undefined ? undefined : readCursor(after, keys as CursorKeys, readable !== undefined)
    const broken = after !== undefined && (cursor === undefined || isExpired(cursor))
    if (broken || reading.problems.length > 0) {
      throw invalidQuery(broken ? [...reading.problems, problemOfCursor(cursor)] : reading.problems)
    }
    const requested = hasTenant ? { ...listQueryOf(collection, reading), hasTenant } : listQueryOf(collection, reading)
    const fetched = whole ? collection.fieldNames : withKeys(requested.fields, collection.id, collection.relations, reading.include)
    const query = fetched === requested.fields ? requested : { ...requested, fields: fetched }
    return {
      reading,
      cursor,
      fields: requested.fields,
      related: new Set(reading.conditions.flatMap(({ field }) => splitRelated(field, collection.relations)?.[0] ?? [])),
      query: cursor === undefined ? query : queryFrom(query, cursor),
      fingerprint: collection.style === 'cursor' && scope === undefined ? fingerprintOf(collection.name, reading, '') : ''
    }
  }

  function problemOfCursor(cursor: Cursor | undefined): QueryProblem {
    if (cursor === undefined) return { field: 'after', key: 'cursorInvalid' }
    return { field: 'after', key: 'cursorExpired', params: { seconds: maxAgeSeconds as number } }
  }

  function isExpired({ issuedAt }: Cursor) {
    return maxAgeSeconds !== undefined && Date.now() / 1000 - issuedAt >= maxAgeSeconds
  }
}

/** Returns a list with what its client may see of the relations that it includes, and of those that it is filtered by. */
export function withRelated(request: FastifyRequest, list: RequestedList): RequestedList {
  const { reading, related, collection } = list
  const { relations } = collection
  const include = reading.include.size === 0 ? {} : { include: includedFor(request, relations, reading.include) }
  const filtering = related.size === 0 ? {} : { related: relatedFor(request, relations, related) }
  return { ...list, query: { ...list.query, ...include, ...filtering } }
}

function queryFrom(query: ListQuery, { reverse, inclusive, key }: Cursor): ListQuery | undefined {
  if (key === undefined) return { ...query, reverse }
  if (!fitsOrder(key, query.order)) return undefined
  return { ...query, reverse, ranges: rangesFrom(reverse ? opposite(query.order) : query.order, key, inclusive) }
}

function freeze(value: unknown): void {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) Object.values(Object.freeze(value)).forEach(freeze)
}

// A cached query takes a few kilobytes.
const maxPlans = 500

/**
 * Caches plans by key. A plan is stored when it is offered for the second time, so that queries that occur only once, such as the pages of a walk,
 * evict nothing.
 */
class PlanCache {
  readonly #plans = new Map<string, Plan>()
  readonly #seen = new Set<string>()

  get(key: string): Plan | undefined {
    return this.#plans.get(key)
  }

  /** Offers the plan for a key that `get` did not find. Returns whether it is stored. */
  offer(key: string, plan: Plan): boolean {
    if (!this.#seen.delete(key)) {
      if (this.#seen.size === maxPlans) this.#seen.clear()
      this.#seen.add(key)
      return false
    }
    if (this.#plans.size === maxPlans) this.#plans.delete(this.#plans.keys().next().value as string)
    this.#plans.set(key, plan)
    return true
  }
}
