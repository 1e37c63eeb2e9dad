import type { RequestTransaction } from '@concordat/plugin-kit/wiring'

/** The guarantees of a store. */
interface StoreGuarantees {
  /** Whether all processes see the same claims. */
  readonly shared: boolean
  /** Whether the store can write the claim, the domain changes and the response in one transaction of its database. */
  readonly transactional: boolean
}

/** The terms on which a key is claimed. */
export interface ClaimTerms {
  /** How long the claim lasts without being renewed. */
  readonly leaseMs: number
  /** How long the record is stored, counted from this call; after that, a claim whose owner never finished expires. */
  readonly lifetimeMs: number
  /** Whether a claim whose lease has expired is taken over; otherwise it is reported as `abandoned`. */
  readonly takesOver: boolean
  /** The client of the key: SHA-256 in base64url, 43 characters. The same for all calls with this key. */
  readonly client: string
  /**
   * Identifies the request that claims, up to 64 characters without spaces. `begin` with the id of the claim that owns the key returns that claim
   * again. Only passed to stores with `withdraw`.
   */
  readonly claimId?: string | undefined
  /** The limit of the stored bytes of the client. A client that has reached it claims no key. */
  readonly maxClientBytes: number
  /** The transaction in which to claim the key. Only passed to `transactional` stores. */
  readonly transaction?: RequestTransaction | undefined
  /** Passed together with `transaction`. After it aborts, `begin` returns `busy` instead of claiming the key, because nobody waits for the claim. */
  readonly signal?: AbortSignal | undefined
}

/** The right to run a request, until it is completed, released or taken over. The store creates it and receives it back. */
export interface Claim {
  readonly key: string
  /** The client of the terms. */
  readonly client: string
  /** The fencing token: an integer up to 2^53, greater than all earlier tokens of this key, also after the record was lost. */
  readonly token: number
  /** The number of the attempt: 1, plus 1 for each earlier owner of the record that never finished. */
  readonly attempt: number
}

/** A claim whose result was lost. */
interface LostClaim extends Pick<Claim, 'key' | 'client'> {
  readonly claimId: string
}

/** A response as it is stored. */
export interface StoredResponse {
  readonly status: number
  /** The header fields, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The body; `''` if it is empty, `null` if it was a stream or too large to store. A store may return text as its bytes in UTF-8, but never bytes as
   * text.
   */
  readonly body: string | Uint8Array | null
  /**
   * Whether the body is not a response but the progress of a request that is not finished: the key is bound to the request, and the next `begin`
   * with its fingerprint claims it and returns the progress. @default false
   */
  readonly isProgress?: boolean | undefined
}

/**
 * The outcome of an attempt to claim a key:
 * - `claimed`: the key was free, its owner was lost, or its owner stored a progress; the caller owns it now. `progress` is what was last
 * stored, by whichever owner; `clientBytes` are the stored bytes of the client
 * - `done`: the key was completed with the same fingerprint; `response` is the stored response
 * - `busy`: another owner is running the request with the same fingerprint; `leaseMs` is the remaining time of its lease, as far as the
 * store knows
 * - `abandoned`: the owner of the key was lost before it stored a response, and the terms do not allow a takeover
 * - `mismatch`: the key was claimed or completed with another fingerprint, regardless of the outcome
 * - `exceeded`: the key could be claimed, but the stored responses of its client have reached `maxClientBytes`; `retryMs` is the time
 * until the first of them expires
 */
export type BeginOutcome =
  | { readonly state: 'claimed'; readonly claim: Claim; readonly clientBytes: number; readonly progress?: StoredResponse | undefined }
  | { readonly state: 'done'; readonly response: StoredResponse }
  | { readonly state: 'busy'; readonly leaseMs: number }
  | { readonly state: 'abandoned' }
  | { readonly state: 'mismatch' }
  | { readonly state: 'exceeded'; readonly retryMs: number }

