import { AttemptFailure, type AttemptFailureCode } from '../guard-addresses/attempt-failure.ts'

/** The result of an attempt: a status code, or the reason why there was no response. */
export interface AttemptResult {
  /** In milliseconds since the Unix epoch. */
  readonly startedAt: number
  readonly durationMilliseconds: number
  readonly statusCode?: number | undefined
  readonly failure?: AttemptFailureCode | undefined
  /** The delay before the next attempt that the receiver requested with `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number | undefined
}

/**
 * The outcome of an attempt: `delivered` for a 2xx; `gone` for a 410, which disables the subscription; `throttled` for a 429, 502, 503 or 504, for
 * which `Retry-After` applies; `failed` for everything else, including redirects (Standard Webhooks 1.0).
 */
export type AttemptOutcome = 'delivered' | 'gone' | 'throttled' | 'failed'

export function outcomeOf({ statusCode = 0 }: Pick<AttemptResult, 'statusCode'>): AttemptOutcome {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  if (statusCode === 410) return 'gone'
  return throttling.has(statusCode) ? 'throttled' : 'failed'
}

/** Returns whether no attempt follows, whatever the schedule says. */
export function isFinal(result: Pick<AttemptResult, 'statusCode'>): boolean {
  return ['delivered', 'gone'].includes(outcomeOf(result))
}

const throttling = new Set([429, 502, 503, 504])

/** Returns the code of an error. */
export function failureCodeOf(error: unknown): AttemptFailureCode {
  if (error instanceof AttemptFailure) return error.code
  const { name = '', code = '' } = error as { readonly name?: string; readonly code?: unknown }
  if (name === 'TimeoutError' || /TIMEOUT/.test(String(code))) return 'TIMEOUT'
  return name === 'HTTPParserError' || invalid.has(String(code)) ? 'RESPONSE_INVALID' : 'CONNECTION_FAILED'
}

const invalid = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_INVALID_ARG'])
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Returns the seconds of a `Retry-After` header, a number or a date (RFC 9110 §10.2.3); 0 for a date in the past, undefined for anything else. */
export function retryAfterSeconds(field: string | readonly string[] | undefined, now: number): number | undefined {
  if (typeof field !== 'string') return undefined
  if (/^\d{1,10}$/.test(field)) return Number(field)
  const at = httpDate.test(field) ? Date.parse(field) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000))
}
