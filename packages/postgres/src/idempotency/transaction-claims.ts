import type { BeginOutcome, Claim, ClaimTerms } from '@concordat/idempotency'
import type { FirstStatements } from '../unit-of-work/first-statements.ts'
import type { Unit } from '../unit-of-work/unit.ts'
import { busy, outcomeOf, readUntilKnown } from './record.ts'
import type { Statements } from './statements.ts'

/** A key to claim. */
export interface ClaimInput {
  readonly key: string
  readonly fingerprint: string
  readonly terms: ClaimTerms
}

/** A claim of an open transaction. */
export interface Held {
  readonly unit: Unit
  readonly fingerprint: string
  /** The fencing token. It changes when the transaction is restarted. */
  token: number
  /** What the client had stored when it claimed the key. */
  clientBytes: number
  /** Whether the key has no record yet, and is only locked. The record is inserted with the response. */
  isNew: boolean
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

/** The try that runs for a key, and the one that follows it. */
interface Pending {
  now: PendingOutcome
  next: PendingOutcome | undefined
}

/** The claims of the open transactions of this process. */
export class TransactionClaims {
  // Objects: in Maps, all requests of the time would keep each other until the next full garbage collection (decision 121).
  readonly #holders: Record<string, Held> = Object.create(null)
  readonly #pending: Record<string, Pending> = Object.create(null)
  readonly #stored = new Set<string>()
  // The same keys, oldest first from `#next` on: to find the oldest in the Set, V8 passes all that were removed before.
  readonly #inOrder: string[] = []
  #next = 0
  readonly #statements: Statements
  readonly #onEnd: (key: string) => void

  /** @param onEnd called when a transaction that owned the key has ended, whether committed or rolled back */
  constructor(statements: Statements, onEnd: (key: string) => void) {
    this.#statements = statements
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
  begin(unit: Unit, input: ClaimInput): PendingOutcome {
    const tryClaim = () => this.#try(unit, input)
    // A request that waits for the outer transaction must not block a request inside it.
    if (unit.session.isPart) return tryClaim()
    const group = `${input.key} ${input.fingerprint} ${input.terms.takesOver}`
    const pending = this.#pending[group]
    if (pending?.next !== undefined) {
      return pending.next.then(
        (shared) => (shared.state === 'claimed' ? busy : shared),
        () => this.begin(unit, input)
      )
    }
    if (pending !== undefined) {
      pending.next = pending.now.then(tryClaim, tryClaim)
      return pending.next
    }
    const first: Pending = { now: tryClaim(), next: undefined }
    this.#pending[group] = first
    this.#awaitEnd(group, first)
    return first.now
  }

  #awaitEnd(group: string, pending: Pending) {
    const ended = () => {
      const { next } = pending
      if (next === undefined) delete this.#pending[group]
      else this.#awaitEnd(group, Object.assign(pending, { now: next, next: undefined }))
    }
    pending.now.then(ended, ended)
  }

  #try(unit: Unit, input: ClaimInput): PendingOutcome {
    const beside = this.outcomeBeside(input)
    return beside === undefined ? readUntilKnown(() => this.#claim(unit, input)) : Promise.resolve(beside)
  }

  #claim(unit: Unit, { key, fingerprint, terms }: ClaimInput): Promise<BeginOutcome | undefined> {
    const held: Held = { unit, fingerprint, token: 0, clientBytes: 0, isNew: false, isSettled: false }
    let outcome: BeginOutcome | undefined
    const accept = (isNew: boolean) => {
      if (terms.signal?.aborted && outcome?.state === 'claimed') outcome = busy
      if (outcome?.state !== 'claimed') return false
      const { claim, clientBytes } = outcome
      Object.assign(held, { token: claim.token, clientBytes, isNew })
      return true
    }
    const first: FirstStatements = {
      statements: this.#statements.lockNew(key, fingerprint, terms),
      accept: ([lock, rows = []]) => {
        outcome = outcomeOf(rows, key, terms, lock?.[0]?.[0] === 't')
        if (outcome !== undefined) return accept(true)
        return {
          statements: [this.#statements.claim(key, fingerprint, terms)],
          accept: ([claimed = []]) => {
            outcome = outcomeOf(claimed, key, terms)
            return accept(false)
          }
        }
      }
    }
    return unit.session
      .beginWith(first)
      .then(() => (outcome?.state === 'claimed' ? { ...outcome, claim: this.#hold(outcome.claim, held) } : outcome))
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
