import type { BeginOutcome, ClaimTerms, StoredAnswer } from '@concordat/idempotency'

// The remaining time of a transaction in another process is unknown: it may end at any moment.
const unknownLeaseMilliseconds = 1000

/** The outcome for a key that is locked by a transaction whose record cannot be read. */
export const busy: BeginOutcome = { state: 'busy', leaseMilliseconds: unknownLeaseMilliseconds }

// How often a record is read that keeps changing at the same time.
const mostLooks = 10

/** Reads the record until the state of the key is known. */
export async function lookUntilKnown(look: () => Promise<BeginOutcome | undefined>): Promise<BeginOutcome> {
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const outcome = await look()
    if (outcome !== undefined) return outcome
  }
  return busy
}

/** The result of the claim statement. */
export interface Look {
  /** Whether no open transaction has locked the key. */
  readonly isFree: boolean
  readonly claim: { readonly token: number; readonly attempt: number } | null
  /** The record as it was when the statement began, unless it had expired. */
  readonly kept: KeptRecord | null
}

interface KeptRecord {
  readonly isSame: boolean
  readonly leaseMilliseconds: number
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
}

/** Converts the result for the caller. Returns undefined when the record has changed in the meantime and must be read again. */
export function outcomeOf(key: string, { isFree, claim, kept }: Look, { takesOver }: ClaimTerms): BeginOutcome | undefined {
  if (claim !== null) return { state: 'claimed', claim: { key, ...claim } }
  if (kept === null) return isFree ? undefined : busy
  if (!kept.isSame) return { state: 'mismatch' }
  if (kept.status !== null) return { state: 'done', answer: answerOf(kept, kept.status) }
  if (kept.leaseMilliseconds > 0) return { state: 'busy', leaseMilliseconds: kept.leaseMilliseconds }
  if (!takesOver) return { state: 'abandoned' }
  return isFree ? undefined : busy
}

function answerOf({ headers, body }: KeptRecord, status: number): StoredAnswer {
  return { status, headers: headers ?? {}, body: body === null ? null : Buffer.from(body, 'base64') }
}

/** Returns the bytes of a body, for its column. */
export function bytesOf(body: StoredAnswer['body']): Uint8Array | null {
  return typeof body === 'string' ? Buffer.from(body) : body
}
