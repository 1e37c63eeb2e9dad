import type { Effect, Retry } from './api-error.ts'

/** What is known about a failed attempt. */
export interface Attempt {
  readonly method: string
  /** 0 where no response was received. */
  readonly status: number
  readonly code: string
  /** Whether the request has an `Idempotency-Key`. */
  readonly isKeyed: boolean
  /** Whether the request can be sent twice with one effect: it is safe, idempotent, or conditional. */
  readonly isRepeatable: boolean
  /** Whether the response is that of an earlier request with the same key. It is final. */
  readonly isReplayed: boolean
}

const rows: Readonly<Record<string, readonly [Retry, Effect]>> = {
  IDEMPOTENCY_IN_PROGRESS: ['later', 'unknown'],
  IDEMPOTENCY_OUTCOME_UNKNOWN: ['never', 'unknown'],
  IDEMPOTENCY_RESPONSE_UNAVAILABLE: ['never', 'done'],
  TRANSACTION_UNAVAILABLE: ['later', 'unknown'],
  // 422 that are sent before a handler runs.
  VALIDATION_FAILED: ['changed', 'none'],
  INVALID_QUERY_PARAMETERS: ['changed', 'none'],
  IDEMPOTENCY_KEY_REUSED: ['changed', 'none'],
  // 503 that are sent where the handler has not begun, or its transaction was rolled back. Others of the form *_UNAVAILABLE are too.
  TRANSACTION_CONFLICT: ['later', 'none'],
  BATCH_STOPPED: ['later', 'none'],
  SERVICE_OVERLOADED: ['later', 'none']
}

/** Returns what a failed attempt means, where its response does not say it. */
export function meaningOf(attempt: Attempt): { readonly retry: Retry; readonly effect: Effect } {
  const [retry, effect] = rowOf(attempt)
  const isRead = attempt.method === 'GET'
  const isLost = retry === 'later' && effect === 'unknown' && !isRead && !attempt.isKeyed && !attempt.isRepeatable
  return { retry: isLost || (attempt.isReplayed && attempt.status >= 500) ? 'never' : retry, effect: isRead ? 'none' : effect }
}

function rowOf({ status, code }: Attempt): readonly [Retry, Effect] {
  const row = rows[code]
  if (row !== undefined) return row
  if ([403, 404, 410, 501, 505].includes(status)) return ['never', 'none']
  if (status === 408 || status === 429 || (status === 503 && code.endsWith('_UNAVAILABLE'))) return ['later', 'none']
  if (status === 409 || status === 422) return ['changed', 'unknown']
  return status === 0 || status >= 500 ? ['later', 'unknown'] : ['changed', 'none']
}

/** Returns the milliseconds in `Retry-After`: seconds, or a date, which is compared with the date of the response and not with the local clock. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const sent = Date.parse(headers.get('date') ?? '')
  const ms = Date.parse(value) - (Number.isNaN(sent) ? Date.now() : sent)
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
