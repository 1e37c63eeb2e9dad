import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { jobAlreadyOver, jobExpired, jobHasNoResult, jobNotFound } from './errors.ts'
import type { Job } from './job.ts'
import { type JobRecord, jobRecordSchema, recordOf } from './job-record.ts'
import type { Settings } from './options.ts'
import { preferencesOf } from './prefer.ts'
import { queueOf } from './start-job.ts'
import { isOver, transitions } from './states.ts'
import type { StoredJob } from './store.ts'

/** How a type of jobs is served. */
export interface ServeOptions {
  /** The `config` of its routes, as `{ permissions: ['orders:read'] }`. */
  readonly config?: FastifyContextConfig | undefined
  /** The `config` of DELETE. @default the same */
  readonly cancelConfig?: FastifyContextConfig | undefined
  /** What the status of a completed job answers: 200 with a link to the result, or 303 to it (rule A3). @default 'link' */
  readonly onComplete?: 'link' | 'redirect' | undefined
  /** Where the result is, relative to the version. @default `<path>/<jobId>/result`, which then answers what the handler did */
  readonly resultPath?: ((job: StoredJob) => string) | undefined
}

/** Where a type of jobs is served. */
export interface Place extends ServeOptions {
  readonly job: Job
  readonly prefix: string
  readonly path: string
}

/** What the routes of a place need. */
export interface RouteParts {
  readonly settings: Settings
  href(request: FastifyRequest, path: string): string
}

interface ById {
  Params: { id: string }
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i
const pollMilliseconds = 150

/** Adds the status, the end and the result of one type of jobs. */
export function addRoutes(instance: FastifyInstance, place: Place, parts: RouteParts): void {
  const { store, queue, now } = parts.settings
  const { job, path, config = {}, cancelConfig = config } = place
  const params = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
  const url = `${path}/:id`

  const status = { config: { ...config, job: 'status' }, schema: { params, response: { 200: jobRecordSchema } } } as const
  instance.get<ById>(url, status, getStatus)
  const end = { config: { ...cancelConfig, job: 'cancel' }, schema: { params, response: { 204: { type: 'null' } } } } as const
  instance.delete<ById>(url, end, cancel)
  if (job.result !== undefined && place.resultPath === undefined) {
    // A job has one.
    const waivers = { ...config.waivers, P2: 'There is one result of a job.' }
    const result = { config: { ...config, waivers, job: 'result' }, schema: { params, response: { 200: job.result } } } as const
    instance.get<ById>(`${url}/result`, result, getResult)
  }

  async function getStatus(request: FastifyRequest<ById>, reply: FastifyReply) {
    const found = await ownJob(request)
    const { waitSeconds, returnsRepresentation } = preferencesOf(request.headers.prefer)
    const stored = waitSeconds === undefined ? found : await waitFor(found, waitSeconds, reply, parts.settings)
    const result = resultHref(request, place, stored, parts)
    if (place.onComplete === 'redirect' && result !== undefined && !returnsRepresentation) {
      return reply.code(303).headers({ location: result, 'cache-control': 'no-store' }).send()
    }
    return answerRecord(request, reply, place, stored, parts)
  }

  async function cancel(request: FastifyRequest<ById>, reply: FastifyReply) {
    const { id } = await ownJob(request)
    const { from, to } = transitions.cancel
    const cancelled = { state: to, expiresAt: now() + parts.settings.resultSeconds * 1000 }
    const isCancelled = await store.change(id, { states: from }, cancelled)
    const { state } = await ownJob(request)
    if (!isCancelled && state !== 'cancelled') throw jobAlreadyOver(state)
    await queue.cancel(queueOf(job), id)
    reply.code(204)
    return null
  }

  async function getResult(request: FastifyRequest<ById>, reply: FastifyReply) {
    const { state, result } = await ownJob(request)
    if (state !== 'completed') throw jobHasNoResult(state)
    reply.header('cache-control', 'no-store')
    return result
  }

  function ownJob(request: FastifyRequest<ById>) {
    return findJob(job, request.params.id, request, parts.settings)
  }
}

/** The job of this type and id, if who makes the request has started it. Throws 404, or 410 when it is no longer kept. */
export async function findJob(
  { name }: Pick<Job, 'name'>,
  id: string,
  request: FastifyRequest,
  { store, owner, now, goneSeconds }: Settings
): Promise<StoredJob> {
  const stored = uuid.test(id) ? await store.read(id.toLowerCase()) : undefined
  if (stored === undefined || stored.type !== name || stored.owner !== owner(request)) throw jobNotFound()
  const { expiresAt = Number.POSITIVE_INFINITY } = stored
  if (expiresAt + goneSeconds * 1000 <= now()) throw jobNotFound()
  if (expiresAt <= now()) throw jobExpired()
  return stored
}

/** The record of a job, with what every answer that has it says. */
export function answerRecord(request: FastifyRequest, reply: FastifyReply, place: Place, job: StoredJob, parts: RouteParts): JobRecord {
  reply.header('cache-control', 'no-store')
  if (!isOver(job.state)) reply.header('retry-after', String(place.job.retryAfterSeconds))
  return recordOf(job, statusHref(request, place, job, parts), resultHref(request, place, job, parts))
}

/** Where the status of a job is read. */
export function statusHref(request: FastifyRequest, { prefix, path }: Place, { id }: StoredJob, parts: RouteParts): string {
  return parts.href(request, `${prefix}${path}/${id}`)
}

function resultHref(request: FastifyRequest, place: Place, job: StoredJob, parts: RouteParts) {
  if (job.state !== 'completed' || (place.job.result === undefined && place.resultPath === undefined)) return undefined
  return parts.href(request, place.prefix + (place.resultPath?.(job) ?? `${place.path}/${job.id}/result`))
}

/** Waits until a job is over, its client is gone or so much time is, and says so (RFC 7240 §4.3). */
export async function waitFor(
  job: StoredJob,
  wantedSeconds: number,
  reply: FastifyReply,
  { store, maximumWaitSeconds }: Settings
): Promise<StoredJob> {
  const seconds = Math.min(wantedSeconds, maximumWaitSeconds)
  const until = performance.now() + seconds * 1000
  let latest = job
  while (!isOver(latest.state) && performance.now() < until && !reply.raw.destroyed) {
    await delay(Math.min(pollMilliseconds, Math.max(1, until - performance.now())))
    latest = (await store.read(job.id)) ?? latest
  }
  reply.header('preference-applied', [reply.getHeader('preference-applied') ?? [], `wait=${seconds}`].flat().join(', '))
  return latest
}
