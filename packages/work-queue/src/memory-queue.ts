import { NamedQueue } from './named-queue.ts'
import { type MemoryWorkQueueOptions, memoryWorkQueueOptions, readQueueSettings, readWorkOptions, systemClock } from './options.ts'
import type { WorkQueue } from './work-queue.ts'

/** Creates a queue in the memory of this process, for tests and development. An error that a `write` throws is a process warning. */
export function memoryWorkQueue(options: MemoryWorkQueueOptions = {}): WorkQueue {
  const { clock = systemClock } = memoryWorkQueueOptions.read(options)
  const queues = new Map<string, NamedQueue>()
  const unfollow = clock.follow?.({ moveBy: async () => {}, isBusy: () => [...queues.values()].some(({ isBusy }) => isBusy) })

  function queueOf(name: string) {
    const queue = queues.get(name)
    if (queue === undefined) throw new TypeError(`work-queue: the queue "${name}" is not defined. Call define("${name}") at startup.`)
    return queue
  }

  return {
    clock,
    capabilities: { durable: false, transactional: false, distributed: false },
    async define(name, settings = {}) {
      const queue = queues.get(name) ?? new NamedQueue(name, clock)
      queue.settings = readQueueSettings(settings)
      queues.set(name, queue)
    },
    async enqueue(name, items, transaction) {
      const queue = queueOf(name)
      if (transaction !== undefined)
        throw new TypeError('work-queue: an in-memory queue cannot join a transaction. Use a queue in a database.')
      return queue.enqueue(items)
    },
    work(name, handler, options) {
      const settings = readWorkOptions(options)
      const queue = queueOf(name)
      queue.work({ ...settings, handler })
      return (stopGraceSeconds) => queue.stop(stopGraceSeconds)
    },
    cancel: async (name, id) => queueOf(name).cancel(id),
    redrive: async (name, ids) => queueOf(name).redrive(ids),
    promote: async (name, ids) => queueOf(name).promote(ids),
    kick: (name) => queueOf(name).fill(),
    backlog: async (names) => names.map((name) => queueOf(name).backlog()),
    async close(stopGraceSeconds) {
      await Promise.all([...queues.values()].map((queue) => queue.stop(stopGraceSeconds)))
      for (const queue of queues.values()) queue.forgetAll()
      unfollow?.()
    }
  }
}
