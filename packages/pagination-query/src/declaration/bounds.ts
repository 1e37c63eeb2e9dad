import { optionChecks } from '@concordat/plugin-options'

const { integer } = optionChecks('pagination-query')

/** Throws a `TypeError` if a limit is invalid or the limits contradict each other. `where` is the beginning of each option path. */
export function requireBounds(where: string, perPage: { readonly default: number; readonly max: number }, maxOffset: number): void {
  integer(`${where}perPage.default`, perPage.default, 1)
  integer(`${where}perPage.max`, perPage.max, 1)
  integer(`${where}maxOffset`, maxOffset, 1)
  if (perPage.default > perPage.max)
    throw new TypeError(
      `pagination-query: ${where}perPage.default must be at most perPage.max (${perPage.max}), but is ${perPage.default}. Lower it.`
    )
  if (perPage.max > maxOffset)
    throw new TypeError(
      `pagination-query: ${where}perPage.max must be at most maxOffset (${maxOffset}), but is ${perPage.max}. Raise maxOffset.`
    )
}
