const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * Returns the seconds to wait from a `Retry-After` header, which is a number of seconds or a date (RFC 9110 §10.2.3); undefined for
 * anything else. Returns 0 for a date in the past.
 */
export function retryAfterSeconds(field: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined
  if (/^\d{1,10}$/.test(field)) return Number(field)
  const at = httpDate.test(field) ? Date.parse(field) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
