import type { BeginOutcome, Claim, ClaimTerms, StoredResponse } from '@concordat/idempotency'
import type { Fields, Rows } from '../connections/message.ts'

/** The outcome for a key that an open transaction has locked. It may end at any moment. */
export const busy: BeginOutcome = { state: 'busy', leaseMs: 1000 }

/** A claim of this store, with what its client had stored when it claimed the key. */
export interface CountedClaim extends Claim {
  readonly clientBytes?: number | undefined
}

// How often a record is read that keeps changing at the same time.
const maxReads = 10

/** Reads the record until the state of the key is known. */
export function readUntilKnown(read: () => Promise<BeginOutcome | undefined>, readsLeft = maxReads): Promise<BeginOutcome> {
  return read().then((outcome) => outcome ?? (readsLeft > 1 ? readUntilKnown(read, readsLeft - 1) : busy))
}

/**
 * Converts the row of a statement on a key, whose columns are those of `outcomeColumns`, to the outcome of `begin`. Returns undefined when the row allows
 * a claim that the statement did not make: the record must be claimed, or read again.
 */
export function outcomeOf([row]: Rows, key: string, { takesOver, client }: ClaimTerms, isLocked = true): BeginOutcome | undefined {
  if (row === undefined) return undefined
  const [isFree, bytes, exceededMs, token, attempt, isSame, leaseMs, isIdle, isFinal, ...response] = row
  const isAvailable = isLocked && isFree === 't'
  if (isAvailable && token != null) {
    const clientBytes = Number(bytes)
    const claim: CountedClaim = { key, client, token: Number(token), attempt: Number(attempt), clientBytes }
    return { state: 'claimed', claim, clientBytes, progress: response[0] == null ? undefined : responseOf(response) }
  }
  const refused: BeginOutcome | undefined = !isAvailable
    ? busy
    : exceededMs == null
      ? undefined
      : { state: 'exceeded', retryMs: Number(exceededMs) }
  if (isSame == null) return refused
  if (isSame === 'f') return { state: 'mismatch' }
  if (isFinal === 't') return { state: 'done', response: responseOf(response) }
  if (Number(leaseMs) > 0) return { state: 'busy', leaseMs: Number(leaseMs) }
  if (!takesOver && isIdle === 'f') return { state: 'abandoned' }
  return refused
}

function responseOf([status, headers, text, octets]: Fields): StoredResponse {
  const body = text ?? (octets == null ? null : Buffer.from(octets, 'base64'))
  return { status: Number(status), headers: JSON.parse(String(headers)) as StoredResponse['headers'], body }
}
