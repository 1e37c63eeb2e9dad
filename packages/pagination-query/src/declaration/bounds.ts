/** Throws a `TypeError` if a limit is invalid or the limits contradict each other. `where` is the prefix of the message. */
export function requireBounds(where: string, perPage: { readonly default: number; readonly max: number }, maxOffset: number): void {
  for (const [name, value] of [
    ['perPage.default', perPage.default],
    ['perPage.max', perPage.max],
    ['maxOffset', maxOffset]
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${where}${name} is ${value}. Set it to an integer of at least 1.`)
  }
  if (perPage.default > perPage.max)
    throw new TypeError(
      `${where}perPage.default is ${perPage.default}, which is more than perPage.max, ${perPage.max}. Lower perPage.default.`
    )
  if (perPage.max > maxOffset)
    throw new TypeError(
      `${where}perPage.max is ${perPage.max}, which is more than maxOffset, ${maxOffset}, so no page could be read. Raise maxOffset.`
    )
}
