import type { BeginOutcome, Claim, ClaimTerms } from '@concordat/idempotency'
import { parseRows } from '../connections/postgres.ts'
import type { Unit } from '../unit-of-work/unit.ts'
import { busy, outcomeOf, type ReadRecord, readUntilKnown } from './record.ts'

/** A key to claim, and the statement that claims it. */
export interface ClaimInput {
  readonly key: string
  readonly fingerprint: string
  readonly terms: ClaimTerms
  readonly sql: string
}

/** A claim of an open transaction. */
export interface Held {
  readonly unit: Unit
  readonly fingerprint: string
  /** The fencing token. It changes when the transaction is restarted. */
  token: number
  /** Whether the response was stored or the key was released. */
  isSettled: boolean
}

/** A claim of an open transaction. A `WeakMap` to what it stands for would keep the whole request for the next full garbage collection. */
class HeldClaim implements Claim {
  readonly key: string
  readonly client: string
  readonly token: number
  readonly attempt: number
  readonly #held: Held

  constructor({ key, client, token, attempt }: Claim, held: Held) {
    this.key = key
    this.client = client
    this.token = token
    this.attempt = attempt
    this.#held = held
  }

  static heldBy(claim: Claim): Held | undefined {
    return #held in claim ? claim.#held : undefined
  }
}

// Enough for retries, which follow soon. About 1 MB.
const maxStoredKeys = 10_000

type PendingOutcome = Promise<BeginOutcome>

/** The claims of the open transactions of this process. */
export class TransactionClaims {
  // Objects: in Maps, all requests of the time would keep each other until the next full garbage collection (decision 121).
  readonly #holders: Record<string, Held> = Object.create(null)
  readonly #pending: Record<string, { now: PendingOutcome; next: PendingOutcome | undefined }> = Object.create(null)
  readonly #stored = new Set<string>()
  // The same keys, oldest first from `#next` on: to find the oldest in the Set, V8 passes all that were removed before.
  readonly #inOrder: string[] = []
  #next = 0
  readonly #onEnd: (key: string) => void

  /** @param onEnd called when a transaction that owned the key has ended, whether committed or rolled back */
  constructor(onEnd: (key: string) => void) {
    this.#onEnd = onEnd
  }

  of(claim: Claim): Held | undefined {
    return HeldClaim.heldBy(claim)
  }

  /** Whether a transaction of this process may have stored a response for this key. */
  hasStored(key: string): boolean {
    return this.#stored.has(key)
  }

  /** Returns the outcome for a request whose key is owned by a transaction of this process, or undefined if none owns it. */
  outcomeBeside({ key, fingerprint }: ClaimInput): BeginOutcome | undefined {
    const holder = this.#holders[key]
    return holder && (holder.fingerprint === fingerprint ? busy : { state: 'mismatch' })
  }

  /**
   * Claims the key in the transaction. Of many requests with one key, one tries at a time, and all that arrive meanwhile share the next try. So they
   * use one connection, and not all connections of the pool.
   */
  async begin(unit: Unit, input: ClaimInput): Promise<BeginOutcome> {
    const tryClaim = async () => this.outcomeBeside(input) ?? (await this.#claim(unit, input))
    // A request that waits for the outer transaction must not block a request inside it.
    if (unit.session.isPart) return tryClaim()
    const group = `${input.key} ${input.fingerprint} ${input.terms.takesOver}`
    const pending = this.#pending[group]
    if (pending?.next !== undefined) {
      const shared = await pending.next.catch(() => undefined)
      if (shared === undefined) return this.begin(unit, input)
      return shared.state === 'claimed' ? busy : shared
    }
    if (pending !== undefined) {
      pending.next = pending.now.then(tryClaim, tryClaim)
      return pending.next
    }
    const first = { now: tryClaim(), next: undefined as PendingOutcome | undefined }
    this.#pending[group] = first
    void this.#runNext(group, first)
    return first.now
  }

  async #runNext(group: string, pending: { now: PendingOutcome; next: PendingOutcome | undefined }) {
    for (;;) {
      await pending.now.catch(() => {})
      if (pending.next === undefined) break
      pending.now = pending.next
      pending.next = undefined
    }
    delete this.#pending[group]
  }

  #claim(unit: Unit, input: ClaimInput): Promise<BeginOutcome> {
    const { key, fingerprint, terms, sql } = input
    return readUntilKnown(async () => {
      const held: Held = { unit, fingerprint, token: 0, isSettled: false }
      let outcome: BeginOutcome | undefined
      await unit.session.beginWith({
        statements: [sql],
        accept([rows = []]) {
          const [found] = parseRows<ReadRecord>(rows)
          outcome = found && outcomeOf(key, found, terms)
          if (terms.signal?.aborted && outcome?.state === 'claimed') outcome = busy
          if (outcome?.state !== 'claimed') return false
          held.token = outcome.claim.token
          return true
        }
      })
      return outcome?.state === 'claimed' ? { ...outcome, claim: this.#hold(outcome.claim, held) } : outcome
    })
  }

  #hold(claim: Claim, held: Held) {
    held.unit.afterEnd(() => {
      delete this.#holders[claim.key]
      if (held.isSettled && !held.unit.session.isRolledBack) this.#remember(claim.key)
      this.#onEnd(claim.key)
    })
    this.#holders[claim.key] = held
    return new HeldClaim(claim, held)
  }

  #remember(key: string) {
    this.#stored.delete(this.#inOrder[this.#next] as string)
    this.#stored.add(key)
    this.#inOrder[this.#next] = key
    this.#next = (this.#next + 1) % maxStoredKeys
  }
}
