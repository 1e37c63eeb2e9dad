import { randomUUID } from 'node:crypto'
import { waitAtMost } from '@concordat/plugin-kit/deadline'
import type { Clock, QueueSettings, WorkOptions } from './options.ts'
import { type Handler, type Item, type Outcome, retryAfterThrowSeconds } from './work-queue.ts'

type State = 'waiting' | 'running' | 'ending' | 'dead' | 'ended'
type Entry = Item & {
  readonly id: string
  state: State
  attempt: number
  at: number
  /** Whether the job was promoted while its outcome was written: then its retry does not wait. */
  isPromoted?: boolean
  abort?: AbortController
  forget?: () => void
  readonly since: number
}
type Worker = WorkOptions & { readonly handler: Handler }
/** Jobs of one key. In an ordered queue, `begun` is the job that has started and not ended: no other job of its key starts. */
type Group = Record<'ready' | 'running', Set<Entry>> & { begun?: Entry | undefined }

const failed = (error: unknown): Outcome => ({ retryInSeconds: retryAfterThrowSeconds, error })

/** A queue in the memory of this process: its jobs and its worker. */
export class NamedQueue {
  settings: QueueSettings = {}
  readonly #name: string
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  readonly #groups = new Map<string | undefined, Group>()
  readonly #running = new Set<Entry>()
  readonly #ended = new Set<Entry>()
  readonly #runs = new Set<Promise<void>>()
  #worker: Worker | undefined

  constructor(name: string, clock: Clock) {
    this.#name = name
    this.#clock = clock
  }

  get isBusy(): boolean {
    return this.#runs.size > 0
  }

