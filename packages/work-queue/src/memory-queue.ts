import { randomUUID } from 'node:crypto'
import { waitAtMost } from '@concordat/plugin-kit/deadline'
import {
  type MemoryWorkQueueOptions,
  memoryWorkQueueOptions,
  type QueueSettings,
  readQueueSettings,
  readWorkOptions,
  systemClock,
  type WorkOptions
} from './options.ts'
import { type Handler, type Item, type Outcome, retryAfterThrowSeconds, type WorkQueue } from './work-queue.ts'

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
type Line = QueueSettings &
  Record<'running' | 'ended', Set<Entry>> & { worker?: Worker | undefined; readonly runs: Set<Promise<void>> } & {
    readonly entries: Map<string, Entry>
    readonly groups: Map<string | undefined, Group>
  }

const failed = (error: unknown): Outcome => ({ retryInSeconds: retryAfterThrowSeconds, error })

/** Creates a queue in the memory of this process, for tests and development. An error that a `write` throws is a process warning. */
export function memoryWorkQueue(options: MemoryWorkQueueOptions = {}): WorkQueue {
  const { clock = systemClock } = memoryWorkQueueOptions.read(options)
  const lines = new Map<string, Line>()
  const unfollow = clock.follow?.({ moveBy: async () => {}, isBusy: () => [...lines.values()].some(({ runs }) => runs.size > 0) })

  function lineOf(name: string) {
    const line = lines.get(name)
    if (line === undefined) throw new TypeError(`work-queue: the queue "${name}" is not defined. Call define("${name}") at startup.`)
    return line
  }

  function groupOf({ groups }: Line, { key }: Entry) {
    const group = groups.get(key) ?? { ready: new Set(), running: new Set() }
    groups.set(key, group)
    return group
  }

  function put(line: Line, entry: Entry, state: State, seconds = 0) {
    entry.abort?.abort(new Error('work-queue: the job was cancelled or returned to the queue.'))
    entry.forget?.()
    Object.assign(entry, { state, at: clock.now() + seconds * 1000, abort: undefined, forget: undefined })
    const group = groupOf(line, entry)
    for (const entries of [group.ready, group.running, line.running]) entries.delete(entry)
    if (state === 'ended' && group.begun === entry) group.begun = undefined
    if (state === 'ended') line.ended.add(entry)
    if (state === 'waiting') wait(line, entry)
    if (group.ready.size + group.running.size === 0 && group.begun === undefined) line.groups.delete(entry.key)
    fill(line)
  }

  function wait(line: Line, entry: Entry) {
    // A timer may fire slightly early.
    const again = () => (wait(line, entry), fill(line))
    if (entry.at <= clock.now()) groupOf(line, entry).ready.add(entry)
    else entry.forget = clock.after(entry.at - clock.now(), again)
  }

  function fill(line: Line) {
    for (const [key, group] of line.groups) {
      if (line.worker === undefined || line.running.size >= line.worker.concurrency) return
      const left = key === undefined ? Infinity : shareOf(line.worker, line.running.size - group.running.size) - group.running.size
      const entry = left <= 0 ? undefined : (group.begun ?? nextOf(group, left))
      if (entry === undefined || !group.ready.delete(entry)) continue
      // Moves the key to the end, where this loop reaches it again, so that the keys take turns.
      line.groups.delete(key)
      line.groups.set(key, group)
      if (line.ordered === true) group.begun = entry
      for (const entries of [group.running, line.running]) entries.add(entry)
      const run = attempt(line, entry, line.worker.handler).finally(() => line.runs.delete(run))
      line.runs.add(run)
    }
  }

  async function attempt(line: Line, entry: Entry, handler: Handler) {
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
    if ('retryInSeconds' in outcome) put(line, entry, 'waiting', entry.isPromoted ? 0 : outcome.retryInSeconds)
    else put(line, entry, 'done' in outcome ? 'ended' : 'dead')
  }

  function restart(line: Line, ids: readonly string[], isWanted: (entry: Entry) => boolean) {
    const wanted = ids.flatMap((id) => line.entries.get(id) ?? []).filter(isWanted)
    for (const entry of wanted)
      if (entry.state === 'ending') entry.isPromoted = true
      else put(line, entry, 'waiting')
    return wanted.length
  }

  async function stop(line: Line, stopGraceSeconds = 10) {
    line.worker = undefined
    await waitAtMost(Promise.all(line.runs), stopGraceSeconds * 1000)
    for (const { abort } of line.entries.values()) abort?.abort(new Error('work-queue: the worker is stopping.'))
    await waitAtMost(Promise.all(line.runs), 1000)
    for (const entry of line.entries.values()) if (entry.state === 'running') put(line, entry, 'waiting')
    line.runs.clear()
  }

  return {
    clock,
    capabilities: { durable: false, transactional: false, distributed: false },
    async define(name, settings = {}) {
      const sets = { running: new Set<Entry>(), ended: new Set<Entry>(), runs: new Set<Promise<void>>() }
      lines.set(name, { entries: new Map(), groups: new Map(), ...sets, ...lines.get(name), ...readQueueSettings(settings) })
    },
    async enqueue(name, items, transaction) {
      const line = lineOf(name)
      if (transaction !== undefined)
        throw new TypeError('work-queue: an in-memory queue cannot join a transaction. Use a queue in a database.')
      if (line.ordered === true && items.some(({ key }) => key === undefined))
        throw new TypeError(`work-queue: each job in the ordered queue "${name}" must have a key. Set key on each job.`)
      for (const entry of line.ended) {
        if (entry.at > clock.now() - 86_400_000) break
        line.ended.delete(entry)
        line.entries.delete(entry.id)
      }
      const copies = items.map(
        (item) => ({ ...JSON.parse(JSON.stringify(item)), id: item.id ?? randomUUID(), attempt: 0, since: clock.now() }) as Entry
      )
      const added = copies.filter((entry) => !line.entries.has(entry.id) && line.entries.set(entry.id, entry))
      for (const entry of added) put(line, entry, 'waiting', entry.delaySeconds)
      return added.map(({ id }) => id)
    },
    work(name, handler, options) {
      const settings = readWorkOptions(options)
      const line = lineOf(name)
      if (line.worker !== undefined)
        throw new TypeError(`work-queue: this process already has a worker for the queue "${name}". Stop that worker first.`)
      line.worker = { ...settings, handler }
      fill(line)
      return (stopGraceSeconds) => stop(line, stopGraceSeconds)
    },
    async cancel(name, id) {
      const entry = lineOf(name).entries.get(id)
      if (entry === undefined || entry.state === 'ending' || entry.state === 'ended') return false
      put(lineOf(name), entry, 'ended')
      return true
    },
    redrive: async (name, ids) => restart(lineOf(name), ids, ({ state }) => state === 'dead'),
    promote: async (name, ids) =>
      restart(lineOf(name), ids, ({ state, at }) => state === 'ending' || (state === 'waiting' && at > clock.now())),
    kick: (name) => fill(lineOf(name)),
    backlog: async (names) =>
      names.map((name) => {
        const { entries, running } = lineOf(name)
        const waiting = [...entries.values()].filter(({ state }) => state === 'waiting')
        const delayed = waiting.filter(({ at }) => at > clock.now()).length
        const oldest = Math.min(clock.now(), ...waiting.map(({ since }) => since))
        const counts = { waiting: waiting.length - delayed, delayed, running: running.size }
        return { name, ...counts, oldestSeconds: (clock.now() - oldest) / 1000 }
      }),
    async close(stopGraceSeconds) {
      await Promise.all([...lines.values()].map((line) => stop(line, stopGraceSeconds)))
      for (const { entries } of lines.values()) for (const { forget } of entries.values()) forget?.()
      unfollow?.()
    }
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
