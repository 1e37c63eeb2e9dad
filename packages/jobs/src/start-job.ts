import { hash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { inTenant } from '@concordat/plugin-kit/wiring'
import type { Transaction } from '@concordat/work-queue'
import { errors, jobsErrors } from './errors.ts'
import type { Job } from './job.ts'
import type { Settings } from './options.ts'
import type { SchemaCheck } from './schema-check.ts'
import { storableJson } from './storable.ts'
import type { StoredJob } from './stores/stored-job.ts'

/** The description of the options of `reply.accepted()`. */
export const acceptedOptions = describeOptions('jobs', {
  /** Key of the job: when the same owner uses the key again, the same job is returned, or the call is rejected if the input differs. */
  key: value<string>()
})

/** The description of {@link StartOptions}. */
export const startOptions = describeOptions('jobs', {
  ...acceptedOptions.members,
  /** The client that can read and cancel the job. */
  owner: required(value<string>()),
  /** The tenant of the job; `null` for a job of none. Required in a service with tenants. */
  tenant: value<string | null>(),
  /** The transaction in which the job is stored. */
  transaction: value<Transaction>()
})

/** Options of `app.jobs.start()`. */
export interface StartOptions extends OptionsOf<typeof startOptions> {}

/** How many jobs of a type a client can have that have not ended. All clients share the queue of the type, so the others wait for these at most. */
export const maxOpenJobs = 100
const fullRetrySeconds = 30

/** Returns the name of the queue of a type of job. */
export function queueOf({ name }: Pick<Job, 'name'>): string {
  return `job-${name}`
}

/** Returns how many jobs of a type run. An owner may have all slots, because `perKey` is more than any worker has: the owners take turns. */
export function slotsOf({ concurrency }: Pick<Job, 'concurrency'>): { readonly concurrency: number; readonly perKey: number } {
  return { concurrency, perKey: 1_000_000 }
}

/** Stores a job record and enqueues the job; if either step fails, no client sees the job. */
export async function startJob(
  job: Job,
  checkInput: SchemaCheck,
  input: unknown,
  { owner, tenant, key, transaction }: StartOptions,
  settings: Settings,
  maxOpen?: number
): Promise<StoredJob> {
  const fresh = freshJob(job, checkInput, input, { owner, tenant, key }, settings)
  const existing = await addJob(job, fresh, transaction, settings, maxOpen)
  if (existing !== undefined && !isDeepStrictEqual(existing.input, fresh.input))
    throw errors.create('JOB_KEY_REUSED', { errors: [{ field: 'body', key: 'inputOfKey' }] })
  if (existing === undefined) transaction?.afterCommit?.(() => settings.queue.kick(queueOf(job)))
  return existing ?? fresh
}

/** Returns the record of a new job. With a key, its id follows from the key. Throws 422 `JOB_INPUT_INVALID`. */
export function freshJob(
  job: Job,
  checkInput: SchemaCheck,
  input: unknown,
  { owner: name, tenant: given, key }: Omit<StartOptions, 'transaction'>,
  { now }: Pick<Settings, 'now'>
): StoredJob {
  const problems = checkInput(input)
  if (problems.length > 0) throw jobsErrors.create('JOB_INPUT_INVALID', { errors: problems })
  const tenant = given ?? undefined
  const owner = inTenant(name, tenant)
  const id = key === undefined ? randomUUID() : idOf(job.name, owner, key)
  const plain: unknown = JSON.parse(storableJson(input ?? null, `the input of ${job.name}`) as string)
  const about = { id, type: job.name, owner, ...(tenant !== undefined && { tenant }) }
  return { ...about, state: 'queued', input: plain, attempt: 0, tries: 0, progress: 0, createdAt: now() }
}

/** Stores and enqueues a new job. Returns the job that exists with its id, or undefined. */
export async function addJob(
  job: Job,
  fresh: StoredJob,
  transaction: Transaction | undefined,
  { store, queue }: Settings,
  maxOpen?: number
): Promise<StoredJob | undefined> {
  const { id, owner } = fresh
  const enqueue = () => queue.enqueue(queueOf(job), [{ id, payload: id, ...(owner !== '' && { key: owner }) }], transaction)
  // Without a transaction the record is stored second: a job without a record is skipped; a record without a job would stay queued forever.
  if (transaction === undefined) await enqueue()
  const existing = await store.add(fresh, transaction, maxOpen)
  if (existing === 'full')
    throw errors.create('JOB_LIMIT_EXCEEDED', {
      params: { limit: maxOpen as number },
      headers: { 'retry-after': String(fullRetrySeconds) }
    })
  if (existing === undefined && transaction !== undefined) await enqueue()
  return existing
}

// A UUID of version 8 (RFC 9562 §5.8).
function idOf(...parts: readonly string[]) {
  const hex = hash('sha256', JSON.stringify(parts))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