  enqueue(items: readonly Item[]): string[] {
    if (this.settings.ordered === true && items.some(({ key }) => key === undefined))
      throw new TypeError(`work-queue: each job in the ordered queue "${this.#name}" must have a key. Set key on each job.`)
    const now = this.#clock.now()
    for (const entry of this.#ended) {
      if (entry.at > now - 86_400_000) break
      this.#ended.delete(entry)
      this.#entries.delete(entry.id)
    }
    const copies = items.map(
      (item) => ({ ...JSON.parse(JSON.stringify(item)), id: item.id ?? randomUUID(), attempt: 0, since: now }) as Entry
    )
    const added = copies.filter((entry) => !this.#entries.has(entry.id) && this.#entries.set(entry.id, entry))
    for (const entry of added) this.#put(entry, 'waiting', entry.delaySeconds)
    return added.map(({ id }) => id)
  }

  work(worker: Worker): void {
    if (this.#worker !== undefined)
      throw new TypeError(`work-queue: this process already has a worker for the queue "${this.#name}". Stop that worker first.`)
    this.#worker = worker
    this.fill()
  }

  /** Starts jobs until the worker has no slots left. */
  fill(): void {
    for (const [key, group] of this.#groups) {
      if (this.#worker === undefined || this.#running.size >= this.#worker.concurrency) return
      const left = key === undefined ? Infinity : shareOf(this.#worker, this.#running.size - group.running.size) - group.running.size
      const entry = left <= 0 ? undefined : (group.begun ?? nextOf(group, left))
      if (entry === undefined || !group.ready.delete(entry)) continue
      // Moves the key to the end, where this loop reaches it again, so that the keys take turns.
      this.#groups.delete(key)
      this.#groups.set(key, group)
      if (this.settings.ordered === true) group.begun = entry
      for (const entries of [group.running, this.#running]) entries.add(entry)
      const run = this.#attempt(entry, this.#worker.handler).finally(() => this.#runs.delete(run))
      this.#runs.add(run)
    }
  }

  async #attempt(entry: Entry, handler: Handler) {
    const abort = new AbortController()
    Object.assign(entry, { state: 'running', attempt: entry.attempt + 1, abort })
    const { id, payload, attempt, trace } = entry
    let outcome = await (async () => handler({ id, payload, attempt, trace, signal: abort.signal }))().catch(failed)
    if (entry.abort !== abort) return
    // From here on, the job cannot be cancelled or handed back.
    Object.assign(entry, { state: 'ending', abort: undefined, isPromoted: false })
    await outcome.write?.(undefined).catch((error: Error) => {
      process.emitWarning(error)
      outcome = failed(error)
    })
    if ('retryInSeconds' in outcome) this.#put(entry, 'waiting', entry.isPromoted ? 0 : outcome.retryInSeconds)
    else this.#put(entry, 'done' in outcome ? 'ended' : 'dead')
  }

  #put(entry: Entry, state: State, seconds = 0) {
    entry.abort?.abort(new Error('work-queue: the job was cancelled or returned to the queue.'))
    entry.forget?.()
    Object.assign(entry, { state, at: this.#clock.now() + seconds * 1000, abort: undefined, forget: undefined })
    const group = this.#groupOf(entry)
    for (const entries of [group.ready, group.running, this.#running]) entries.delete(entry)
    if (state === 'ended' && group.begun === entry) group.begun = undefined
    if (state === 'ended') this.#ended.add(entry)
    if (state === 'waiting') this.#wait(entry)
    if (group.ready.size + group.running.size === 0 && group.begun === undefined) this.#groups.delete(entry.key)
    this.fill()
  }

  #wait(entry: Entry) {
    // A timer may fire slightly early.
    const again = () => (this.#wait(entry), this.fill())
    const now = this.#clock.now()
    if (entry.at <= now) this.#groupOf(entry).ready.add(entry)
    else entry.forget = this.#clock.after(entry.at - now, again)
  }

  #groupOf({ key }: Entry) {
    const group = this.#groups.get(key) ?? { ready: new Set(), running: new Set() }
    this.#groups.set(key, group)
    return group
  }

  cancel(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined || entry.state === 'ending' || entry.state === 'ended') return false
    this.#put(entry, 'ended')
    return true
  }

  redrive(ids: readonly string[]): number {
    return this.#restart(ids, ({ state }) => state === 'dead')
  }

  promote(ids: readonly string[]): number {
    return this.#restart(ids, ({ state, at }) => state === 'ending' || (state === 'waiting' && at > this.#clock.now()))
  }

  #restart(ids: readonly string[], isWanted: (entry: Entry) => boolean) {
    const wanted = ids.flatMap((id) => this.#entries.get(id) ?? []).filter(isWanted)
    for (const entry of wanted)
      if (entry.state === 'ending') entry.isPromoted = true
      else this.#put(entry, 'waiting')
    return wanted.length
  }

  backlog() {
    const now = this.#clock.now()
    const waiting = [...this.#entries.values()].filter(({ state }) => state === 'waiting')
    const delayed = waiting.filter(({ at }) => at > now).length
    const oldest = Math.min(now, ...waiting.map(({ since }) => since))
    const counts = { waiting: waiting.length - delayed, delayed, running: this.#running.size }
    return { name: this.#name, ...counts, oldestSeconds: (now - oldest) / 1000 }
  }

  /** Ends the worker. Its jobs return to the queue when the grace period has passed. */
  async stop(stopGraceSeconds = 10): Promise<void> {
    this.#worker = undefined
    await waitAtMost(Promise.all(this.#runs), stopGraceSeconds * 1000)
    for (const { abort } of this.#entries.values()) abort?.abort(new Error('work-queue: the worker is stopping.'))
    await waitAtMost(Promise.all(this.#runs), 1000)
    for (const entry of this.#entries.values()) if (entry.state === 'running') this.#put(entry, 'waiting')
    this.#runs.clear()
  }

  /** Cancels the timers of all jobs that wait. */
  forgetAll(): void {
    for (const { forget } of this.#entries.values()) forget?.()
  }
}

/** Returns how many jobs of a key may run: as large a part of `perKey` as the part of the slots that other keys do not use. */
function shareOf({ concurrency, perKey = Infinity }: WorkOptions, others: number) {
  return Math.ceil((perKey * (concurrency - others)) / concurrency)
}

/** Returns the first job whose part may start another. */
function nextOf({ ready, running }: Group, left: number) {
  const countOf = (part: string) => [...running].filter((entry) => entry.part === part).length
  return [...ready].find(({ part }) => part === undefined || countOf(part) < 2 * left - 1)
}
