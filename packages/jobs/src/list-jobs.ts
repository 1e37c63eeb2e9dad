import type { Link } from '@concordat/plugin-kit/links'
import type { Job } from './job.ts'
import type { LinkedJob } from './job-routes.ts'
import type { Settings } from './options.ts'
import type { JobState } from './states.ts'

/** The part of the list query of pagination-query that a list of jobs uses, for a collection with the style `page` that is sorted by `createdAt`. */
export interface JobQuery {
  readonly perPage: number
  readonly offset: number
  readonly order: readonly { readonly descending: boolean }[]
}

/** A job in a list. Its record has more fields. */
export interface JobSummary {
  readonly jobId: string
  readonly status: JobState
  readonly createdAt: string
  readonly _links: Link[]
}

/** A page of jobs, for `reply.page` of pagination-query. */
export interface JobPage {
  readonly rows: readonly JobSummary[]
  readonly first: undefined
  readonly last: undefined
  readonly hasMore: boolean
  readonly total: { readonly items: number; readonly exact: true }
}

/** Returns a page of the jobs that a client started and that have not expired. */
export async function listJobs(
  { name }: Pick<Job, 'name'>,
  owner: string,
  { perPage, offset, order }: JobQuery,
  { store, now }: Pick<Settings, 'store' | 'now'>,
  linksOf: (job: LinkedJob) => Link[]
): Promise<JobPage> {
  const descending = order[0]?.descending ?? false
  const { jobs, total } = await store.list({ type: name, owner, now: now(), descending, offset, limit: perPage })
  const rows = jobs.map((job) => ({
    jobId: job.id,
    status: job.state,
    createdAt: new Date(job.createdAt).toISOString(),
    _links: linksOf(job)
  }))
  return { rows, first: undefined, last: undefined, hasMore: offset + rows.length < total, total: { items: total, exact: true } }
}
