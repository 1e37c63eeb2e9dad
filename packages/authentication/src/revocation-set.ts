import type { Revocation } from './revocation-store.ts'

/** The claims of a token by which it can be revoked; `iat` in seconds since the Unix epoch. */
export interface RevocableClaims {
  readonly jti?: string | undefined
  readonly sid?: string | undefined
  readonly sub: string
  readonly iat: number
}

interface Term {
  readonly issuedBefore: number
  readonly until: number
}

/** The revocations in effect. Bounded, because each is removed when the tokens that it revokes have expired. */
export class RevocationSet {
  readonly #terms = { token: new Map<string, Term>(), session: new Map<string, Term>(), subject: new Map<string, Term>() }
  #everything: Term | undefined

  /** Adds a revocation. Adding it again changes nothing; the later times win. */
  add({ kind, id, issuedBefore = 0, until }: Revocation): void {
    const before = kind === 'everything' ? this.#everything : this.#terms[kind].get(id)
    const term = { issuedBefore: Math.max(issuedBefore, before?.issuedBefore ?? 0), until: Math.max(until, before?.until ?? 0) }
    if (kind === 'everything') this.#everything = term
    else this.#terms[kind].set(id, term)
  }

  has({ jti, sid, sub, iat }: RevocableClaims): boolean {
    const { token, session, subject } = this.#terms
    if (jti !== undefined && token.has(jti)) return true
    if (sid !== undefined && session.has(sid)) return true
    const issuedBefore = Math.max(subject.get(sub)?.issuedBefore ?? 0, this.#everything?.issuedBefore ?? 0)
    return iat * 1000 < issuedBefore
  }

  /** Removes the revocations that have expired at `now`, in milliseconds since the Unix epoch. */
  forgetOver(now: number): void {
    for (const terms of Object.values(this.#terms)) {
      for (const [id, { until }] of terms) if (until <= now) terms.delete(id)
    }
    if (this.#everything && this.#everything.until <= now) this.#everything = undefined
  }
}
