// What happened when: responses and their times, faults, and samples of the processes and the queues.
export interface Mark {
  readonly name: string
  readonly from: number
  to: number
}

/** A slice of the run. */
export interface Slice {
  readonly ms: number[]
  readonly counts: Map<string, number>
}

/** What is measured at the end of each slice. */
export interface Sample {
  readonly second: number
  readonly memory: readonly (number | undefined)[]
  readonly waiting?: number | undefined
  readonly oldestSeconds?: number | undefined
  readonly deliveries: number
  readonly deadRows?: number | undefined
  /** How late timers of the soak itself were, by which it knows that the machine has too much to do. */
  readonly lateMs: number
}

export interface ServerError {
  readonly at: number
  readonly what: string
}

export const sliceSeconds = 5
/** Timers that are later than this mean that programs get too little of the processors to meet their own time limits. */
const maxLateMs = 150

export class Recorder {
  readonly begin = performance.now()
  /** A slice without responses is missing. */
  readonly slices: (Slice | undefined)[] = []
  readonly marks: Mark[] = []
  readonly samples: Sample[] = []
  readonly serverErrors: ServerError[] = []
  /** Responses by operation and status. */
  readonly statuses = new Map<string, Map<string, number>>()
  readonly notes: string[] = []

  /** Seconds since the start of the run. */
  get now(): number {
    return (performance.now() - this.begin) / 1000
  }

  /** Adds a response; `outcome` is its status code, `nginx 502` for a response of the proxy, or `lost`. */
  add(operation: string, outcome: string, ms: number): void {
    const index = Math.floor(this.now / sliceSeconds)
    const slice: Slice = this.slices[index] ?? { ms: [], counts: new Map() }
    this.slices[index] = slice
    if (/^[23]/.test(outcome)) slice.ms.push(ms)
    increment(slice.counts, /^\d/.test(outcome) ? `${outcome[0]}xx` : (outcome.split(' ')[0] as string))
    const known = this.statuses.get(operation) ?? new Map<string, number>()
    this.statuses.set(operation, known)
    increment(known, outcome)
  }

  /** Runs a fault, and records when it began and ended. */
  async during(name: string, fault: () => Promise<void>): Promise<void> {
    const mark: Mark = { name, from: this.now, to: Infinity }
    this.marks.push(mark)
    try {
      await fault()
    } finally {
      mark.to = this.now
    }
  }

  /** Returns whether the machine had too much to do around this second. */
  isBusyAt(second: number): boolean {
    return this.samples.some((sample) => sample.lateMs > maxLateMs && Math.abs(sample.second - second) < 3 * sliceSeconds)
  }

  /** Returns whether a fault, its aftermath, or a machine that has too much to do explains an error at this second. */
  isExplained(second: number, aftermathSeconds: number): boolean {
    return this.isBusyAt(second) || this.marks.some(({ from, to }) => second >= from - 1 && second <= to + aftermathSeconds)
  }
}

export function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Returns the value below which this share of the numbers is. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
