import { describeOptions, flag, integer, number, type OptionsOf, required, value } from '@concordat/plugin-kit/options'

/** Clock of a queue, in milliseconds since the Unix epoch. */
export interface Clock {
  now(): number
  /** Calls `run` once after the given number of milliseconds. Returns a function that cancels the call. */
  after(milliseconds: number, run: () => void): () => void
  /** On a test clock, registers a follower that moves its own time by the same amount and reports whether it is busy. */
  readonly follow?: ((follower: { moveBy(milliseconds: number): Promise<void>; isBusy(): boolean }) => () => void) | undefined
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    // A longer timeout would expire immediately.
    const timer = setTimeout(run, Math.min(milliseconds, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  }
}

/** The description of {@link QueueSettings}. @readme */
export const queueSettings = describeOptions('work-queue', {
  /** Whether jobs of one `key` run one after another, also through retries. A dead letter blocks its key. Cannot be changed later. */
  ordered: flag(),
  /** A worker that is silent for longer loses its jobs. */
  leaseSeconds: integer({ default: 10, min: 10 })
})

export interface QueueSettings extends OptionsOf<typeof queueSettings> {}

/** Applies the defaults, for `define` of a queue. Throws a `TypeError` for an unknown name or an invalid value. */
export function readQueueSettings(settings: QueueSettings): { readonly ordered: boolean; readonly leaseSeconds: number } {
  return queueSettings.read(settings)
}

/** The description of {@link WorkOptions}. @readme */
export const workOptions = describeOptions('work-queue', {
  /** How many jobs this process runs at the same time. */
  concurrency: required(integer({ min: 1 })),
  /** About how many jobs of one `key` run at the same time in all processes. Fewer while jobs of other keys use the slots. */
  perKey: integer({ min: 1 }),
  /** How often to look for jobs without a notification. Operators raise it while the database is overloaded. */
  pollSeconds: number({ default: 0.5, min: 0.001 })
})

/** Options of a worker. */
export interface WorkOptions extends OptionsOf<typeof workOptions> {}

/** Does the same for `work`. */
export function readWorkOptions(options: WorkOptions): WorkOptions & { readonly pollSeconds: number } {
  return workOptions.read(options)
}

/** The description of {@link MemoryWorkQueueOptions}. */
export const memoryWorkQueueOptions = describeOptions('work-queue', {
  /** The source of the time. In tests, `testClock()`. */
  clock: value<Clock>()
})

/** Options of `memoryWorkQueue`. */
export interface MemoryWorkQueueOptions extends OptionsOf<typeof memoryWorkQueueOptions> {}
