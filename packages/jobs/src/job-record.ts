import { errorCodeSchema } from '@concordat/plugin-kit/api-error'
import type { Link } from '@concordat/plugin-kit/links'
import type { JobState } from './states.ts'
import { maxMessageLength } from './storable.ts'
import type { JobFailure, StoredJob } from './stores/stored-job.ts'

/** Record of a job as its owner sees it (rule E7). */
export interface JobRecord {
  readonly jobId: string
  readonly status: JobState
  /** Progress from 0 to 100, only while the job is processing. */
  readonly progress?: number | undefined
  readonly error?: JobFailure | undefined
  /** Links: `status`, and `result` when the job is completed. */
  readonly _links: readonly Link[]
}

const text = { type: 'string' }
const jobId = { ...text, format: 'uuid', maxLength: 36 }
const status = { ...text, enum: ['queued', 'processing', 'completed', 'failed', 'cancelled'] }
const message = { ...text, maxLength: maxMessageLength }
const links = {
  type: 'array',
  // Its status, and its result when it is completed.
  maxItems: 2,
  items: {
    type: 'object',
    required: ['rel', 'href', 'method'],
    additionalProperties: false,
    // The URL follows from the place of the job.
    properties: { rel: { ...text, examples: ['status'] }, href: text, method: { ...text, examples: ['GET'] } }
  }
}

/** JSON Schema of {@link JobRecord}: the 202 response of a route that starts a job, and its 200 response to clients that wait. */
export const jobRecordSchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  description: 'A job: work that continues after the response. Its links lead to its status and, when it is completed, to its result.',
  required: ['jobId', 'status', '_links'],
  additionalProperties: false,
  properties: {
    jobId,
    status,
    progress: { type: 'number', minimum: 0, maximum: 100 },
    error: { type: 'object', required: ['code', 'message'], additionalProperties: false, properties: { code: errorCodeSchema, message } },
    _links: links
  }
}

/** JSON Schema of a job in a list, for the collection of a route that responds with `app.jobs.list`. */
export const jobSummarySchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['jobId', 'status', 'createdAt', '_links'],
  properties: { jobId, status, createdAt: { ...text, format: 'date-time' }, _links: links }
}

/** Creates the record of a job as its owner sees it. */
export function recordOf(job: StoredJob, links: readonly Link[]): JobRecord {
  return {
    jobId: job.id,
    status: job.state,
    ...(job.state === 'processing' && { progress: job.progress }),
    ...(job.error !== undefined && { error: job.error }),
    _links: links
  }
}
