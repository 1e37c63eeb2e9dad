import { requireJsonSchema, secretKeyword } from '@concordat/plugin-kit/json-schema'
import { callback, describeOptions, integer, type OptionsOf, required, value } from '@concordat/plugin-kit/options'

/** Context that a handler receives with its input. */
export interface JobContext {
  readonly jobId: string
  /** The tenant for which the job runs, for example for `database.asTenant`. */
  readonly tenant: string | undefined
  /** Number of the attempt, from 1. An attempt that was handed back because its worker stopped is not counted. */
  readonly attempt: number
  /** Aborted when the job is cancelled, taken over or handed back. Stop then: later results are ignored. */
  readonly signal: AbortSignal
  /** Reports progress: `done` of `total`, or a percentage. Progress never decreases and is written at most twice per second. */
  readonly progress: (done: number, total?: number) => void
  /**
   * Appends a piece of text to the output of the attempt, which may be larger than a result: `app.jobs.output` reads it when the job is completed. Pauses
   * for as long as the work took since the last piece, at most 100 ms, so that requests get half of the time. Rejects when the attempt has ended.
   */
  readonly write: (piece: string) => Promise<void>
}

/** The description of a {@link JobDefinition}. */
const jobOptions = describeOptions('jobs', {
  /** Kebab case, for example `order-export`. It names the queue, so do not change it. */
  name: required(value<string>()),
  /** JSON Schema of the input, also for the body of the route that starts the job. */
  input: required(value<object>()),
  /** JSON Schema of the handler's result, which then has its own URL. */
  result: value<object>(),
  /** Runs the job. An `ApiError` below 500 ends the job; after another error it is retried. It can run twice, so it must be idempotent. */
  handler: required(callback<(input: never, context: JobContext) => Promise<unknown>>('runs the job')),
  /** Maximum number of attempts, crashes included. */
  maxAttempts: integer({ default: 3, min: 1 }),
  /** Returns the delay after that many failed attempts. By default 5, 20, 80 … seconds, at most an hour. */
  retrySeconds: callback<(failed: number) => number>('returns seconds', { default: (failed) => Math.min(3600, 5 * 4 ** (failed - 1)) }),
  /** Maximum number of jobs of this type that one process runs at the same time. */
  concurrency: integer({ default: 2, min: 1 }),
  /** Value of `Retry-After` while the job has not ended. */
  retryAfterSeconds: integer({ default: 2, min: 1 })
})

/** What {@link JobDefinition} has of its description. */
interface DescribedJob extends OptionsOf<typeof jobOptions> {}

/** Definition of a type of job. */
export interface JobDefinition<Input, Result> extends DescribedJob {
  readonly handler: (input: Input, context: JobContext) => Promise<Result>
}

/** Type of job, created by {@link defineJob}. */
export interface Job<Input = never, Result = unknown> {
  readonly name: string
  readonly input: object
  readonly result: object | undefined
  readonly maxAttempts: number
  readonly concurrency: number
  readonly retryAfterSeconds: number
  readonly handler: (input: Input, context: JobContext) => Promise<Result>
  readonly retrySeconds: (failed: number) => number
}

/** Defines a type of job. Throws a `TypeError` with a one-line message when the definition is invalid. */
export function defineJob<Input, Result = void>(definition: JobDefinition<Input, Result>): Job<Input, Result> {
  const { name } = definition
  const job = jobOptions.read(definition, `job "${name}": definition`)
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 100) {
    throw new TypeError(`jobs: the job name "${name}" is invalid. Use kebab case and at most 100 characters, for example order-export.`)
  }
  for (const part of ['input', 'result'] as const) {
    requireJsonSchema(
      job[part],
      `jobs: ${part} of the job "${name}"`,
      'Set the JSON Schema of what is stored, for example z.toJSONSchema(schema).'
    )
  }
  if (JSON.stringify(job.result ?? {}).includes(`"${secretKeyword}":true`)) {
    throw new TypeError(
      `jobs: result of the job "${name}" has a member that is marked ${secretKeyword}, but a result is stored and can be read many times. Show the secret in the response of a route.`
    )
  }
  return job as Job<unknown> as Job<Input, Result>
}
