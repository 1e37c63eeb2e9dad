/** The distribution of measured times, in milliseconds; all values are 0 if there are none. */
export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** Returns the distribution of these times. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}
