import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { hrefOf, linkCheck, originResolver } from '@concordat/plugin-kit/links'
import type { OptionsOf } from '@concordat/plugin-kit/options'
import { contribute, inTenant, requireKnownConfig, requireTenant } from '@concordat/plugin-kit/wiring'
import { queueGauges } from '@concordat/work-queue'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { requireAcceptance } from './declared-acceptance.ts'
import { jobsErrors } from './errors.ts'
import { sweepExpiredJobs } from './expired-jobs.ts'
import type { Job } from './job.ts'
import { ownerOf } from './job-owner.ts'
import type { JobRecord } from './job-record.ts'
import { addRoutes, findJob, linksOf, type ServeOptions, sendRecord, serveOptions, waitFor } from './job-routes.ts'
import type { Jobs } from './jobs.ts'
import { type JobQuery, listJobs } from './list-jobs.ts'
import { operationParts } from './operation-parts.ts'
import { type JobsOptions, resolveOptions } from './options.ts'
import { outputOf } from './output.ts'
import { preferencesOf } from './prefer.ts'
import { retryJob } from './retry-job.ts'
import { scheduling } from './schedules/scheduling.ts'
import { ServedJobs } from './served-jobs.ts'
import { acceptedOptions, maxOpenJobs, type StartOptions, startJob, startOptions } from './start-job.ts'
import { isOver } from './states.ts'
import { workers } from './workers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route does, for the API description: `start` for a route that uses `reply.accepted`; `serve` sets the others. */
    job?: 'start' | 'status' | 'cancel' | 'result' | undefined
  }
  interface FastifyInstance {
    readonly jobs: Jobs
  }
  interface FastifyReply {
    /**
     * Starts a job for the client of this request, in its transaction if one is open. Sets 202, `Location` and `Retry-After` (rule A1), or 200 when the
     * client waits (`Prefer: wait`) and the job has ended, and returns the record, which the handler must return. Throws 422 `JOB_INPUT_INVALID` or
     * `JOB_KEY_REUSED`.
     */
    accepted<Input>(job: Job<Input>, input: Input, options?: OptionsOf<typeof acceptedOptions>): Promise<JobRecord>
  }
}

/** Accepts long-running work with 202, runs it in a worker, and serves its status and result to its owner only. */
const jobs: FastifyPluginAsync<JobsOptions> = async (app, options) => {
  const settings = resolveOptions(options, app)
  requireKnownConfig(app, 'jobs')
  contribute(app, 'errors', jobsErrors)
  observeErrorHandlers(app)
  contribute(app, 'operations', operationParts)
  const { queue, currentTransaction } = settings
  const originOf = originResolver(settings.origin)
  const checkLink = linkCheck(app, 'jobs')
  const served = new ServedJobs()
  const scheduled = scheduling(app, settings, served)
  contribute(app, 'gauges', queueGauges(queue, served.queues))

  if (options.queue === undefined)
    app.log.warn('jobs: jobs are stored in memory and unfinished jobs are lost when the process exits. Set options.queue.')
  app.decorate('jobs', {
    getter(this: FastifyInstance): Jobs {
      return {
        serve: (job, path, serving) => serve(this, job as Job<unknown>, path, serving),
        start,
        schedule: (job, schedule) => scheduled.schedule(this, job, schedule),
        schedules: scheduled.schedules,
        find: (job, id, request) => findJob(job, id, request, settings),
        list,
        retry: (id) => retryJob(id, settings),
        output: (stored) => outputOf(stored, settings)
      }
    }
  })
  app.decorateReply('accepted', accepted)
  app.addHook('onRoute', requireAcceptance)
  const work = workers(app, settings, served, scheduled)
  app.addHook('onReady', () => work.begin())
  if (settings.worker) sweepExpiredJobs(app, settings)
  app.addHook('onClose', () => work.end())

  function serve(instance: FastifyInstance, job: Job<unknown>, path: string, serving: ServeOptions = {}) {
    const { prefix } = instance
    const place = { ...serveOptions.read(serving), job: job as Job, prefix, path, href }
    served.add(job, place, Object.values(instance.getSchemas()) as object[])
    addRoutes(instance, place, settings)

    function href(request: FastifyRequest, below: string) {
      checkLink(request, prefix + below)
      return hrefOf(originOf(request), prefix + below)
    }
  }

  async function start(job: Job, input: unknown, starting: StartOptions) {
    const given = startOptions.read(starting)
    requireTenant('jobs', 'app.jobs.start()', 'a job', given.tenant, settings.hasTenants())
    return startJob(job, served.of(job).checkInput, input, given, settings)
  }

  async function list<Input, Result>(job: Job<Input, Result>, request: FastifyRequest, query: JobQuery) {
    const place = served.placeOf(job, request)
    return listJobs(job, inTenant(ownerOf(request, settings), settings.tenantOf(request)), query, settings, (listed) =>
      linksOf(request, place, listed)
    )
  }

  async function accepted(this: FastifyReply, job: Job, input: unknown, starting: OptionsOf<typeof acceptedOptions> = {}) {
    const { key } = acceptedOptions.read(starting)
    const { request } = this
    const who = ownerOf(request, settings)
    const transaction = currentTransaction()
    const place = served.placeOf(job, request)
    const about = { owner: who, tenant: settings.tenantOf(request), key, transaction }
    const stored = await startJob(job, served.of(job).checkInput, input, about, settings, maxOpenJobs)
    const { respondAsync, waitSeconds } = preferencesOf(request.headers.prefer)
    if (respondAsync) this.header('preference-applied', 'respond-async')
    // The job is not visible to the worker before the transaction ends.
    const latest = waitSeconds === undefined || transaction !== undefined ? stored : await waitFor(stored, waitSeconds, this, settings)
    this.code(isOver(latest.state) ? 200 : 202).header('location', linksOf(request, place, latest)[0]?.href)
    return sendRecord(request, this, place, latest)
  }
}

const plugin: FastifyPluginAsync<JobsOptions> = fp(jobs, { name: '@concordat/jobs', fastify: '^5.12.1' })
export default plugin
