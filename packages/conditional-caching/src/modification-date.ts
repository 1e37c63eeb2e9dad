/** A state of a resource with its date. */
export interface DatedState {
  /** The date of the state, in seconds since the Unix epoch: see {@link stateDate}. `undefined` if it is unknown. */
  readonly date?: number | undefined
  /** A time before the state was read, in milliseconds since the Unix epoch. */
  readonly readAt: number
}

/**
 * Returns the date of a state that began at `changedAt`, in milliseconds since the Unix epoch: the next whole second. HTTP dates cannot distinguish
 * changes within one second; once that second is over, the date identifies its last change (RFC 9110 §8.8.2.2).
 */
export function stateDate(changedAt: number): number {
  return Math.floor(changedAt / 1000) + 1
}

/**
 * Returns the date of a representation in seconds since the Unix epoch, for `Last-Modified` and `If-Modified-Since`: the date of its state, or
 * `releasedAt` if that is later, from when on this representation of the state is sent. Returns `undefined` if another state could get the same date.
 */
export function representationDate({ date, readAt }: DatedState, releasedAt = 0): number | undefined {
  if (date === undefined) return undefined
  const latest = Math.max(date, releasedAt)
  return latest * 1000 <= readAt ? latest : undefined
}

/**
 * Returns whether a state is certainly not later than `since`, in seconds since the Unix epoch, for `If-Unmodified-Since`. A release does not change
 * the state. The client may not have seen a change of the current second, or of the second of `since`.
 */
export function isUnmodified({ date, readAt }: DatedState, since: number): boolean {
  return date === undefined || (date <= since && date * 1000 <= readAt)
}
