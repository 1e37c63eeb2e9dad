import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'

/** The description of the option `perPage`. */
export const perPageOptions = describeOptions('pagination-query', {
  /** The number of items per page if the request does not set `perPage`. */
  default: integer({ min: 1 }),
  /** The maximum number of items per page. */
  max: integer({ min: 1 })
})

/** The default and the maximum of the `perPage` parameter. */
export interface PerPage extends OptionsOf<typeof perPageOptions> {}

/** Throws a `TypeError` if the limits contradict each other. `where` is the beginning of each option path. */
export function requireBounds(where: string, perPage: { readonly default: number; readonly max: number }, maxOffset: number): void {
  if (perPage.default > perPage.max)
    throw new TypeError(
      `pagination-query: ${where}perPage.default must be at most perPage.max (${perPage.max}), but is ${perPage.default}. Lower it.`
    )
  if (perPage.max > maxOffset)
    throw new TypeError(
      `pagination-query: ${where}perPage.max must be at most maxOffset (${maxOffset}), but is ${perPage.max}. Raise maxOffset.`
    )
}
