import type { Claims } from './claims.ts'
import type { Revocation } from './revocation-store.ts'

/** The claims of a token by which it can be revoked. */
export type RevocableClaims = Pick<Claims, 'jti' | 'sid' | 'sub' | 'iat'>

type Terms = Map<string, { readonly issuedBefore: number; readonly until: number }>

/** The revocations in effect. Bounded, because each is removed when the tokens that it revokes have expired. */
export class RevocationSet {
  readonly #terms: Readonly<Record<Revocation['kind'], Terms>> = {
    token: new Map(),
    session: new Map(),
    subject: new Map(),
    everything: new Map()
  }

  /** Adds a revocation. Adding it again changes nothing; the later times win. */
  add({ kind, id: given, issuedBefore = 0, until }: Revocation): void {
    const id = kind === 'everything' ? '' : given
    const before = this.#terms[kind].get(id)
    const latest = Math.max(issuedBefore, before?.issuedBefore ?? 0)
    this.#terms[kind].set(id, { issuedBefore: latest, until: Math.max(until, before?.until ?? 0) })
  }

  has({ jti, sid, sub, iat }: RevocableClaims): boolean {
    const { token, session, subject, everything } = this.#terms
    if (jti !== undefined && token.has(jti)) return true
    if (sid !== undefined && session.has(sid)) return true
    return iat * 1000 < Math.max(subject.get(sub)?.issuedBefore ?? 0, everything.get('')?.issuedBefore ?? 0)
  }

  /** Removes the revocations that have expired at `now`, in milliseconds since the Unix epoch. */
  forgetOver(now: number): void {
    for (const terms of Object.values(this.#terms)) {
      for (const [id, { until }] of terms) if (until <= now) terms.delete(id)
    }
  }
}
