import { performance } from 'node:perf_hooks'
import { withDeadline } from '@concordat/plugin-kit/deadline'
import { RevocationSet } from './revocation-set.ts'
import type { RevocationStore } from './revocation-store.ts'

interface ReaderSettings {
  readonly store: RevocationStore
  readonly pollMs: number
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
  /** Called when a read that timed out has settled, and the store can be read again. */
  readonly onAvailable: () => void
}

/** Reads the revocations of a store into the memory of this process: each time those that are new. */
export class RevocationReader {
  readonly known = new RevocationSet()
  readonly #settings: ReaderSettings
  #cursor: string | undefined
  #completeAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #readsAgain = false
  // A read that timed out. Before it settles, further reads would only keep the client from noticing that its connection is idle.
  #pending: Promise<unknown> | undefined
  #isFailing = false
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(settings: ReaderSettings) {
    this.#settings = settings
  }

  get staleMs(): number {
    return performance.now() - this.#completeAt
  }

  get isFailing(): boolean {
    return this.#isFailing
  }

  /** Whether the last read failed, and did not time out. */
  get isRefused(): boolean {
    return this.#isFailing && this.#pending === undefined
  }

  /** The read in progress. */
  get reading(): Promise<void> | undefined {
    return this.#reading
  }

  /** Reads what is new. Never rejects. One read at a time; a notification during a read causes another read. */
  catchUp(): Promise<void> {
    if (this.#reading) this.#readsAgain = true
    this.#reading ??= (async () => {
      do {
        this.#readsAgain = false
        await this.#read().catch((error: unknown) => this.#readFailed(error))
      } while (this.#readsAgain)
      this.#reading = undefined
    })()
    return this.#reading
  }

  async #read() {
    const { store, timeoutMs, onAvailable } = this.#settings
    const startedAt = performance.now()
    const work = store.read(this.#cursor)
    const page = await inTime(work, timeoutMs).catch((error: unknown) => {
      this.#pending = work
      const settled = () => {
        if (this.#pending !== work) return
        this.#pending = undefined
        if (this.#isFailing) onAvailable()
      }
      // A read that rejected has settled already.
      work.then(settled, settled)
      throw error
    })
    for (const revocation of page.revocations) this.known.add(revocation)
    this.#cursor = page.cursor
    // The page may lack revocations that were added while the store was reading.
    this.#completeAt = startedAt
    this.#isFailing = false
    this.#pending = undefined
  }

  #readFailed(error: unknown) {
    this.#isFailing = true
    const now = performance.now()
    if (now - this.#reportedAt < this.#settings.pollMs) return
    this.#reportedAt = now
    this.#settings.onError(error)
  }
}

/** Rejects when the store does not respond in time. */
export function inTime<Result>(work: Promise<Result>, timeoutMs: number, onLateResult?: (result: Result) => void): Promise<Result> {
  const onTimeout = () => new Error(`The revocation store timed out after ${timeoutMs / 1000} s.`)
  return withDeadline(work, { ms: timeoutMs, onTimeout, onLateResult })
}
