import { originResolver } from '@concordat/links'
import { clock, describeOptions, group, integer, type OptionsOf, value } from '@concordat/plugin-options'
import { type CursorKeys, cursorKeys, cursorOptions } from './cursor/keys.ts'
import { perPageOptions, requireBounds } from './declaration/bounds.ts'

/** The description of {@link PaginationQueryOptions}. @readme */
export const paginationQueryOptions = describeOptions('pagination-query', {
  /** The public URL of the service, for links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The `default` (25) and the maximum `max` (100) of items per page. */
  perPage: group(perPageOptions),
  /** The last item that clients can reach with the style `page`: a database reads and discards all rows before a page. */
  maxOffset: integer({ default: 10_000, min: 1 }),
  /** How cursors are signed, as below. Required if a collection has the style `cursor`. */
  cursor: group(cursorOptions),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/pagination-query`. */
export interface PaginationQueryOptions extends OptionsOf<typeof paginationQueryOptions> {}

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

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message for an invalid option. */
export function resolveOptions(options: PaginationQueryOptions): Settings {
  const { publicUrl, allowedHosts, perPage, maxOffset, cursor, now } = paginationQueryOptions.readPlugin(options)
  const max = perPage.max ?? Math.max(100, perPage.default ?? 0)
  const bounds = { default: perPage.default ?? Math.min(25, max), max }
  requireBounds('options.', bounds, maxOffset)
  return {
    perPage: bounds,
    maxOffset,
    cursor: options.cursor && { keys: cursorKeys(cursor.secrets), maxAgeSeconds: cursor.maxAgeSeconds },
    originOf: originResolver({ publicUrl, allowedHosts }),
    now
  }
}
