import type { BeginOutcome, Claim, ClaimTerms } from '@concordat/idempotency'
import { parseRows } from '../postgres.ts'
import type { Unit } from '../unit-of-work/unit.ts'
import { busy, type Look, lookUntilKnown, outcomeOf } from './record.ts'

/** A key to claim, and the statement that claims it. */
export interface Wish {
  readonly key: string
  readonly fingerprint: string
  readonly terms: ClaimTerms
  readonly sql: string
  /** Whether the caller has timed out and no longer waits for the claim. */
  isGivenUp: boolean
}

/** A claim of an open transaction. */
export interface Held {
  readonly unit: Unit
  readonly fingerprint: string
  /** The fencing token. It changes when the transaction is restarted. */
  token: number
}

type Looking = Promise<BeginOutcome>

/** The claims of the open transactions of this process. */
export class TransactionClaims {
  readonly #held = new WeakMap<Claim, Held>()
  readonly #holders = new Map<string, Held>()
  readonly #looking = new Map<string, { now: Looking; next: Looking | undefined }>()
  readonly #onEnd: (key: string) => void

  /** @param onEnd called when a transaction that owned the key has ended, whether committed or rolled back */
  constructor(onEnd: (key: string) => void) {
    this.#onEnd = onEnd
  }

  of(claim: Claim): Held | undefined {
    return this.#held.get(claim)
  }

  /** Returns the outcome for a request whose key is owned by a transaction of this process, or undefined if none owns it. */
  outcomeBeside({ key, fingerprint }: Wish): BeginOutcome | undefined {
    const holder = this.#holders.get(key)
    return holder && (holder.fingerprint === fingerprint ? busy : { state: 'mismatch' })
  }

  /**
   * Claims the key in the transaction. Of many requests with one key, one tries at a time. All that arrive meanwhile share the next try,
   * which starts after they arrived. They therefore use one connection, and not all connections of the pool.
   */
  async begin(unit: Unit, wish: Wish): Promise<BeginOutcome> {
    const look = async () => this.outcomeBeside(wish) ?? (await this.#claim(unit, wish))
    // A request that waits for the outer transaction must not block a request inside it.
    if (unit.isPart) return look()
    const group = `${wish.key} ${wish.fingerprint} ${wish.terms.takesOver}`
    const looking = this.#looking.get(group)
    if (looking?.next !== undefined) {
      const shared = await looking.next.catch(() => undefined)
      if (shared === undefined) return this.begin(unit, wish)
      return shared.state === 'claimed' ? busy : shared
    }
    if (looking !== undefined) {
      looking.next = looking.now.then(look, look)
      return looking.next
    }
    const first = { now: look(), next: undefined as Looking | undefined }
    this.#looking.set(group, first)
    void this.#lookOn(group, first)
    return first.now
  }

  async #lookOn(group: string, looking: { now: Looking; next: Looking | undefined }) {
    for (;;) {
      await looking.now.catch(() => {})
      if (looking.next === undefined) break
      looking.now = looking.next
      looking.next = undefined
    }
    this.#looking.delete(group)
  }

  #claim(unit: Unit, wish: Wish): Promise<BeginOutcome> {
    const { key, fingerprint, terms, sql } = wish
    return lookUntilKnown(async () => {
      const held: Held = { unit, fingerprint, token: 0 }
      let outcome: BeginOutcome | undefined
      await unit.beginWith({
        statements: [sql],
        accept([rows = []]) {
          const [found] = parseRows<Look>(rows)
          outcome = found && outcomeOf(key, found, terms)
          if (wish.isGivenUp && outcome?.state === 'claimed') outcome = busy
          if (outcome?.state !== 'claimed') return false
          held.token = outcome.claim.token
          return true
        }
      })
      if (outcome?.state === 'claimed') this.#hold(outcome.claim, held)
      return outcome
    })
  }

  #hold(claim: Claim, held: Held) {
    held.unit.afterEnd(() => {
      this.#holders.delete(claim.key)
      this.#onEnd(claim.key)
    })
    this.#held.set(claim, held)
    this.#holders.set(claim.key, held)
  }
}
