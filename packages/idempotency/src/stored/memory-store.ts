import { describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import { type Entry, MemoryRecords, sizeOf } from './memory-records.ts'
import type { BeginOutcome, IdempotencyStore, StoredResponse } from './store.ts'

/** The description of {@link MemoryIdempotencyStoreOptions}. */
const memoryIdempotencyStoreOptions = describeOptions('idempotency', {
  /** The maximum number of keys that are stored. */
  maxKeys: integer({ default: 200_000, min: 1 }),
  /** The approximate maximum size of all stored responses. */
  maxBytes: integer({ default: 268_435_456, min: 1 })
})

/** Options of `memoryIdempotencyStore`. */
export interface MemoryIdempotencyStoreOptions extends OptionsOf<typeof memoryIdempotencyStoreOptions> {}

/**
 * Returns a store of claims and responses in the memory of this process, for tests and for development. When it is full, it refuses new
 * keys: a key that was deleted early would let its request run twice.
 */
export function memoryIdempotencyStore(options: MemoryIdempotencyStoreOptions = {}): IdempotencyStore {
  const { maxKeys, maxBytes } = memoryIdempotencyStoreOptions.read(options)
  const records = new MemoryRecords(maxKeys, maxBytes)
  // Tokens also increase across a restart.
  let lastToken = Date.now() * 1000

  return {
    guarantees: { shared: false, transactional: false },
    begin(key, fingerprint, { leaseMs, lifetimeMs, takesOver, client, maxClientBytes }): BeginOutcome {
      const time = performance.now()
      const entry = records.living(key, time)
      if (entry !== undefined && entry.fingerprint !== fingerprint) return { state: 'mismatch' }
      if (entry?.response !== undefined) return { state: 'done', response: entry.response }
      if (entry !== undefined && entry.leaseEndsAt > time) return { state: 'busy', leaseMs: entry.leaseEndsAt - time }
      if (entry !== undefined && !entry.isIdle && !takesOver) return { state: 'abandoned' }
      if (records.bytesOf(client) >= maxClientBytes) {
        const retryMs = records.timeUntilRoom(client, maxClientBytes, time)
        if (retryMs > 0) return { state: 'exceeded', retryMs }
      }
      if (entry === undefined) records.requireRoom(time)
      lastToken += 1
      const claim = { key, client, token: lastToken, attempt: entry === undefined || entry.isIdle ? 1 : entry.attempt + 1 }
      records.set(key, {
        fingerprint,
        client,
        token: claim.token,
        attempt: claim.attempt,
        leaseEndsAt: time + leaseMs,
        endsAt: time + lifetimeMs,
        response: undefined,
        progress: entry?.progress,
        isIdle: false,
        ended: entry?.isIdle ? undefined : entry?.ended
      })
      return { state: 'claimed', claim, progress: entry?.progress, clientBytes: records.bytesOf(client) }
    },
    async renew(claim, leaseMs) {
      const time = performance.now()
      const entry = records.owned(claim, time)
      if (entry === undefined || entry.response !== undefined || entry.isIdle) return false
      entry.leaseEndsAt = time + leaseMs
      return true
    },
    complete(claim, response, lifetimeMs) {
      const time = performance.now()
      const entry = records.owned(claim, time)
      if (entry === undefined) return 'lost'
      if (entry.response !== undefined || entry.isIdle) return 'stored'
      const stored = records.fits(response) ? response : { ...response, body: null, isProgress: false }
      records.count(entry.client, sizeOf(stored) - sizeOf(entry.progress))
      if (stored.isProgress) rest(entry, stored)
      else Object.assign(entry, { response: stored, progress: undefined })
      entry.endsAt = time + lifetimeMs
      entry.ended?.resolve()
      return 'stored'
    },
    async release(claim) {
      const entry = records.owned(claim, performance.now())
      if (entry === undefined || entry.response !== undefined || entry.isIdle) return 'lost'
      if (entry.progress === undefined) records.delete(claim.key)
      else rest(entry, entry.progress)
      entry.ended?.resolve()
      return 'released'
    },
    async changed(key, signal) {
      const entry = records.living(key, performance.now())
      if (entry === undefined || entry.response !== undefined || entry.isIdle || signal.aborted) return
      entry.ended ??= Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => left.resolve(), { once: true })
      await Promise.race([entry.ended.promise, left.promise])
    },
    sweep: async (maximum) => records.sweep(performance.now(), maximum)
  }
}

/** Ends the claim of a record with a progress. */
function rest(entry: Entry, progress: StoredResponse) {
  Object.assign(entry, { progress, isIdle: true, leaseEndsAt: Number.NEGATIVE_INFINITY })
}
