import type { BeginOutcome, ClaimTerms, StoredResponse } from '@concordat/idempotency'

/** The outcome for a key that an open transaction has locked. It may end at any moment. */
export const busy: BeginOutcome = { state: 'busy', leaseMs: 1000 }

// How often a record is read that keeps changing at the same time.
const maxReads = 10

/** What is read of a key without claiming it, besides its record. */
export const unclaimed: Omit<ReadRecord, 'stored'> = { isFree: true, claim: null, progress: null, clientBytes: 0, exceededMs: null }

/** Reads the record until the state of the key is known. */
export async function readUntilKnown(read: () => Promise<BeginOutcome | undefined>): Promise<BeginOutcome> {
  for (let reads = 0; reads < maxReads; reads += 1) {
    const outcome = await read()
    if (outcome !== undefined) return outcome
  }
  return busy
}

/** The result of the claim statement. */
export interface ReadRecord {
  /** Whether no open transaction has locked the key. */
  readonly isFree: boolean
  readonly claim: { readonly token: number; readonly attempt: number } | null
  /** What the record had as progress when it was claimed. */
  readonly progress: KeptResponse | null
  /** The stored bytes of the client, as they are counted. */
  readonly clientBytes: number
  /** The time until the first counted response of the client expires, if its responses have reached the limit. */
  readonly exceededMs: number | null
  /** The record as it was when the statement began, unless it had expired. */
  readonly stored: KeptRecord | null
}

/** A record as it is read. */
export interface KeptRecord {
  readonly isSame: boolean
  readonly leaseMs: number
  /** Whether an attempt stored a progress, and no other has begun. */
  readonly isIdle: boolean
  /** The final response. */
  readonly response: KeptResponse | null
}

type KeptResponse = Omit<StoredResponse, 'body'> & { readonly body: string | null }

/** Converts the result of the claim statement to the outcome of `begin`. Returns undefined when the record must be read again. */
export function outcomeOf(key: string, record: ReadRecord, { takesOver, client }: ClaimTerms): BeginOutcome | undefined {
  const { isFree, claim, clientBytes, progress, exceededMs, stored } = record
  if (claim !== null) {
    const found = progress === null ? undefined : responseOf(progress)
    return { state: 'claimed', claim: { key, client, ...claim }, clientBytes, progress: found }
  }
  const refused: BeginOutcome | undefined = !isFree ? busy : exceededMs === null ? undefined : { state: 'exceeded', retryMs: exceededMs }
  if (stored === null) return refused
  if (!stored.isSame) return { state: 'mismatch' }
  if (stored.response !== null) return { state: 'done', response: responseOf(stored.response) }
  if (stored.leaseMs > 0) return { state: 'busy', leaseMs: stored.leaseMs }
  if (!takesOver && !stored.isIdle) return { state: 'abandoned' }
  return refused
}

function responseOf({ status, headers, body }: KeptResponse): StoredResponse {
  return { status, headers, body: body === null ? null : Buffer.from(body, 'base64') }
}
