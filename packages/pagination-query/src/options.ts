import { type OriginOptions, originResolver } from '@concordat/links'
import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import type { PerPage } from './collection.ts'
import { type CursorKeys, type CursorOptions, cursorKeys } from './cursor/keys.ts'
import { requireBounds } from './declaration/bounds.ts'

/** Options of `@concordat/pagination-query`. */
export interface PaginationQueryOptions extends OriginOptions {
  /**
   * The default and the maximum number of items per page.
   * @default { default: 25, max: 100 }
   */
  readonly perPage?: PerPage | undefined
  /**
   * The position of the last item that clients can reach with the style `page`. It has a limit because a database reads and discards all rows
   * before a page.
   * @default 10_000
   */
  readonly maxOffset?: number | undefined
  /** Options for signing cursors and limiting their age. Required if a collection has the style `cursor`. */
  readonly cursor?: CursorOptions | undefined
  /**
   * Returns the current time, in milliseconds since the Unix epoch.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/** The keys and the maximum age of cursors. */
export interface CursorSettings {
  readonly keys: CursorKeys
  readonly maxAgeSeconds: number | undefined
}

/** The options with defaults applied. */
export interface Settings {
  readonly perPage: { readonly default: number; readonly max: number }
  readonly maxOffset: number
  /** Set if a collection has the style `cursor`. */
  readonly cursor: CursorSettings | undefined
  readonly originOf: ReturnType<typeof originResolver>
  readonly now: () => number
}

const { integer } = optionChecks('pagination-query')

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message for an invalid option. */
export function resolveOptions(options: PaginationQueryOptions): Settings {
  requirePluginNames('pagination-query', options, {
    publicUrl: true,
    allowedHosts: true,
    perPage: { default: true, max: true },
    maxOffset: true,
    cursor: { secrets: true, maxAgeSeconds: true },
    now: true
  })
  const { perPage = {}, maxOffset = 10_000 } = options
  const max = perPage.max ?? Math.max(100, perPage.default ?? 0)
  const bounds = { default: perPage.default ?? Math.min(25, max), max }
  requireBounds('options.', bounds, maxOffset)
  return {
    perPage: bounds,
    maxOffset,
    cursor: options.cursor && readCursorOptions(options.cursor),
    originOf: originResolver(options),
    now: options.now ?? (() => Date.now())
  }
}

function readCursorOptions({ secrets, maxAgeSeconds }: CursorOptions) {
  if (maxAgeSeconds !== undefined) integer('options.cursor.maxAgeSeconds', maxAgeSeconds, 1)
  return { keys: cursorKeys(secrets), maxAgeSeconds }
}
