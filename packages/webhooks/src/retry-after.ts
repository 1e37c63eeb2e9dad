const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The seconds that a `Retry-After` asks to wait, as a number or until a date (RFC 9110 §10.2.3); undefined for anything else. A date
 * that is over is 0.
 */
export function retryAfterSeconds(field: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined
  if (/^\d{1,10}$/.test(field)) return Number(field)
  const at = httpDate.test(field) ? Date.parse(field) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
