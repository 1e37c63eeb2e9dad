import type { Metric } from '@concordat/plugin-kit/observer'

/**
 * The outcome of a request with a key:
 * - `ran`: the handler ran, and its response is stored
 * - `continued`: the handler ran, and its progress is stored: a retry runs it again
 * - `released`: the handler ran, and the key is free again
 * - `replayed`: the request got the stored response
 * - `inProgress`, `reused`, `outcomeUnknown`, `responseUnavailable`, `storageExceeded`, `storeUnavailable`: the request was refused
 * - `responseTooLarge`: the handler ran, and its transaction was rolled back, because its response is too large to be stored
 * - `bypassed`: the handler ran without protection, because the store failed and the route allows that
 * - `responseNotStored`: the handler ran and the response was sent, but the store did not accept it
 * - `claimLost`: the handler ran, and meanwhile another owner had the key
 */
export type IdempotencyOutcome =
  | 'ran'
  | 'continued'
  | 'released'
  | 'replayed'
  | 'inProgress'
  | 'reused'
  | 'outcomeUnknown'
  | 'responseUnavailable'
  | 'responseTooLarge'
  | 'storageExceeded'
  | 'storeUnavailable'
  | 'bypassed'
  | 'responseNotStored'
  | 'claimLost'

/** The counter of outcomes. */
export const outcomes: Metric = {
  name: 'concordat.idempotency.outcomes',
  unit: '{request}',
  description: 'Requests with an idempotency key, by outcome.'
}
