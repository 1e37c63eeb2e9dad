// [jobs] file
import { jobRecordSchema } from '@concordat/jobs'
import type { FastifyPluginAsync } from 'fastify'
import type { bookReportJob } from './job.ts'

/** The routes of a job: start it, read its state and its result, cancel it. The same job serves all versions. */
export const bookReports: FastifyPluginAsync<{ readonly job: ReturnType<typeof bookReportJob> }> = async (app, { job }) => {
  const permissions = ['books:report']
  app.jobs.serve(job, '/book-reports', { config: { permissions } })

  app.post(
    '/book-reports',
    { config: { permissions, idempotency: 'accepted', transaction: true, job: 'start' }, schema: { response: { 202: jobRecordSchema } } },
    async (_request, reply) => reply.accepted(job, {})
  )
}
