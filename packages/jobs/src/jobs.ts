import type { FastifyRequest } from 'fastify'
import type { Job } from './job.ts'
import type { ServeOptions } from './job-routes.ts'
import type { JobPage, JobQuery } from './list-jobs.ts'
import type { ScheduleOptions } from './schedules/schedule.ts'
import type { Schedules } from './schedules/scheduling.ts'
import type { StartOptions } from './start-job.ts'
import type { StoredJob } from './stores/stored-job.ts'

/** API of `app.jobs`. */
export interface Jobs {
  /** Adds `GET` and `DELETE` routes at `<path>/:id`, and a `GET` route for the result. A job must be served, or have a schedule, before it is started. */
  serve<Input, Result>(job: Job<Input, Result>, path: string, options?: ServeOptions): void
  /** Starts a job outside a route. Throws 422 `JOB_INPUT_INVALID` or `JOB_KEY_REUSED`. */
  start<Input>(job: Job<Input>, input: Input, options: StartOptions): Promise<StoredJob>
  /**
   * Starts a job at the times of a cron expression or an interval, once however many processes run. The job needs no routes. Call it before the start, in
   * each process. Throws a `TypeError` of one line for invalid options.
   */
  schedule<Input, Result>(job: Job<Input, Result>, options: ScheduleOptions<Input>): void
  /** Lists, pauses and runs schedules, for operators. */
  readonly schedules: Schedules
  /** Returns a job, for routes that serve its result themselves. Throws 404 unless the client of the request started it, and 410 when it has expired. */
  find<Input>(job: Job<Input>, id: string, request: FastifyRequest): Promise<StoredJob>
  /**
   * Starts a failed job again, with all its attempts, for operators. Returns false for a job that has not failed, or that
   * does not exist. If it rejects, repeat it.
   */
  retry(id: string): Promise<boolean>
  /** Reads what a completed job has written, piece by piece, for `reply.streamed` or a stream: `app.jobs.output(await app.jobs.find(job, id, request))`. */
  output(job: Pick<StoredJob, 'id'>): AsyncIterable<string>
  /**
   * Returns a page of the jobs that the client that makes the request started and that have not expired, by the time of their creation:
   * `reply.page(await app.jobs.list(job, request, request.listQuery(collection)))`. Throws 400 for a client that is not identified.
   */
  list<Input, Result>(job: Job<Input, Result>, request: FastifyRequest, query: JobQuery): Promise<JobPage>
}
