import type { Claim, StoredResponse } from './store.ts'

/** The record of a key. */
export interface Entry {
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

// About what a record takes without its response.
const recordBytes = 500

// A sweep takes time in proportion to the number of keys, so a full store does not sweep for each request.
const sweepPauseMs = 1000

/** The records of a store in memory, and the size of the responses that it stores for each client. */
export class MemoryRecords {
  readonly #maxKeys: number
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(maxKeys: number, maxBytes: number) {
    this.#maxKeys = maxKeys
    this.#maxBytes = maxBytes
  }

  /** Returns the record of a key that has not expired. */
  living(key: string, time: number): Entry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.endsAt > time) return entry
    this.#forget(key, entry)
    return undefined
  }

  /** Returns the record that the claim still owns. */
  owned({ key, token }: Claim, time: number): Entry | undefined {
    const entry = this.living(key, time)
    return entry?.token === token ? entry : undefined
  }

  set(key: string, entry: Entry): void {
    this.#entries.set(key, entry)
  }

  /** Removes a record without a response. */
  delete(key: string): void {
    this.#entries.delete(key)
  }

  /** Throws an error when the store is full. */
  requireRoom(time: number): void {
    if (this.#hasRoom) return
    if (time - this.#sweptAt >= sweepPauseMs) {
      this.#sweptAt = time
      this.sweep(time, this.#entries.size)
    }
    if (!this.#hasRoom)
      throw new Error(`idempotency: the memory store is full (${this.#entries.size} keys, ${this.#bytes} bytes). Use a shared store.`)
  }

  get #hasRoom() {
    return this.#entries.size < this.#maxKeys && this.#bytes < this.#maxBytes
  }

  /** Returns whether the response can be stored with its body. */
  fits(response: StoredResponse): boolean {
    return this.#bytes + sizeOf(response) <= this.#maxBytes
  }

  bytesOf(client: string): number {
    return this.#bytesOf.get(client) ?? 0
  }

  /** Returns the milliseconds until a client can store more. It reads all records, but only for a client that is at its limit. */
  timeUntilRoom(client: string, maxClientBytes: number, time: number): number {
    let endsAt = Number.POSITIVE_INFINITY
    for (const [key, entry] of this.#entries) {
      if (entry.client === client && storedOf(this.living(key, time))) endsAt = Math.min(endsAt, entry.endsAt)
    }
    return this.bytesOf(client) >= maxClientBytes ? endsAt - time : 0
  }

  count(client: string, size: number): void {
    const sum = this.bytesOf(client) + size
    this.#bytes += size
    if (sum > 0) this.#bytesOf.set(client, sum)
    else this.#bytesOf.delete(client)
  }

  /** Removes at most this number of expired records. Returns how many it removed. */
  sweep(time: number, maximum: number): number {
    let swept = 0
    for (const [key, entry] of this.#entries) {
      if (swept >= maximum) break
      if (entry.endsAt > time) continue
      this.#forget(key, entry)
      swept += 1
    }
    return swept
  }

  #forget(key: string, entry: Entry) {
    this.#entries.delete(key)
    this.count(entry.client, -sizeOf(storedOf(entry)))
  }
}

function storedOf(entry: Entry | undefined) {
  return entry?.response ?? entry?.progress
}

/** Returns the size that is counted for a response, in bytes. */
export function sizeOf(stored: StoredResponse | undefined) {
  if (stored === undefined) return 0
  const { body, headers } = stored
  let size = recordBytes + (typeof body === 'string' ? body.length * 2 : (body?.byteLength ?? 0))
  for (const name in headers) size += 2 * (name.length + (headers[name]?.length ?? 0))
  return size
}
