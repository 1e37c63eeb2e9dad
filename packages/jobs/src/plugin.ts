import { hrefOf, originResolver } from '@concordat/links'
import { requireKnownNames } from '@concordat/plugin-options'
import { contribute } from '@concordat/plugin-wiring'
import { linkCheck, requireKnownConfig } from '@concordat/route-lints'
import type { Stop } from '@concordat/work-queue'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { clientNotIdentified, jobsErrors } from './errors.ts'
import type { Job } from './job.ts'
import type { JobRecord } from './job-record.ts'
import { addRoutes, findJob, linksOf, type ServeOptions, sendRecord, statusHref, waitFor } from './job-routes.ts'
import { type JobPage, type JobQuery, listJobs } from './list-jobs.ts'
import { operationParts } from './operation-parts.ts'
import { type JobsOptions, resolveOptions } from './options.ts'
import { preferencesOf } from './prefer.ts'
import { runJob } from './run-job.ts'
import { checkOf } from './schema-check.ts'
import { ServedJobs } from './served-jobs.ts'
import { queueOf, type StartOptions, startJob } from './start-job.ts'
import { isOver } from './states.ts'
import type { StoredJob } from './store.ts'

/** API of `app.jobs`. */
export interface Jobs {
  /** Adds `GET` and `DELETE` routes at `<path>/:id`, and a `GET` route for the result. A job must be served before it is started. */
  serve<Input, Result>(job: Job<Input, Result>, path: string, options?: ServeOptions): void
  /** Starts a job outside a route. Throws 422 `JOB_INPUT_INVALID` or `JOB_KEY_REUSED`. */
  start<Input>(job: Job<Input>, input: Input, options: StartOptions): Promise<StoredJob>
  /**
   * Returns the job with this name and id, for routes that serve its result themselves. Throws 404 unless the client that makes the request
   * started it, and 410 when it has expired.
   */
  find<Input>(job: Job<Input>, id: string, request: FastifyRequest): Promise<StoredJob>
  /**
   * Returns a page of the jobs that the client that makes the request started and that have not expired, by the time of their creation:
   * `reply.page(await app.jobs.list(job, request, request.listQuery(collection)))`. Throws 400 for a client that is not identified.
   */
  list<Input, Result>(job: Job<Input, Result>, request: FastifyRequest, query: JobQuery): Promise<JobPage>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The job operation that the route performs, for the API description: `start` for a route that uses `reply.accepted`; `serve` sets the other
     * values.
     */
    job?: 'start' | 'status' | 'cancel' | 'result' | undefined
  }
  interface FastifyInstance {
    readonly jobs: Jobs
  }
  interface FastifyReply {
    /**
     * Starts a job for the client that makes this request, in the request's transaction if one is open. Responds with 202, `Location`,
     * `Retry-After` and the record (rule A1), or with 200 when the client waits (`Prefer: wait`) and the job has ended. The route handler
     * must return the record. With a `key`, a repeated start returns the same job. Throws 422 `JOB_INPUT_INVALID` or `JOB_KEY_REUSED`
     * before anything is stored.
     */
    accepted<Input>(job: Job<Input>, input: Input, options?: { readonly key?: string | undefined }): Promise<JobRecord>
  }
}

/**
 * Accepts long-running work with 202, runs it in a worker, retries it if the worker crashes, and serves its status and result to its owner
 * only.
 */
const jobs: FastifyPluginAsync<JobsOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  requireKnownConfig(app, 'jobs')
  contribute(app, 'errors', jobsErrors)
  contribute(app, 'operations', operationParts)
  const { queue, store, owner, clientHeader, currentTransaction, maxResultBytes, resultSeconds, now } = settings
  const originOf = originResolver(settings.origin)
  const checkLink = linkCheck(app, 'jobs')
  const parts = { settings, href }
  const served = new ServedJobs()
  const stops: Stop[] = []

  if (options.queue === undefined)
    app.log.warn('jobs: jobs are stored in memory and unfinished jobs are lost when the process exits. Set options.queue.')
  app.decorate('jobs', {
    getter(this: FastifyInstance): Jobs {
      return { serve: (job, path, serving) => serve(this, job as Job<unknown>, path, serving), start, find, list }
    }
  })
  app.decorateReply('accepted', accepted)
  app.addHook('onReady', beginWork)
  app.addHook('onClose', handBack)

  function href(request: FastifyRequest, path: string) {
    checkLink(request, path)
    return hrefOf(originOf(request), path)
  }

  function serve(instance: FastifyInstance, job: Job<unknown>, path: string, serving: ServeOptions = {}) {
    requireKnownNames('jobs', serving, { config: true, cancelConfig: true, onComplete: true, resultPath: true })
    const place = { ...serving, job: job as Job, prefix: instance.prefix, path }
    served.add(job, place)
    addRoutes(instance, place, parts)
  }

  async function beginWork() {
    if (!settings.knowsOwners())
      throw new TypeError("jobs: options.owner is missing. Set it to a function that returns the client's id, or register authentication.")
    for (const { job } of served.all) {
      await queue.define(queueOf(job))
      if (!settings.worker) continue
      const checkResult = job.result && checkOf(job.result, 'result')
      const run = runJob(job, { store, checkResult, resultSeconds, maxResultBytes, now, log: app.log })
      stops.push(queue.work(queueOf(job), run, { concurrency: job.concurrency }))
    }
  }

  async function handBack() {
    await Promise.all(stops.map((stop) => stop(settings.stopGraceSeconds)))
  }

  function start(job: Job, input: unknown, starting: StartOptions) {
    requireKnownNames('jobs', starting, { owner: true, key: true, transaction: true })
    return startJob(job, served.of(job).checkInput, input, starting, settings)
  }

  function find(job: Pick<Job, 'name'>, id: string, request: FastifyRequest) {
    return findJob(job, id, request, settings)
  }

  async function list<Input, Result>(job: Job<Input, Result>, request: FastifyRequest, query: JobQuery) {
    const place = served.placeOf(job, request)
    return listJobs(job, ownerOf(request), query, settings, (listed) => linksOf(request, place, listed, parts))
  }

  function ownerOf(request: FastifyRequest) {
    const who = owner(request)
    if (who) return who
    request.log.info(
      'jobs: options.owner returned no client for this request. Accept only authenticated clients on the route, or return an owner for anonymous requests.'
    )
    throw clientNotIdentified(clientHeader)
  }

  async function accepted(this: FastifyReply, job: Job, input: unknown, starting: { readonly key?: string | undefined } = {}) {
    requireKnownNames('jobs', starting, { key: true })
    const { request } = this
    const who = ownerOf(request)
    const transaction = currentTransaction()
    const place = served.placeOf(job, request)
    const stored = await start(job, input, { owner: who, key: starting.key, transaction })
    const { respondAsync, waitSeconds } = preferencesOf(request.headers.prefer)
    if (respondAsync) this.header('preference-applied', 'respond-async')
    // The job is not visible to the worker before the transaction ends.
    const latest = waitSeconds === undefined || transaction !== undefined ? stored : await waitFor(stored, waitSeconds, this, settings)
    this.code(isOver(latest.state) ? 200 : 202).header('location', statusHref(request, place, latest, parts))
    return sendRecord(request, this, place, latest, parts)
  }
}

const plugin: FastifyPluginAsync<JobsOptions> = fp(jobs, { name: '@concordat/jobs', fastify: '^5.12.1' })
export default plugin
