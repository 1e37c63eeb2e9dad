import type { Postgres } from '../connections/postgres.ts'

// The keys of this time are announced together: a statement for each would take a sixth of the time of an order. A retry that waits in another process
// waits so much longer.
const noticeMs = 20
// The payload of a notification has at most 8,000 bytes. A key and a comma take 44.
const keysPerNotice = 180

/** Wakes the requests that wait for a change of an idempotency key, in this process and in others. All of a process share one connection. */
export class Waiters {
  readonly #database: Postgres
  readonly #channel: string
  readonly #waiting = new Map<string, Set<() => void>>()
  #line: Promise<(() => Promise<void>) | undefined> | undefined
  readonly #news: string[] = []
  #timer: NodeJS.Timeout | undefined
  #notifying: Promise<void> | undefined

  constructor(database: Postgres, channel: string) {
    this.#database = database
    this.#channel = channel
  }

  /** Resolves when the key has changed, or when the signal aborts. */
  wait(key: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    if (!this.#database.isEmbedded) this.#line ??= this.#listen()
    const waiting = this.#waiting.get(key) ?? new Set()
    this.#waiting.set(key, waiting)
    return new Promise((resolve) => {
      const end = () => {
        waiting.delete(end)
        if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key)
        signal.removeEventListener('abort', end)
        resolve()
      }
      waiting.add(end)
      signal.addEventListener('abort', end)
    })
  }

  /**
   * Announces a change of the key. Other processes are notified by a statement of its own, because a NOTIFY in a transaction that writes makes all
   * commits of the database wait for each other.
   */
  notify(key: string): void {
    this.#wake(key)
    if (this.#database.isEmbedded) return
    this.#news.push(key)
    this.#timer ??= setTimeout(() => {
      this.#notifying = this.#notifyOthers()
    }, noticeMs)
  }

  async close(): Promise<void> {
    for (const key of this.#waiting.keys()) this.#wake(key)
    await this.#notifying
    if (this.#timer !== undefined) await this.#notifyOthers()
    const end = await this.#line
    await end?.()
  }

  #wake(key: string) {
    for (const end of this.#waiting.get(key) ?? []) end()
  }

  async #notifyOthers() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#news.length > 0) {
      const keys = this.#news.splice(0, keysPerNotice)
      // The notification is only a hint: a waiter that misses it polls the record.
      await this.#database.query('SELECT pg_notify($1, $2)', [this.#channel, keys.join()]).catch(() => {})
    }
  }

  #listen() {
    const onMessage = (keys: string) => {
      for (const key of keys.split(',')) this.#wake(key)
    }
    const onLost = () => {
      this.#line = undefined
    }
    return this.#database.listen(this.#channel, { onMessage, onLost }).catch(() => {
      onLost()
      return undefined
    })
  }
}
