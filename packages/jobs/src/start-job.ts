import { hash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '@concordat/work-queue'
import { jobInputInvalid, jobKeyReused } from './errors.ts'
import type { Job } from './job.ts'
import type { Settings } from './options.ts'
import type { SchemaCheck } from './schema-check.ts'
import type { StoredJob } from './store.ts'

/** Options of `app.jobs.start()`. */
export interface StartOptions {
  readonly owner: string
  /** Key of the job: when the same owner uses the key again, the same job is returned, or the call is rejected if the input differs. */
  readonly key?: string | undefined
  readonly transaction?: Transaction | undefined
}

/** Returns the name of the queue of a type of job. */
export function queueOf({ name }: Pick<Job, 'name'>): string {
  return `job-${name}`
}

/** Stores a job record and enqueues the job; if either step fails, no client sees the job. */
export async function startJob(
  job: Job,
  checkInput: SchemaCheck,
  input: unknown,
  { owner, key, transaction }: StartOptions,
  { store, queue, now, goneSeconds }: Settings
): Promise<StoredJob> {
  const problems = checkInput(input)
  if (problems.length > 0) throw jobInputInvalid(problems)
  const id = key === undefined ? randomUUID() : idOf(job.name, owner, key)
  const plain: unknown = JSON.parse(JSON.stringify(input ?? null))
  const fresh: StoredJob = { id, type: job.name, owner, state: 'queued', input: plain, attempt: 0, tries: 0, progress: 0, createdAt: now() }
  const enqueue = () => queue.enqueue(queueOf(job), [{ id, payload: id }], transaction)
  // Without a transaction the record is stored second: a job without a record is skipped; a record without a job would stay queued forever.
  if (transaction === undefined) await enqueue()
  const existing = await store.add(fresh, now() - goneSeconds * 1000, transaction)
  if (existing !== undefined) {
    if (!isDeepStrictEqual(existing.input, plain)) throw jobKeyReused()
    return existing
  }
  if (transaction !== undefined) {
    await enqueue()
    transaction.afterCommit?.(() => queue.kick(queueOf(job)))
  }
  return fresh
}

/** Returns the version 8 UUID (RFC 9562 §5.8) that is derived from the job name, the owner and the key. */
function idOf(...parts: readonly string[]) {
  const hex = hash('sha256', JSON.stringify(parts))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
