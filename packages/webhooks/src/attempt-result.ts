import type { AttemptFailureCode } from './attempt-failure.ts'

/** What came of one attempt: an answer, or the reason why there was none. */
export interface AttemptResult {
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number
  readonly durationMilliseconds: number
  readonly statusCode?: number | undefined
  readonly failure?: AttemptFailureCode | undefined
  /** What the receiver asked to wait before the next attempt. */
  readonly retryAfterSeconds?: number | undefined
}

/**
 * What an attempt means: `delivered` by a 2xx, `gone` by a 410, which ends the subscription, `throttled` by a 429, 502, 503 or 504,
 * which asks for peace, `failed` by everything else, redirects too (Standard Webhooks 1.0).
 */
export type Verdict = 'delivered' | 'gone' | 'throttled' | 'failed'

export function verdictOf({ statusCode = 0 }: Pick<AttemptResult, 'statusCode'>): Verdict {
  if (statusCode >= 200 && statusCode < 300) return 'delivered'
  if (statusCode === 410) return 'gone'
  return throttling.has(statusCode) ? 'throttled' : 'failed'
}

const throttling = new Set([429, 502, 503, 504])
