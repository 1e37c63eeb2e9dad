import type { Revocation, RevocationStore } from './revocation-store.ts'

/** Stores revocations in the memory of one process, for tests and single-process services. */
export function memoryRevocationStore(now: () => number = () => Date.now()): RevocationStore {
  // In order of last change, which is nearly the order of `until`.
  const entries = new Map<string, { readonly revocation: Revocation; readonly number: number }>()
  const listeners = new Set<() => void>()
  let number = 0

  return {
    async revoke({ kind, id, issuedBefore = 0, until }) {
      for (const [key, { revocation }] of entries) {
        if (revocation.until > now()) break
        entries.delete(key)
      }
      const key = `${kind} ${id}`
      const before = entries.get(key)?.revocation
      const latest = Math.max(issuedBefore, before?.issuedBefore ?? 0)
      const revocation = { kind, id, ...(latest > 0 && { issuedBefore: latest }), until: Math.max(until, before?.until ?? 0) }
      number += 1
      entries.delete(key)
      entries.set(key, { revocation, number })
      for (const wake of listeners) wake()
    },
    async read(cursor = '0') {
      // A cursor that is not a number comes before everything.
      const known = Number(cursor) || 0
      const news = [...entries.values()].filter((entry) => entry.number > known && entry.revocation.until > now())
      return { revocations: news.map(({ revocation }) => revocation), cursor: String(number) }
    },
    async subscribe(wake) {
      // Wrapped, so that a listener that subscribes twice is called twice, and each subscription ends on its own.
      const listener = () => wake()
      listeners.add(listener)
      return async () => void listeners.delete(listener)
    }
  }
}
