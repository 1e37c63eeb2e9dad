/** Throws a `TypeError` of one line for numbers that contradict each other. */
export function requireBounds(where: string, perPage: { readonly default: number; readonly max: number }, maxOffset: number): void {
  for (const [name, value] of [
    ['perPage.default', perPage.default],
    ['perPage.max', perPage.max],
    ['maxOffset', maxOffset]
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${where} has ${name} ${value}. Give a whole number from 1.`)
  }
  if (perPage.default > perPage.max)
    throw new TypeError(`${where} has perPage.default ${perPage.default}, which is more than perPage.max ${perPage.max}. Lower it.`)
  if (perPage.max > maxOffset)
    throw new TypeError(
      `${where} has perPage.max ${perPage.max}, which is more than maxOffset ${maxOffset}: no page could be read. Raise it.`
    )
}
