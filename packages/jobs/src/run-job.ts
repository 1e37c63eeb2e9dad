import { setTimeout as delay } from 'node:timers/promises'
import { isApiError, isErrorCode } from '@concordat/plugin-kit/api-error'
import type { Claim, Handler, Outcome } from '@concordat/work-queue'
import type { FastifyBaseLogger } from 'fastify'
import { jobFailed } from './errors.ts'
import type { Job } from './job.ts'
import { resultMs, type Settings } from './options.ts'
import { outputWriter } from './output.ts'
import { progressWriter } from './progress.ts'
import type { SchemaCheck } from './schema-check.ts'
import { isOver, type JobEvent, transitions } from './states.ts'
import { storableJson, storableText, UnstorableValue } from './storable.ts'
import type { JobChange, JobStore } from './stores/store.ts'
import type { StoredJob } from './stores/stored-job.ts'

const maxResultBytes = 262_144
const duration = { name: 'concordat.job.duration', unit: 's', description: 'Duration of the attempts of jobs, by outcome.' }
// Outside a transaction, a job is enqueued before its record is stored.
const recordDelays = [0, 10, 50, 200, 1000]

/** Creates the queue handler of a type of job: it moves the record from state to state and runs the job's handler in between. */
export function runJob(job: Job<unknown>, checkResult: SchemaCheck | undefined, settings: Settings, log: FastifyBaseLogger): Handler {
  const { store, now, observer } = settings

  return async (claim) => {
    const record = await findRecord(store, claim.payload as string)
    // A job without a record was never confirmed to the client, so it does not run.
    if (record === undefined || isOver(record.state) || record.attempt >= claim.attempt) return { done: true }
    const { id, attempt } = record
    if (record.tries >= job.maxAttempts) {
      log.error({ jobId: id, tenant: record.tenant, job: job.name }, 'jobs: a job failed because its last attempt did not finish')
      report('failed', 0, 'lost')
      return { dead: true, error: 'lost', write: changes(record, 'fail', failed(jobFailed)) }
    }
    const running = { ...record, attempt: claim.attempt, tries: record.tries + 1 }
    const begun = { ...to('begin'), attempt: claim.attempt, tries: running.tries, progress: 0 }
    if (!(await store.change(id, { states: transitions.begin.from, attempt }, begun))) return { retryInSeconds: 1 }
    return work(running, claim)
  }

  async function work(running: StoredJob, claim: Claim): Promise<Outcome> {
    const { id, tenant, input, tries } = running
    const { progress, end } = progressWriter(running, settings, log)
    const since = performance.now()
    const write = outputWriter(job, running, claim.signal, store)
    try {
      const result = await job.handler(input, { jobId: id, tenant, attempt: tries, signal: claim.signal, progress, write })
      await end()
      requireResult(job, checkResult, result)
      report('completed', since)
      const completed = { ...(result !== undefined && { result }), expiresAt: now() + resultMs }
      return { done: true, write: changes(running, 'complete', completed) }
    } catch (error) {
      await end()
      const outcome = outcomeOf(running, claim, error)
      report('dead' in outcome ? 'failed' : claim.signal.aborted ? 'handedBack' : 'retried', since, kindOf(error))
      return outcome
    }
  }

  function report(outcome: 'completed' | 'failed' | 'retried' | 'handedBack', since: number, kind?: string) {
    const seconds = since === 0 ? 0 : (performance.now() - since) / 1000
    observer?.record(duration, seconds, { 'job.name': job.name, outcome, ...(kind !== undefined && { 'error.type': kind }) })
  }

  function outcomeOf(running: StoredJob, claim: Claim, error: unknown): Outcome {
    const { id, tenant, tries } = running
    const about = { err: error, jobId: id, tenant, job: job.name, attempt: tries }
    if (claim.signal.aborted) return { retryInSeconds: 0, error, write: changes(running, 'handBack', { tries: tries - 1 }) }
    // Another attempt cannot change the answer to a request that is wrong. An outage, which has a 5xx, can end.
    if (isApiError(error) && error.statusCode < 500) {
      log.info(about, 'jobs: a job failed')
      return { dead: true, error, write: changes(running, 'fail', failed(error)) }
    }
    // Neither can it make a value storable.
    const isLast = tries >= job.maxAttempts || error instanceof UnstorableValue
    log[isLast ? 'error' : 'warn'](about, 'jobs: the handler of a job threw an error')
    if (isLast) return { dead: true, error, write: changes(running, 'fail', failed(isApiError(error) ? error : jobFailed)) }
    return { retryInSeconds: job.retrySeconds(tries), error, write: changes(running, 'retry', {}) }
  }

  // A record that has changed since this attempt began stays as it is.
  function changes({ id, attempt }: StoredJob, event: JobEvent, change: JobChange): Outcome['write'] {
    return async (transaction) => {
      await store.change(id, { states: transitions[event].from, attempt }, { ...to(event), ...change }, transaction)
    }
  }

  function failed({ code, message }: { readonly code: string; readonly message: string }): JobChange {
    return { error: { code: isErrorCode(code) ? code : jobFailed.code, message: storableText(message) }, expiresAt: now() + resultMs }
  }
}

// Never the text of an error, which can be different each time.
function kindOf(error: unknown) {
  return isApiError(error) ? error.code : error instanceof Error ? error.constructor.name : 'unknown'
}

function to(event: JobEvent) {
  return { state: transitions[event].to }
}

function requireResult(job: Job<unknown>, checkResult: SchemaCheck | undefined, result: unknown) {
  const problems = checkResult?.(result) ?? []
  if (problems.length > 0) throw new TypeError(`jobs: the result of ${job.name} does not match its schema: ${JSON.stringify(problems)}`)
  const bytes = Buffer.byteLength(storableJson(result, `the result of ${job.name}`) ?? '')
  if (bytes > maxResultBytes) {
    throw new RangeError(
      `jobs: the result of ${job.name} has ${bytes} bytes and may have ${maxResultBytes}. Write it with \`write\` instead.`
    )
  }
}

async function findRecord(store: JobStore, id: string) {
  for (const milliseconds of recordDelays) {
    if (milliseconds > 0) await delay(milliseconds)
    const record = await store.read(id)
    if (record !== undefined) return record
  }
  return undefined
}
