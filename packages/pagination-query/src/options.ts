import { originResolver } from '@concordat/plugin-kit/links'
import { describeOptions, group, integer, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'
import { type CursorKeys, cursorKeys, cursorOptions } from './cursor/keys.ts'
import { perPageOptions, requireBounds } from './declaration/bounds.ts'

/** The description of {@link PaginationQueryOptions}. @readme */
export const paginationQueryOptions = describeOptions('pagination-query', {
  /** The origin of links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** Items per page: `default` (25) and `max` (100). */
  perPage: group(perPageOptions),
  /** The last item that clients can reach by page number. Operators lower it while deep pages slow the database down. */
  maxOffset: integer({ default: 10_000, min: 1 }),
  /** Required for the style `cursor`: `secrets` of 32 random bytes, the current one first, and `maxAgeSeconds`, by default none. */
  cursor: group(cursorOptions)
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
  /** Returns the tenant of a request, to which its cursors are bound. */
  readonly tenantOf: (request: FastifyRequest) => string | undefined
}

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message for an invalid option. */
export function resolveOptions(options: PaginationQueryOptions, tenantOf: Settings['tenantOf'] = () => undefined): Settings {
  const { publicUrl, allowedHosts, perPage, maxOffset, cursor } = paginationQueryOptions.readPlugin(options)
  const max = perPage.max ?? Math.max(100, perPage.default ?? 0)
  const bounds = { default: perPage.default ?? Math.min(25, max), max }
  requireBounds('options.', bounds, maxOffset)
  return {
    perPage: bounds,
    maxOffset,
    cursor: options.cursor && { keys: cursorKeys(cursor.secrets), maxAgeSeconds: cursor.maxAgeSeconds },
    originOf: originResolver({ publicUrl, allowedHosts }),
    tenantOf
  }
}
