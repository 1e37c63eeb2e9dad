import { hash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { jobInputInvalid, jobKeyReused } from './errors.ts'
import type { Job } from './job.ts'
import type { JobTransaction, Settings } from './options.ts'
import type { SchemaCheck } from './schema-check.ts'
import type { StoredJob } from './store.ts'

/** How a job is started outside a route. */
export interface StartOptions {
  readonly owner: string
  /** The same key of the same owner means the same job; with another input it is refused. */
  readonly key?: string | undefined
  readonly transaction?: JobTransaction | undefined
}

/** The name of the queue of a type of jobs. */
export function queueOf({ name }: Pick<Job, 'name'>): string {
  return `job-${name}`
}

/** Keeps a record and enqueues its job: both, or nothing that anybody knows of. */
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
  // Without a transaction the record comes second: a job that finds none is nobody's, a record without its job would stay queued for ever.
  if (transaction === undefined) await enqueue()
  const known = await store.add(fresh, now() - goneSeconds * 1000, transaction)
  if (known !== undefined) {
    if (!isDeepStrictEqual(known.input, plain)) throw jobKeyReused()
    return known
  }
  if (transaction !== undefined) {
    await enqueue()
    transaction.afterCommit?.(() => queue.kick(queueOf(job)))
  }
  return fresh
}

/** A UUID of version 8 (RFC 9562 §5.8) that only this owner's key makes. */
function idOf(...parts: readonly string[]) {
  const hex = hash('sha256', JSON.stringify(parts))
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
