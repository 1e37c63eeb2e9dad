import type { BeginOutcome, Claim, IdempotencyStore, StoredAnswer } from './store.ts'

/** Options of `memoryStore`: its capacity and its clock. */
export interface MemoryStoreOptions {
  /** How many keys are stored at most. @default 100000 */
  readonly maximumKeys?: number | undefined
  /** How many bytes the stored responses may take together, approximately. @default 67108864 */
  readonly maximumBytes?: number | undefined
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: (() => number) | undefined
}

interface Entry {
  readonly fingerprint: string
  token: number
  attempt: number
  leaseEndsAt: number
  endsAt: number
  answer: StoredAnswer | undefined
}

// A sweep takes time in proportion to the number of keys, so a full store does not sweep for each request.
const sweepPauseMilliseconds = 1000

/**
 * Returns a store that holds claims and responses in the memory of this process, for tests and for development. When it is full, it
 * refuses new keys: a key that was deleted early would let its request run twice.
 */
export function memoryStore(options: MemoryStoreOptions = {}): IdempotencyStore {
  const { maximumKeys = 100_000, maximumBytes = 64 * 1024 * 1024, now = () => performance.now() } = options
  const entries = new Map<string, Entry>()
  const waiting = new Map<string, Set<() => void>>()
  // Tokens also increase across a restart.
  let lastToken = Date.now() * 1000
  let bytes = 0
  let sweptAt = Number.NEGATIVE_INFINITY

  return {
    guarantees: { durable: false, shared: false, transactional: false },
    begin(key, fingerprint, { leaseMilliseconds, lifetimeMilliseconds, takesOver }): BeginOutcome {
      const time = now()
      const entry = living(key, time)
      if (entry !== undefined && entry.fingerprint !== fingerprint) return { state: 'mismatch' }
      if (entry?.answer !== undefined) return { state: 'done', answer: entry.answer }
      if (entry !== undefined && entry.leaseEndsAt > time) return { state: 'busy', leaseMilliseconds: entry.leaseEndsAt - time }
      if (entry !== undefined && !takesOver) return { state: 'abandoned' }
      if (entry === undefined) requireRoom(time)
      lastToken += 1
      const claim = { key, token: lastToken, attempt: (entry?.attempt ?? 0) + 1 }
      entries.set(key, {
        fingerprint,
        token: claim.token,
        attempt: claim.attempt,
        leaseEndsAt: time + leaseMilliseconds,
        endsAt: time + lifetimeMilliseconds,
        answer: undefined
      })
      return { state: 'claimed', claim }
    },
    async renew(claim, leaseMilliseconds) {
      const time = now()
      const entry = owned(claim, time)
      if (entry === undefined || entry.answer !== undefined) return false
      entry.leaseEndsAt = time + leaseMilliseconds
      return true
    },
    complete(claim, answer, lifetimeMilliseconds) {
      const time = now()
      const entry = owned(claim, time)
      if (entry === undefined) return 'lost'
      if (entry.answer !== undefined) return 'stored'
      const size = sizeOf(answer)
      const fits = bytes + size <= maximumBytes
      entry.answer = fits ? answer : { ...answer, body: null }
      entry.endsAt = time + lifetimeMilliseconds
      bytes += fits ? size : sizeOf(entry.answer)
      wake(claim.key)
      return 'stored'
    },
    async release(claim) {
      const entry = owned(claim, now())
      if (entry === undefined || entry.answer !== undefined) return 'lost'
      entries.delete(claim.key)
      wake(claim.key)
      return 'released'
    },
    async changed(key, signal) {
      const entry = living(key, now())
      if (entry !== undefined && entry.answer === undefined) await end(key, signal)
    },
    async sweep(maximum) {
      return sweep(now(), maximum)
    }
  }

  // An EventEmitter is not used because it would retain the name of each event.
  async function end(key: string, signal: AbortSignal) {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const woken = waiting.get(key) ?? new Set()
    waiting.set(key, woken.add(resolve))
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    woken.delete(resolve)
    if (woken.size === 0 && waiting.get(key) === woken) waiting.delete(key)
  }

  function wake(key: string) {
    for (const resolve of waiting.get(key) ?? []) resolve()
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
    if (time - sweptAt >= sweepPauseMilliseconds) {
      sweptAt = time
      sweep(time, entries.size)
    }
    if (!hasRoom()) throw new Error(`idempotency: the memory store is full: ${entries.size} keys, ${bytes} bytes. Use a shared store.`)
  }

  function hasRoom() {
    return entries.size < maximumKeys && bytes < maximumBytes
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

  function forget(key: string, { answer }: Entry) {
    entries.delete(key)
    if (answer !== undefined) bytes -= sizeOf(answer)
  }
}

function sizeOf({ body, headers }: StoredAnswer) {
  let size = 100 + (typeof body === 'string' ? body.length * 2 : (body?.byteLength ?? 0))
  for (const name in headers) size += 2 * (name.length + (headers[name]?.length ?? 0))
  return size
}
