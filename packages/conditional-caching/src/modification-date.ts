/** A state of a resource with its date. */
export interface DatedState {
  /** The date of the state, in seconds since the Unix epoch: see {@link stateDate}. `undefined` if it is unknown. */
  readonly date?: number | undefined
  /** A time before the state was read, in milliseconds since the Unix epoch. */
  readonly readAt: number
}

/**
 * Returns the date of a state that began at `changedAt`, in milliseconds: the next whole second. Once the second of a change is over, the date
 * identifies its last change (RFC 9110 §8.8.2.2).
 */
export function stateDate(changedAt: number): number {
  return Math.floor(changedAt / 1000) + 1
}

/**
 * Returns the date of a representation, for `Last-Modified` and `If-Modified-Since`: that of its state, or `releasedAt` if that is later. Returns
 * `undefined` if another state could get the same date.
 */
export function representationDate({ date, readAt }: DatedState, releasedAt = 0): number | undefined {
  if (date === undefined) return undefined
  const latest = Math.max(date, releasedAt)
  return latest * 1000 <= readAt ? latest : undefined
}

/** Returns whether a state is certainly not later than `since`, for `If-Unmodified-Since`. A change of the current second may be later. */
export function isUnmodified({ date, readAt }: DatedState, since: number): boolean {
  return date === undefined || (date <= since && date * 1000 <= readAt)
}
