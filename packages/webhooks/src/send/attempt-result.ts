import type { AttemptFailureCode } from '../guard-addresses/attempt-failure.ts'

/** The result of an attempt: a status code, or the reason why there was no response. */
export interface AttemptResult {
  /** The start time of the attempt, in milliseconds since the Unix epoch. */
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

const throttling = new Set([429, 502, 503, 504])
