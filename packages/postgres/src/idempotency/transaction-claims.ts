import type { BeginOutcome, Claim, ClaimTerms } from '@concordat/idempotency'
import { parseRows } from '../postgres.ts'
import type { Unit } from '../unit-of-work/unit.ts'
import { busy, type Look, mostLooks, outcomeOf } from './record.ts'

/** What is to be claimed, and the statement that does it. */
export interface Wish {
  readonly key: string
  readonly fingerprint: string
  readonly terms: ClaimTerms
  readonly sql: string
}

/** A claim as its transaction has it. */
export interface Held {
  readonly unit: Unit
  /** Another one after the transaction was begun again. */
  token: number
}

interface OpenKey {
  readonly fingerprint: string
  readonly isClaimed: Promise<boolean>
}

/** The claims that are held by open transactions of this process. */
export class TransactionClaims {
  readonly #held = new WeakMap<Claim, Held>()
  // So that of many requests with one key, most are answered without the database.
  readonly #open = new Map<string, OpenKey>()
  readonly #onEnd: (key: string) => void

  /** @param onEnd is told when a transaction that held the key has ended, however it did */
  constructor(onEnd: (key: string) => void) {
    this.#onEnd = onEnd
  }

  of(claim: Claim): Held | undefined {
    return this.#held.get(claim)
  }

  /**
   * What a transaction of this process that holds the key, or is about to, makes of a request with it: `undefined` when it did not get
   * the key. Where there is none, says so at once, so that nobody comes in between.
   */
  outcomeBeside({ key, fingerprint }: Wish): Promise<BeginOutcome | undefined> | undefined {
    const other = this.#open.get(key)
    return other?.isClaimed.then((isClaimed) => {
      if (!isClaimed) return undefined
      return other.fingerprint === fingerprint ? busy : { state: 'mismatch' }
    })
  }

  async begin(unit: Unit, wish: Wish): Promise<BeginOutcome> {
    const { key, fingerprint } = wish
    const result = this.#claim(unit, wish)
    const open: OpenKey = {
      fingerprint,
      isClaimed: result.then(
        ({ state }) => state === 'claimed',
        () => false
      )
    }
    this.#open.set(key, open)
    const forget = () => {
      if (this.#open.get(key) === open) this.#open.delete(key)
    }
    try {
      const outcome = await result
      if (outcome.state !== 'claimed') forget()
      else
        unit.afterEnd(() => {
          forget()
          this.#onEnd(key)
        })
      return outcome
    } catch (error) {
      forget()
      throw error
    }
  }

  async #claim(unit: Unit, { key, terms, sql }: Wish): Promise<BeginOutcome> {
    for (let look = 0; look < mostLooks; look += 1) {
      const held: Held = { unit, token: 0 }
      let outcome: BeginOutcome | undefined
      await unit.beginWith({
        statements: [sql],
        accept([rows = []]) {
          const [found] = parseRows<Look>(rows)
          outcome = found && outcomeOf(key, found, terms)
          if (outcome?.state !== 'claimed') return false
          held.token = outcome.claim.token
          return true
        }
      })
      if (outcome?.state === 'claimed') this.#held.set(outcome.claim, held)
      if (outcome !== undefined) return outcome
    }
    return busy
  }
}
