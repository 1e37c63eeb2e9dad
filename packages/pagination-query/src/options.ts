import { type OriginOptions, originResolver } from '@concordat/links'
import type { PerPage } from './collection.ts'
import { type CursorKeys, type CursorOptions, cursorKeys } from './cursor/keys.ts'
import { requireBounds } from './declaration/bounds.ts'

/** What `@concordat/pagination-query` can be told. */
export interface PaginationQueryOptions extends OriginOptions {
  /**
   * Items per page when the client does not say, and at most.
   * @default { default: 25, max: 100 }
   */
  readonly perPage?: PerPage | undefined
  /**
   * The last item that collections by page reach: a database reads and drops all rows before a page.
   * @default 10_000
   */
  readonly maxOffset?: number | undefined
  /** How cursors are protected. Needed as soon as a collection has the style `cursor`. */
  readonly cursor?: CursorOptions | undefined
  /**
   * Sends the links of pages in the `Link` header (RFC 8288).
   * @default true
   */
  readonly linkHeader?: boolean | undefined
  /**
   * Lets collections by page be read by `offset` and `limit` too, for clients that have not moved yet (rule Q9). The answers say
   * `Deprecation` (RFC 9745) with this date, and the descriptions of both parameters that they are deprecated.
   * @default none – both are unknown parameters
   */
  readonly transitionalOffset?: { readonly deprecatedAt: string | Date } | undefined
  /**
   * Plans of queries that are kept, so that a query string is read once. A plan holds a few kilobytes.
   * @default 500
   */
  readonly maxCachedPlans?: number | undefined
  /**
   * The clock, in milliseconds since 1970.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly perPage: { readonly default: number; readonly max: number }
  readonly maxOffset: number
  /** How cursors are protected; undefined when nothing was said. */
  readonly cursor: { readonly keys: CursorKeys; readonly maxAgeSeconds: number | undefined } | undefined
  readonly linkHeader: boolean
  readonly transitionalOffset: boolean
  /** The `Deprecation` header of answers by offset and limit. */
  readonly deprecation: string | undefined
  readonly maxCachedPlans: number
  readonly originOf: ReturnType<typeof originResolver>
  readonly now: () => number
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: PaginationQueryOptions): Settings {
  const { perPage = {}, maxOffset = 10_000, maxCachedPlans = 500 } = options
  const max = perPage.max ?? Math.max(100, perPage.default ?? 0)
  const bounds = { default: perPage.default ?? Math.min(25, max), max }
  requireBounds('The option perPage', bounds, maxOffset)
  if (!Number.isSafeInteger(maxCachedPlans) || maxCachedPlans < 0)
    throw new TypeError(`maxCachedPlans is ${maxCachedPlans}. Give a whole number, or 0 for none.`)
  return {
    perPage: bounds,
    maxOffset,
    cursor: options.cursor && readCursorOptions(options.cursor),
    linkHeader: options.linkHeader ?? true,
    transitionalOffset: options.transitionalOffset !== undefined,
    deprecation: options.transitionalOffset && deprecationOf(options.transitionalOffset.deprecatedAt),
    maxCachedPlans,
    originOf: originResolver(options),
    now: options.now ?? Date.now
  }
}

function readCursorOptions(cursor: CursorOptions) {
  const { secrets, maxAgeSeconds, dangerouslyUnsigned } = cursor as {
    readonly secrets?: readonly (string | Uint8Array)[]
    readonly maxAgeSeconds?: number
    readonly dangerouslyUnsigned?: boolean
  }
  if (secrets === undefined) {
    if (!dangerouslyUnsigned) throw new TypeError('cursor has no secrets. Give them, or set dangerouslyUnsigned to true.')
    return { keys: undefined, maxAgeSeconds: undefined }
  }
  if (dangerouslyUnsigned) throw new TypeError('cursor has secrets and dangerouslyUnsigned. Keep the secrets.')
  if (maxAgeSeconds !== undefined && (!Number.isSafeInteger(maxAgeSeconds) || maxAgeSeconds < 1))
    throw new TypeError(`cursor.maxAgeSeconds is ${maxAgeSeconds}. Give a whole number of seconds from 1.`)
  return { keys: cursorKeys(secrets), maxAgeSeconds }
}

function deprecationOf(deprecatedAt: string | Date) {
  const time = new Date(deprecatedAt).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`transitionalOffset.deprecatedAt is "${String(deprecatedAt)}". Give a Date or an ISO 8601 date-time.`)
  return `@${Math.floor(time / 1000)}`
}
