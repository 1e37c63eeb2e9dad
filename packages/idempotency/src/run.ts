import { hash } from 'node:crypto'
import type { RoutePolicy } from './route-policy.ts'
import type { Claim } from './store.ts'

/** What a handler can know and do about the key of its request. */
export interface RequestIdempotency {
  /** The key as the client sent it, without quotes. */
  readonly key: string
  /** 1, or more when a process before this one was lost while it ran the request: something of it may have happened already. */
  readonly attempt: number
  /**
   * A number that grows with each owner of the key. A database that remembers the highest one it saw can refuse the writes of an owner that
   * was thought to be lost and comes back.
   */
  readonly token: number
  /** Aborts when the claim is lost, or can't be renewed any more: from then on another may run the request. */
  readonly signal: AbortSignal
  /** A key for a call to another service, 43 characters, the same at each attempt. One label a call. */
  derivedKey(label: string): string
  /** Leaves the key free: the answer is sent and not stored, and a retry runs the handler. For what did not happen at all. */
  release(): void
}

/** A handler that runs under a claim. */
export class Run implements RequestIdempotency {
  readonly key: string
  readonly claim: Claim
  readonly fingerprint: string
  readonly policy: RoutePolicy
  isReleased = false
  /** Its answer was judged; what is sent after it is none of its. */
  isSettled = false
  /** Another has the claim, or nobody. */
  isLost = false
  readonly isInTransaction: boolean
  /** Among those that the heartbeat holds; -1: it does not. */
  place = -1
  #abortion: AbortController | undefined

  constructor(key: string, claim: Claim, fingerprint: string, policy: RoutePolicy, isInTransaction: boolean) {
    this.key = key
    this.claim = claim
    this.fingerprint = fingerprint
    this.policy = policy
    this.isInTransaction = isInTransaction
  }

  get attempt(): number {
    return this.claim.attempt
  }

  get token(): number {
    return this.claim.token
  }

  get signal(): AbortSignal {
    this.#abortion ??= new AbortController()
    return this.#abortion.signal
  }

  derivedKey(label: string): string {
    return hash('sha256', `${this.claim.key} ${label}`, 'base64url')
  }

  release(): void {
    this.isReleased = true
  }

  /** Its claim is lost, or can't be renewed any more. */
  abort(): void {
    // A handler that asks for it later finds it aborted.
    this.#abortion ??= new AbortController()
    this.#abortion.abort(new Error('idempotency: the claim of this request was lost, so another may run it now.'))
  }
}
