import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

/**
 * What became of a request with a key:
 * - `ran`: the handler ran, and its answer is stored
 * - `released`: it ran, and the key is free again
 * - `replayed`: it got the answer that was stored
 * - `inProgress`, `reused`, `outcomeUnknown`, `answerUnavailable`, `storeUnavailable`: it was refused
 * - `bypassed`: it ran without protection, because the store failed and the route allows that
 * - `answerNotStored`: it ran and was answered, but the store did not take the answer
 * - `claimLost`: it ran, and another owned its key meanwhile
 */
export type IdempotencyOutcome =
  | 'ran'
  | 'released'
  | 'replayed'
  | 'inProgress'
  | 'reused'
  | 'outcomeUnknown'
  | 'answerUnavailable'
  | 'storeUnavailable'
  | 'bypassed'
  | 'answerNotStored'
  | 'claimLost'

/** Is told what became of a request. */
export type TellOutcome = (outcome: IdempotencyOutcome, request: FastifyRequest) => void

/** Keeps what counts outcomes from failing a request, and the process where nobody waits for it. */
export function harmless(tell: TellOutcome, log: FastifyBaseLogger): TellOutcome {
  return (outcome, request) => {
    try {
      tell(outcome, request)
    } catch (err) {
      log.error({ err, outcome }, 'idempotency: onOutcome failed')
    }
  }
}
