import type { BeginOutcome, ClaimTerms, StoredAnswer } from '@concordat/idempotency'

// What a transaction of another process has left is not known; it may end at any time.
const unknownLeaseMilliseconds = 1000

/** The key is held by something that can't be looked at. */
export const busy: BeginOutcome = { state: 'busy', leaseMilliseconds: unknownLeaseMilliseconds }

// How often a record is looked at that changes just then.
const mostLooks = 10

/** Looks until it is known what became of the key. */
export async function lookUntilKnown(look: () => Promise<BeginOutcome | undefined>): Promise<BeginOutcome> {
  for (let looks = 0; looks < mostLooks; looks += 1) {
    const outcome = await look()
    if (outcome !== undefined) return outcome
  }
  return busy
}

/** What the statement of a claim answers. */
export interface Look {
  /** No open transaction holds the key. */
  readonly isFree: boolean
  readonly claim: { readonly token: number; readonly attempt: number } | null
  /** The record as it was when the statement began, unless its time was over. */
  readonly kept: KeptRecord | null
}

interface KeptRecord {
  readonly isSame: boolean
  readonly leaseMilliseconds: number
  readonly status: number | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
}

/** What it means for the caller; `undefined` when the record has changed meanwhile and has to be looked at again. */
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

/** The bytes of a body, for its column. */
export function bytesOf(body: StoredAnswer['body']): Uint8Array | null {
  return typeof body === 'string' ? Buffer.from(body) : body
}
