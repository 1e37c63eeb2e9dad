import { optionChecks } from '@concordat/plugin-options'

const { integer } = optionChecks('pagination-query')

/** Throws a `TypeError` if a limit is invalid or the limits contradict each other. `where` is the beginning of each option path. */
export function requireBounds(where: string, perPage: { readonly default: number; readonly max: number }, maxOffset: number): void {
  integer(`${where}perPage.default`, perPage.default, 1)
  integer(`${where}perPage.max`, perPage.max, 1)
  integer(`${where}maxOffset`, maxOffset, 1)
  if (perPage.default > perPage.max)
    throw new TypeError(
      `pagination-query: ${where}perPage.default is ${perPage.default}, which is more than perPage.max, ${perPage.max}. Lower perPage.default.`
    )
  if (perPage.max > maxOffset)
    throw new TypeError(
      `pagination-query: ${where}perPage.max is ${perPage.max}, which is more than maxOffset, ${maxOffset}, so no page could be read. Raise maxOffset.`
    )
}
