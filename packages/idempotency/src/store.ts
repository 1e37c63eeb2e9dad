import type { FastifyReply } from 'fastify'

/** What a store keeps, and what not. */
export interface StoreGuarantees {
  /** What it acknowledged is still there after it, or the machine it runs on, crashed. */
  readonly durable: boolean
  /** All processes see the same claims. */
  readonly shared: boolean
  /** It can hold the claim, the domain writes and the answer in one transaction of its database. */
  readonly transactional: boolean
}

/**
 * The transaction of one request, as far as the gate and a store need it. The gate asks for it by the option `transaction` before it calls
 * the handler and all that is wrapped around it, and hands it to `begin`. Whoever made it ends it: committed once the answer stands,
 * rolled back on a status of 500 or more and on anything that was thrown.
 */
export interface RequestTransaction {
  /**
   * Has `work` run once, with the answer as it will be sent, as the last thing before COMMIT: after the hooks that shape the answer, and
   * after domain writes were returned to the savepoint that a status of 400 or more returns them to. It is not run in a transaction that
   * is rolled back. When it rejects, the transaction is rolled back and the request fails with its error.
   */
  beforeCommit(work: (reply: FastifyReply, payload: unknown) => Promise<void>): void
}

/** On which terms a key is claimed. */
export interface ClaimTerms {
  /** How long the claim stands without being renewed. */
  readonly leaseMilliseconds: number
  /** How long the record is kept, from now on: a claim whose owner never comes back is forgotten then. */
  readonly lifetimeMilliseconds: number
  /** Whether a claim whose lease is over is taken over, or answered as `abandoned`. */
  readonly takesOver: boolean
  /** Claims inside this transaction. Only given to stores whose guarantees say `transactional`. */
  readonly transaction?: RequestTransaction | undefined
}

/** The right to run a request, until it is completed, released, or taken over by another. Made by the store, and handed back to it. */
export interface Claim {
  readonly key: string
  /**
   * The fencing token: a whole number up to 2^53, greater than every one given for this key before, also when the record was released,
   * ran out or was lost in between.
   */
  readonly token: number
  /** 1, and one more for each owner of the record before that never finished. */
  readonly attempt: number
}

/** An answer as it is kept. */
export interface StoredAnswer {
  readonly status: number
  /** Field names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * What was sent, before compression; text may come back from a store as its bytes in UTF-8, bytes never as text. `null`: it was too
   * large to keep or a stream, and can't be replayed; an empty body is `''`.
   */
  readonly body: string | Uint8Array | null
}

/**
 * What became of an attempt to claim a key:
 * - `claimed`: the key was free, or its owner is gone; the caller owns it now
 * - `done`: it was completed with the same fingerprint; here is its answer
 * - `busy`: another runs it with the same fingerprint; the time is what is left of its lease, as far as the store can tell
 * - `abandoned`: its owner is gone without an answer, and the terms forbid to take over
 * - `mismatch`: it was claimed or completed with another fingerprint, whatever became of it
 */
export type BeginOutcome =
  | { readonly state: 'claimed'; readonly claim: Claim }
  | { readonly state: 'done'; readonly answer: StoredAnswer }
  | { readonly state: 'busy'; readonly leaseMilliseconds: number }
  | { readonly state: 'abandoned' }
  | { readonly state: 'mismatch' }

/**
 * Where claims and answers are kept, one record a key. `key` and `fingerprint` are SHA-256 in base64url, 43 characters: the key's covers
 * the client too. Each method takes effect at one moment, against all other processes; all times are told by the store's own clock.
 * A store that can't be reached rejects, within a time that its maker chose; one in memory may answer at once, without a promise.
 *
 * A claim made in a transaction needs no lease: it ends with the transaction, and until COMMIT nothing that was written under it is seen
 * by anybody. The order is `begin`, the domain writes, `complete` or `release` in {@link RequestTransaction.beforeCommit}, COMMIT; on
 * ROLLBACK the key is as it was before `begin`.
 */
export interface IdempotencyStore {
  readonly guarantees: StoreGuarantees
  /**
   * Looks the key up and claims it in one step, of all callers at once for exactly one; the fingerprint is compared before anything else,
   * and any answer but `claimed` leaves the record as it was and holds nothing: no lock, no connection, no open transaction. A record
   * whose time is over is none, swept or not.
   *
   * With `terms.transaction`, `claimed` has begun that transaction; `busy` stands for another open transaction that holds the key, is
   * answered without waiting for it, and may be answered in place of `mismatch` where the store can't see into that transaction.
   */
  begin(key: string, fingerprint: string, terms: ClaimTerms): BeginOutcome | Promise<BeginOutcome>
  /**
   * Lets the lease end `leaseMilliseconds` from now, while the token is the record's: also when the lease was over and nobody took over.
   * `false`: the claim is lost for good. Not asked of a claim in a transaction.
   */
  renew(claim: Claim, leaseMilliseconds: number): Promise<boolean>
  /**
   * Keeps the answer for `lifetimeMilliseconds` from now, while the token is the record's and it was not completed; `lost` when not, and
   * then nothing was changed. With a claim in a transaction it takes effect at COMMIT. Repeating it with the same claim, as after a lost
   * acknowledgement, answers `stored` again and changes nothing.
   */
  complete(claim: Claim, answer: StoredAnswer, lifetimeMilliseconds: number): 'stored' | 'lost' | Promise<'stored' | 'lost'>
  /**
   * Forgets the record, while the token is the record's and it was not completed, so that the next request with the key is a new one;
   * `lost` when not, and then nothing was changed. With a claim in a transaction it takes effect at COMMIT.
   */
  release(claim: Claim): Promise<'released' | 'lost'>
  /**
   * Resolves when the claim of the key may have ended, and at the latest when the signal aborts; never rejects. A hint: the caller asks by
   * `begin` again, and at intervals anyway. However many wait, they hold at most one connection together.
   */
  changed?(key: string, signal: AbortSignal): Promise<void>
  /** Deletes at most `maximum` records whose time is over, and answers how many. Left out where they leave by themselves. */
  sweep?(maximum: number): Promise<number>
  /** What about the store's set-up breaks a promise, one line each with what to do about it; asked once at boot. */
  check?(): Promise<readonly string[]>
  /** Ends what the store began itself, as timers and connections of its own. */
  close?(): Promise<void>
}
