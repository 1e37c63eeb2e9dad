import { hrefOf, originResolver } from '@concordat/links'
import type { Stop } from '@concordat/work-queue'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Job } from './job.ts'
import type { JobRecord } from './job-record.ts'
import { addRoutes, answerRecord, findJob, type Place, type ServeOptions, statusHref, waitFor } from './job-routes.ts'
import { type JobsOptions, resolveOptions } from './options.ts'
import { preferencesOf } from './prefer.ts'
import { runJob } from './run-job.ts'
import { checkOf, type SchemaCheck } from './schema-check.ts'
import { queueOf, type StartOptions, startJob } from './start-job.ts'
import { isOver } from './states.ts'
import type { StoredJob } from './store.ts'

/** Asynchronous jobs of a service. */
export interface Jobs {
  /** Adds `GET` and `DELETE` of `<path>/:id` here, and of its result; a job has to be served before it is started. */
  serve<Input, Result>(job: Job<Input, Result>, path: string, options?: ServeOptions): void
  /** Starts a job outside a route. Throws 422 `JOB_INPUT_INVALID` or `JOB_KEY_REUSED`. */
  start<Input>(job: Job<Input>, input: Input, options: StartOptions): Promise<StoredJob>
  /** The job of this type and id, for routes of its own results. Throws 404 unless who makes the request has started it, 410 when it has expired. */
  find<Input>(job: Job<Input>, id: string, request: FastifyRequest): Promise<StoredJob>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route does to a job, for the description: `start` where `reply.accepted` answers; `serve` says the others. */
    job?: 'start' | 'status' | 'cancel' | 'result' | undefined
    /** Rules that the route does not keep, each with the reason. */
    waivers?: Readonly<Record<string, string>>
  }
  interface FastifyInstance {
    readonly jobs: Jobs
  }
  interface FastifyReply {
    /**
     * Starts a job for who makes this request, in its transaction if one is open, and answers 202 with `Location`, `Retry-After` and the
     * record (rule A1); 200 when the client waits (`Prefer: wait`) and it is over. Return its result. With a `key`, a repeated start is the
     * same job. Throws 422 `JOB_INPUT_INVALID` or `JOB_KEY_REUSED`, before anything is kept.
     */
    accepted<Input>(job: Job<Input>, input: Input, options?: { readonly key?: string | undefined }): Promise<JobRecord>
  }
}

interface Served {
  readonly job: Job<unknown>
  readonly checkInput: SchemaCheck
  readonly places: Place[]
}

/** What takes longer than a request is accepted by 202, done by a worker that may die, and answered for to its owner alone. */
const jobs: FastifyPluginAsync<JobsOptions> = async (app, options) => {
  const settings = resolveOptions(options)
  const { queue, store, owner, currentTransaction, maximumResultBytes, resultSeconds, now } = settings
  const originOf = originResolver(settings.origin)
  const parts = { settings, href: (request: FastifyRequest, path: string) => hrefOf(originOf(request), path) }
  const served = new Map<string, Served>()
  const stops: Stop[] = []

  if (options.queue === undefined)
    app.log.warn('jobs: kept in memory, so what is not done is lost with the process. Give the option queue.')
  app.decorate('jobs', {
    getter(this: FastifyInstance): Jobs {
      return { serve: (job, path, serving) => serve(this, job as Job<unknown>, path, serving), start, find }
    }
  })
  app.decorateReply('accepted', accepted)
  app.addHook('onReady', beginWork)
  app.addHook('onClose', handBack)

  function serve(instance: FastifyInstance, job: Job<unknown>, path: string, serving: ServeOptions = {}) {
    const known = served.get(job.name) ?? { job, checkInput: checkOf(job.input, 'body'), places: [] }
    if (known.job !== job) throw new TypeError(`jobs: two jobs are called ${job.name}. Name one of them otherwise.`)
    const place = { ...serving, job: job as Job, prefix: instance.prefix, path }
    addRoutes(instance, place, parts)
    known.places.push(place)
    served.set(job.name, known)
  }

  async function beginWork() {
    for (const { job } of served.values()) {
      await queue.define(queueOf(job))
      if (!settings.work) continue
      const checkResult = job.result && checkOf(job.result, 'result')
      const run = runJob(job, { store, checkResult, resultSeconds, maximumResultBytes, now, log: app.log })
      stops.push(queue.work(queueOf(job), run, { concurrency: job.concurrency }))
    }
  }

  async function handBack() {
    await Promise.all(stops.map((stop) => stop(settings.graceSeconds)))
  }

  function start(job: Job, input: unknown, starting: StartOptions) {
    return startJob(job, servedOf(job).checkInput, input, starting, settings)
  }

  function find(job: Pick<Job, 'name'>, id: string, request: FastifyRequest) {
    return findJob(job, id, request, settings)
  }

  async function accepted(this: FastifyReply, job: Job, input: unknown, { key }: { readonly key?: string | undefined } = {}) {
    const { request } = this
    const who = owner(request)
    if (who === undefined) throw new TypeError('jobs: nobody makes this request. Let authentication refuse it, or give an owner.')
    const transaction = currentTransaction()
    const place = placeOf(job, request)
    const stored = await start(job, input, { owner: who, key, transaction })
    const { respondAsync, waitSeconds } = preferencesOf(request.headers.prefer)
    if (respondAsync) this.header('preference-applied', 'respond-async')
    // Nobody else sees the job before the transaction ends.
    const latest = waitSeconds === undefined || transaction !== undefined ? stored : await waitFor(stored, waitSeconds, this, settings)
    this.code(isOver(latest.state) ? 200 : 202).header('location', statusHref(request, place, latest, parts))
    return answerRecord(request, this, place, latest, parts)
  }

  function servedOf(job: Job) {
    const known = served.get(job.name)
    if (known === undefined) throw new TypeError(`jobs: ${job.name} is not served. Call app.jobs.serve(${job.name}, path).`)
    return known
  }

  /** The place in the version of the request, or the first one. */
  function placeOf(job: Job, request: FastifyRequest): Place {
    const { places } = servedOf(job)
    const near = places.filter(({ prefix }) => request.routeOptions.url?.startsWith(`${prefix}/`))
    return near.toSorted((a, b) => b.prefix.length - a.prefix.length)[0] ?? (places[0] as Place)
  }
}

const plugin: FastifyPluginAsync<JobsOptions> = fp(jobs, { name: '@concordat/jobs', fastify: '5.x' })
export default plugin
