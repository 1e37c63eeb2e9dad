import { requireJsonSchema, secretKeyword } from '@concordat/json-schema'
import { optionChecks, requireKnownNames } from '@concordat/plugin-options'

/** Context that a handler receives with its input. */
export interface JobContext {
  readonly jobId: string
  /** Number of the attempt, from 1. An attempt that was handed back because its worker stopped is not counted. */
  readonly attempt: number
  /** Aborted when the job is cancelled, taken over or handed back. Stop then: later results are ignored. */
  readonly signal: AbortSignal
  /** Reports progress: `done` of `total`, or a percentage. Progress never decreases and is written at most twice per second. */
  readonly progress: (done: number, total?: number) => void
}

/** Definition of a type of job. */
export interface JobDefinition<Input, Result> {
  /** Name in kebab case, for example `order-export`. It names the queue, so do not change it. */
  readonly name: string
  /** JSON Schema of the input. Use it also for the body of the route that starts the job. */
  readonly input: object
  /** JSON Schema of the handler's result, which is then available at its own URL. @default the job has no result */
  readonly result?: object | undefined
  /**
   * Runs the job. An error is logged and the job is retried. An `ApiError` ends the job, and the owner sees its code and message.
   * The handler may run twice after a crash, so its side effects must be idempotent.
   */
  handler(input: Input, context: JobContext): Promise<Result>
  /** Maximum number of attempts, crashes included. @default 3 */
  readonly maxAttempts?: number | undefined
  /** Returns the delay in seconds after the given number of failed attempts. @default 5, 20, 80 … seconds, at most an hour */
  readonly retrySeconds?: ((failed: number) => number) | undefined
  /** Maximum number of jobs of this type that one process runs at the same time. @default 2 */
  readonly concurrency?: number | undefined
  /** Value of `Retry-After`, in seconds, while the job has not ended. @default 2 */
  readonly retryAfterSeconds?: number | undefined
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

const { integer } = optionChecks('jobs')

/** Defines a type of job. Throws a `TypeError` with a one-line message when the definition is invalid. */
export function defineJob<Input, Result = void>(definition: JobDefinition<Input, Result>): Job<Input, Result> {
  requireKnownNames(
    'jobs',
    definition,
    {
      name: true,
      input: true,
      result: true,
      handler: true,
      maxAttempts: true,
      retrySeconds: true,
      concurrency: true,
      retryAfterSeconds: true
    },
    'definition'
  )
  const { name, input, result, maxAttempts = 3, concurrency = 2, retryAfterSeconds = 2 } = definition
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 100) {
    throw new TypeError(`jobs: the job name "${name}" is invalid. Use kebab case and at most 100 characters, for example order-export.`)
  }
  for (const [option, schema] of Object.entries({ input, result }))
    requireJsonSchema(
      schema,
      `jobs: ${option} of the job "${name}"`,
      'Set the JSON Schema of what is stored, for example z.toJSONSchema(schema).'
    )
  if (JSON.stringify(result ?? {}).includes(`"${secretKeyword}":true`)) {
    throw new TypeError(
      `jobs: result of the job "${name}" has a member that is marked ${secretKeyword}, but a result is stored and can be read many times. Show the secret in the response of a route.`
    )
  }
  for (const [option, value] of Object.entries({ maxAttempts, concurrency, retryAfterSeconds })) {
    integer(`${option} of the job "${name}"`, value, 1)
  }
  return {
    name,
    input,
    result,
    maxAttempts,
    concurrency,
    retryAfterSeconds,
    handler: (payload, context) => definition.handler(payload, context),
    retrySeconds: (failed) => definition.retrySeconds?.(failed) ?? Math.min(3600, 5 * 4 ** (failed - 1))
  }
}
