/** What a handler is given besides its input. */
export interface JobContext {
  readonly jobId: string
  /** Counts from 1; a try that was handed back because its worker stopped is not counted. */
  readonly attempt: number
  /** Aborted when the job is cancelled, taken over or handed back. Stop then: nothing that comes after counts. */
  readonly signal: AbortSignal
  /** Says how far it is: `done` of `total`, or per cent. It never goes back, and is written at most twice a second. */
  readonly progress: (done: number, total?: number) => void
}

/** What makes a type of jobs. */
export interface JobDefinition<Input, Result> {
  /** In kebab case, as `order-export`. It names the queue, and is not changed. */
  readonly name: string
  /** A JSON Schema of the input; also for the body of the route that starts the job. */
  readonly input: object
  /** A JSON Schema of what the handler answers, which then can be read at its own address. @default the job has no result */
  readonly result?: object | undefined
  /**
   * Does the job. What it throws is logged and tried again; an `ApiError` is meant for the owner, and ends the job with its code and text.
   * It may run twice after a crash, so what it does outside has to bear that.
   */
  handler(input: Input, context: JobContext): Promise<Result>
  /** How often it is tried, crashes included. @default 3 */
  readonly attempts?: number | undefined
  /** How long to wait after so many failed tries. @default 5, 20, 80 … seconds, at most an hour */
  retrySeconds?(failed: number): number
  /** How many of them one process does at once. @default 2 */
  readonly concurrency?: number | undefined
  /** What `Retry-After` says while the job is not over. @default 2 */
  readonly retryAfterSeconds?: number | undefined
}

/** A type of jobs, made by {@link defineJob}. */
export interface Job<Input = never, Result = unknown> {
  readonly name: string
  readonly input: object
  readonly result: object | undefined
  readonly attempts: number
  readonly concurrency: number
  readonly retryAfterSeconds: number
  readonly handler: (input: Input, context: JobContext) => Promise<Result>
  readonly retrySeconds: (failed: number) => number
}

/** Declares a type of jobs. Throws a `TypeError` with one line for what can't work. */
export function defineJob<Input, Result = void>(definition: JobDefinition<Input, Result>): Job<Input, Result> {
  const { name, input, result, attempts = 3, concurrency = 2, retryAfterSeconds = 2 } = definition
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 100) {
    throw new TypeError(`jobs: "${name}" is no name for a job. Give one in kebab case, as order-export.`)
  }
  for (const [option, value] of Object.entries({ attempts, concurrency, retryAfterSeconds })) {
    if (!Number.isInteger(value) || value < 1) {
      throw new TypeError(`jobs: ${option} of ${name} is ${value}. Give a whole number of at least 1.`)
    }
  }
  return {
    name,
    input,
    result,
    attempts,
    concurrency,
    retryAfterSeconds,
    handler: (given, context) => definition.handler(given, context),
    retrySeconds: (failed) => definition.retrySeconds?.(failed) ?? Math.min(3600, 5 * 4 ** (failed - 1))
  }
}
