import { callback, describeOptions, integer, type OptionsOf } from '@concordat/plugin-kit/options'
import type { BeginOutcome, Claim, IdempotencyStore, StoredResponse } from './store.ts'

/** The description of {@link MemoryIdempotencyStoreOptions}. */
const memoryIdempotencyStoreOptions = describeOptions('idempotency', {
  /** The maximum number of keys that are stored. */
  maxKeys: integer({ default: 200_000, min: 1 }),
  /** The approximate maximum size of all stored responses. */
  maxBytes: integer({ default: 268_435_456, min: 1 }),
  /** Returns the time of a monotonic clock in milliseconds. By default `performance.now`. */
  now: callback<() => number>('returns milliseconds', { default: () => performance.now() })
})

/** Options of `memoryIdempotencyStore`. */
export interface MemoryIdempotencyStoreOptions extends OptionsOf<typeof memoryIdempotencyStoreOptions> {}

interface Entry {
  readonly fingerprint: string
  readonly client: string
  token: number
  attempt: number
  leaseEndsAt: number
  endsAt: number
  response: StoredResponse | undefined
  progress: StoredResponse | undefined
  /** Whether the last owner stored a progress, and no other has claimed the key since. */
  isIdle: boolean
  /** Resolves when the claim ends. Made when a retry waits. */
  ended: PromiseWithResolvers<void> | undefined
}

// What a record counts at least.
const minBytes = 1024

// A sweep takes time in proportion to the number of keys, so a full store does not sweep for each request.
const sweepPauseMs = 1000

/**
 * Returns a store of claims and responses in the memory of this process, for tests and for development. When it is full, it refuses new
 * keys: a key that was deleted early would let its request run twice.
 */
export function memoryIdempotencyStore(options: MemoryIdempotencyStoreOptions = {}): IdempotencyStore {
  const { maxKeys, maxBytes, now } = memoryIdempotencyStoreOptions.read(options)
  const entries = new Map<string, Entry>()
  // Tokens also increase across a restart.
  let lastToken = Date.now() * 1000
  let bytes = 0
  const bytesOf = new Map<string, number>()
  let sweptAt = Number.NEGATIVE_INFINITY

  return {
    guarantees: { shared: false, transactional: false },
    begin(key, fingerprint, { leaseMs, lifetimeMs, takesOver, client, maxClientBytes }): BeginOutcome {
      const time = now()
      const entry = living(key, time)
      if (entry !== undefined && entry.fingerprint !== fingerprint) return { state: 'mismatch' }
      if (entry?.response !== undefined) return { state: 'done', response: entry.response }
      if (entry !== undefined && entry.leaseEndsAt > time) return { state: 'busy', leaseMs: entry.leaseEndsAt - time }
      if (entry !== undefined && !entry.isIdle && !takesOver) return { state: 'abandoned' }
      if (bytesStoredFor(client) >= maxClientBytes) {
        const retryMs = timeUntilRoom(client, maxClientBytes, time)
        if (retryMs > 0) return { state: 'exceeded', retryMs }
      }
      if (entry === undefined) requireRoom(time)
      lastToken += 1
      const claim = { key, client, token: lastToken, attempt: entry === undefined || entry.isIdle ? 1 : entry.attempt + 1 }
      entries.set(key, {
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
      return { state: 'claimed', claim, progress: entry?.progress, clientBytes: bytesStoredFor(client) }
    },
    async renew(claim, leaseMs) {
      const time = now()
      const entry = owned(claim, time)
      if (entry === undefined || entry.response !== undefined || entry.isIdle) return false
      entry.leaseEndsAt = time + leaseMs
      return true
    },
    complete(claim, response, lifetimeMs) {
      const time = now()
      const entry = owned(claim, time)
      if (entry === undefined) return 'lost'
      if (entry.response !== undefined || entry.isIdle) return 'stored'
      const stored = bytes + sizeOf(response) <= maxBytes ? response : { ...response, body: null, isProgress: false }
      count(entry.client, sizeOf(stored) - sizeOf(entry.progress))
      if (stored.isProgress) rest(entry, stored)
      else Object.assign(entry, { response: stored, progress: undefined })
      entry.endsAt = time + lifetimeMs
      entry.ended?.resolve()
      return 'stored'
    },
    async release(claim) {
      const entry = owned(claim, now())
      if (entry === undefined || entry.response !== undefined || entry.isIdle) return 'lost'
      if (entry.progress === undefined) entries.delete(claim.key)
      else rest(entry, entry.progress)
      entry.ended?.resolve()
      return 'released'
    },
    async changed(key, signal) {
      const entry = living(key, now())
      if (entry === undefined || entry.response !== undefined || entry.isIdle || signal.aborted) return
      entry.ended ??= Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => left.resolve(), { once: true })
      await Promise.race([entry.ended.promise, left.promise])
    },
    async sweep(maximum) {
      return sweep(now(), maximum)
    }
  }

  function living(key: string, time: number) {
    const entry = entries.get(key)
    if (entry === undefined || entry.endsAt > time) return entry
    forget(key, entry)
    return undefined
  }

  function owned({ key, token }: Claim, time: number) {
    const entry = living(key, time)
    return entry?.token === token ? entry : undefined
  }

  function requireRoom(time: number) {
    if (hasRoom()) return
    if (time - sweptAt >= sweepPauseMs) {
      sweptAt = time
      sweep(time, entries.size)
    }
    if (!hasRoom()) throw new Error(`idempotency: the memory store is full (${entries.size} keys, ${bytes} bytes). Use a shared store.`)
  }

  // It reads all records, but only for a client that is at its limit.
  function timeUntilRoom(client: string, maxClientBytes: number, time: number) {
    let endsAt = Number.POSITIVE_INFINITY
    for (const [key, entry] of entries) {
      if (entry.client === client && storedOf(living(key, time))) endsAt = Math.min(endsAt, entry.endsAt)
    }
    return bytesStoredFor(client) >= maxClientBytes ? endsAt - time : 0
  }

  function bytesStoredFor(client: string) {
    return bytesOf.get(client) ?? 0
  }

  function count(client: string, size: number) {
    const sum = bytesStoredFor(client) + size
    bytes += size
    if (sum > 0) bytesOf.set(client, sum)
    else bytesOf.delete(client)
  }

  function hasRoom() {
    return entries.size < maxKeys && bytes < maxBytes
  }

  function sweep(time: number, maximum: number) {
    let swept = 0
    for (const [key, entry] of entries) {
      if (swept >= maximum) break
      if (entry.endsAt > time) continue
      forget(key, entry)
      swept += 1
    }
    return swept
  }

  function forget(key: string, entry: Entry) {
    entries.delete(key)
    count(entry.client, -sizeOf(storedOf(entry)))
  }
}

/** Ends the claim of a record with a progress. */
function rest(entry: Entry, progress: StoredResponse) {
  Object.assign(entry, { progress, isIdle: true, leaseEndsAt: Number.NEGATIVE_INFINITY })
}

function storedOf(entry: Entry | undefined) {
  return entry?.response ?? entry?.progress
}

function sizeOf(stored: StoredResponse | undefined) {
  if (stored === undefined) return 0
  const { body, headers } = stored
  let size = 100 + (typeof body === 'string' ? body.length * 2 : (body?.byteLength ?? 0))
  for (const name in headers) size += 2 * (name.length + (headers[name]?.length ?? 0))
  return Math.max(size, minBytes)
}
