/**
 * Creates the function that returns `_meta.timestamp`: an ISO 8601 time in UTC, 24 characters long (rules F2, G2). `Date#toISOString` costs more than
 * everything else in the envelope, so the date and time are cached for a second, and the whole text for a millisecond.
 */
export function isoClock(now: () => number): () => string {
  let second = Number.NaN
  let start = ''
  let latest = Number.NaN
  let text = ''
  return () => {
    const time = now()
    if (time === latest) return text
    const current = Math.floor(time / 1000)
    if (current !== second) {
      second = current
      start = new Date(current * 1000).toISOString().slice(0, 20)
    }
    latest = time
    text = `${start}${String(time - current * 1000).padStart(3, '0')}Z`
    return text
  }
}