/**
 * A store of claims and responses, with one record per key. `key` and `fingerprint` are SHA-256 in base64url, 43 characters; the hash of
 * the key also covers the client. Each method takes effect atomically with respect to all other processes; the store's own clock
 * determines all times. A store that cannot be reached rejects. It needs no timeout of its own, because the gate limits the time of each
 * call. A memory store may return results synchronously, without a promise.
 *
 * The stored bytes of a client are those of the bodies and header fields of its responses that have not expired; a record counts as what it takes, at
 * least 300 bytes. A store may estimate them. Responses of open transactions need not count.
 *
 * A claim made in a transaction needs no lease: it ends with the transaction, and until COMMIT nothing that was written under it is visible
 * outside the transaction. The order is `begin`, the domain writes, `complete` or `release` in {@link RequestTransaction.beforeCommit},
 * COMMIT; after ROLLBACK the key is as it was before `begin`.
 */
export interface IdempotencyStore {
  readonly guarantees: StoreGuarantees
  /**
   * Looks up the key and claims it in one step; of concurrent callers, exactly one claims it. The fingerprint is compared first. Any
   * outcome other than `claimed` leaves the record unchanged and holds no lock, connection or open transaction. An expired record counts as
   * missing, whether it was swept or not.
   *
   * With `terms.transaction`, `claimed` means that the transaction has begun. `busy` means that another open transaction holds the key; it
   * is returned without waiting for that transaction, and may be returned instead of `mismatch` if the store cannot see into it.
   */
  begin(key: string, fingerprint: string, terms: ClaimTerms): BeginOutcome | Promise<BeginOutcome>
  /**
   * Sets the lease to end `leaseMs` from now if the record still has this token, even if the lease has expired. Returns `false` if the claim is
   * permanently lost. Not called for a claim in a transaction.
   */
  renew(claim: Claim, leaseMs: number): Promise<boolean>
  /**
   * Stores the response for `lifetimeMs` from now if the record still has this token and was not completed; otherwise returns `lost` and changes
   * nothing. A progress ends the lease of the claim too. For a claim in a transaction, it takes effect at COMMIT. A repetition with the same claim, for example after a lost acknowledgement,
   * returns `stored` again and changes nothing.
   */
  complete(claim: Claim, response: StoredResponse, lifetimeMs: number): 'stored' | 'lost' | Promise<'stored' | 'lost'>
  /**
   * Deletes the record if it still has this token and was not completed, so that the next request with the key is a new one; otherwise returns
   * `lost` and changes nothing. A record with a progress is not deleted: it is as it was before `begin`. For a claim in a transaction, it takes effect at COMMIT.
   */
  release(claim: Claim): Promise<'released' | 'lost'>
  /**
   * Ends the claim that a `begin` with this `claimId` made, or prevents it if that call arrives later: its result was lost, so the caller does not
   * know the token. The handler has not run. Changes nothing if the key has another owner or was completed. An attempt of an earlier owner that was
   * lost remains recorded. Repeated until it resolves. Omitted by a store whose `begin` cannot take effect when it rejects.
   */
  readonly withdraw?: ((lost: LostClaim) => Promise<void>) | undefined
  /**
   * Resolves when the claim of the key may have ended, and at the latest when the signal aborts; never rejects. It is a hint: the caller
   * calls `begin` again, and does so at intervals in any case. All waiting callers together hold at most one connection.
   */
  readonly changed?: ((key: string, signal: AbortSignal) => Promise<void>) | undefined
  /** Deletes at most `maximum` expired records and returns their number. Omitted by a store that deletes them itself. */
  readonly sweep?: ((maximum: number) => Promise<number>) | undefined
  /** Returns the setup problems that break a guarantee of the store, one line each, with how to fix them; called once at boot. */
  readonly check?: (() => Promise<readonly string[]>) | undefined
  /** Stops the timers and closes the connections that the store created itself. */
  readonly close?: (() => Promise<void>) | undefined
}
