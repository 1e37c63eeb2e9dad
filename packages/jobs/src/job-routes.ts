import { setTimeout as delay } from 'node:timers/promises'
import type { Link } from '@concordat/plugin-kit/links'
import { callback, describeOptions, type OptionsOf, oneOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from './errors.ts'
import type { Job } from './job.ts'
import { storedOwnerOf } from './job-owner.ts'
import { type JobRecord, jobRecordSchema, recordOf } from './job-record.ts'
import { goneMs, resultMs, type Settings } from './options.ts'
import { preferencesOf } from './prefer.ts'
import { queueOf } from './start-job.ts'
import { isOver, transitions } from './states.ts'
import type { StoredJob } from './stores/stored-job.ts'

/** The part of a stored job that its links depend on. */
export type LinkedJob = Pick<StoredJob, 'id' | 'state' | 'result'>

/** The description of {@link ServeOptions}. */
export const serveOptions = describeOptions('jobs', {
  /** `config` of the job's routes, for example `{ permissions: ['orders:read'] }`. */
  config: value<FastifyContextConfig>(),
  /** Status response of a completed job: 200 with a link to the result, or 303 to the result. */
  onComplete: oneOf(['link', 'redirect'], { default: 'link' }),
  /** Returns the path of the result below the prefix. By default, `<path>/<jobId>/result` responds with it. */
  resultPath: callback<(job: LinkedJob) => string>('returns the path of the result')
})

/** Options of `app.jobs.serve()`. */
export interface ServeOptions extends OptionsOf<typeof serveOptions> {}

/** Location of a job's routes. */
export interface Place extends SettingsOf<(typeof serveOptions)['members']> {
  readonly job: Job
  readonly prefix: string
  readonly path: string
  /** Returns the URL of a path below the prefix. */
  href(request: FastifyRequest, path: string): string
}

interface ById {
  Params: { id: string }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
// A job that does not end soon is read less and less often: about twenty times in half a minute.
const [firstPollMs, maxPollMs] = [150, 2000]
const maxWaits = 10
// Of `Prefer: wait`.
const maxWaitSeconds = 30

/** Adds the status, cancel and result routes of a job. */
export function addRoutes(instance: FastifyInstance, place: Place, settings: Settings): void {
  const { store, queue, now } = settings
  const { job, path, config = {} } = place
  const params = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  const url = `${path}/:id`

  // Clients can request fields of the record if pagination-query, which serves `fields`, is registered.
  const projection = contractOf(instance, 'pages') && { projection: { id: 'jobId' } }
  const status = { config: { ...config, ...projection, job: 'status' }, schema: { params, response: { 200: jobRecordSchema } } } as const
  instance.get<ById>(url, status, getStatus)
  const end = { config: { ...config, job: 'cancel' }, schema: { params, response: { 204: { type: 'null' } } } } as const
  instance.delete<ById>(url, end, cancel)
  if (job.result !== undefined && place.resultPath === undefined) {
    const waivers = { ...config.waivers, P2: 'A job has one result.' }
    const result = { config: { ...config, waivers, job: 'result' }, schema: { params, response: { 200: job.result } } } as const
    instance.get<ById>(`${url}/result`, result, getResult)
  }

  async function getStatus(request: FastifyRequest<ById>, reply: FastifyReply) {
    const found = await ownJob(request)
    const { waitSeconds, returnsRepresentation } = preferencesOf(request.headers.prefer)
    const stored = waitSeconds === undefined ? found : await waitFor(found, waitSeconds, reply, settings)
    const [, result] = linksOf(request, place, stored)
    if (place.onComplete === 'redirect' && result !== undefined && !returnsRepresentation) {
      return reply.code(303).headers({ location: result.href, 'cache-control': 'no-store' }).send()
    }
    return sendRecord(request, reply, place, stored)
  }

  async function cancel(request: FastifyRequest<ById>, reply: FastifyReply) {
    const { id } = await ownJob(request)
    const { from, to } = transitions.cancel
    const cancelled = { state: to, expiresAt: now() + resultMs }
    const isCancelled = await store.change(id, { states: from }, cancelled)
    const { state } = await ownJob(request)
    if (!isCancelled && state !== 'cancelled') throw errors.create('JOB_ALREADY_OVER', { params: { status: state } })
    await queue.cancel(queueOf(job), id)
    reply.code(204)
    return null
  }

  async function getResult(request: FastifyRequest<ById>, reply: FastifyReply) {
    const { state, result } = await ownJob(request)
    if (state !== 'completed') throw errors.create('JOB_HAS_NO_RESULT', { params: { status: state } })
    reply.header('cache-control', 'no-store')
    return result
  }

  function ownJob(request: FastifyRequest<ById>) {
    return findJob(job, request.params.id, request, settings)
  }
}

/**
 * Returns the job with this name and id if the client that makes the request started it. Throws 404, or 410 when the job has expired. A job that a schedule
 * started has an empty owner, which is not a client.
 */
export async function findJob({ name }: Pick<Job, 'name'>, id: string, request: FastifyRequest, settings: Settings): Promise<StoredJob> {
  const { store, now } = settings
  const stored = uuid.test(id) ? await store.read(id.toLowerCase()) : undefined
  if (stored === undefined || stored.type !== name || stored.owner !== storedOwnerOf(request, settings))
    throw errors.create('JOB_NOT_FOUND')
  const { expiresAt = Number.POSITIVE_INFINITY } = stored
  if (expiresAt + goneMs <= now()) throw errors.create('JOB_NOT_FOUND')
  if (expiresAt <= now()) throw errors.create('JOB_EXPIRED')
  return stored
}

/** Returns the record of a job and sets the headers of every response that contains it. */
export function sendRecord(request: FastifyRequest, reply: FastifyReply, place: Place, job: StoredJob): JobRecord {
  reply.header('cache-control', 'no-store')
  if (!isOver(job.state)) reply.header('retry-after', String(place.job.retryAfterSeconds))
  return recordOf(job, linksOf(request, place, job))
}

/** Returns the links of a job: `status`, and `result` when it is completed. */
export function linksOf(request: FastifyRequest, place: Place, job: LinkedJob): Link[] {
  const { path, resultPath = ({ id }) => `${path}/${id}/result` } = place
  const status = { rel: 'status', href: place.href(request, `${path}/${job.id}`), method: 'GET' }
  if (job.state !== 'completed' || (place.job.result === undefined && place.resultPath === undefined)) return [status]
  return [status, { rel: 'result', href: place.href(request, resultPath(job)), method: 'GET' }]
}

/**
 * Waits until the job has ended, the client has disconnected or the time has passed, and sets `Preference-Applied` (RFC 7240 §4.3). Does not wait while ten
 * requests of the owner wait.
 */
export async function waitFor(job: StoredJob, wantedSeconds: number, reply: FastifyReply, { store, waits }: Settings): Promise<StoredJob> {
  const { owner } = job
  const others = waits[owner] ?? 0
  if (others >= maxWaits && !isOver(job.state)) return job
  waits[owner] = others + 1
  const seconds = Math.min(wantedSeconds, maxWaitSeconds)
  const until = performance.now() + seconds * 1000
  let latest = job
  const endWait = contractOf(reply.server, 'awaitingAnother')?.(reply.request)
  try {
    for (let pauseMs = firstPollMs; !isOver(latest.state) && performance.now() < until && !reply.raw.destroyed; pauseMs *= 1.5) {
      await delay(Math.min(pauseMs, maxPollMs, Math.max(1, until - performance.now())))
      latest = (await store.read(job.id)) ?? latest
    }
  } finally {
    endWait?.()
    waits[owner] = (waits[owner] ?? 1) - 1
    if (waits[owner] === 0) delete waits[owner]
  }
  reply.header('preference-applied', [reply.getHeader('preference-applied') ?? [], `wait=${seconds}`].flat().join(', '))
  return latest
}
